/* SPDX-License-Identifier: MIT */
#include "../table/spectra.h"

#include "../../base/error.h"

#ifdef NB_HAVE_HDF5
#include <string.h>

#include "../../base/memory.h"
#include "hdf5_get.h"

#define SPECTRUM "/entry/instrument/beam/incident_wavelength_1Dspectrum"

/** A data set as doubles. */
typedef struct block {
    nb_h5_set set;
    double *values; /* owned; NULL: there is none */
} block;

/** The set at path, if it is there. */
static nb_status read_block(const nb_h5_input *in, const char *path, block *b,
                            nb_error *err)
{
    nb_status st;
    b->values = NULL;
    if (!nb_h5_set_open(in, path, -1, &b->set))
        return NB_OK;
    st = nb_h5_set_doubles(&b->set, &b->values, err);
    nb_h5_set_close(&b->set); /* rank and dims stay */
    return st;
}

static nb_status from_blocks(const block *A, const block *weight, nb_vec3 position,
                             int needed, nb_spectra *out, nb_error *err)
{
    const hsize_t *a = A->set.dims, *w = weight->set.dims;
    const char *path = A->set.in->name;
    nb_spectra_table t = {A->values, weight->values, (size_t)w[1], (size_t)w[2],
                          A->set.rank == 1};
    if (!A->values || !weight->values || weight->set.rank != 2 || A->set.rank < 1 ||
        A->set.rank > 2 || a[2] != w[2] || (A->set.rank == 2 && a[1] != w[1]))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "no spectra: the file needs " SPECTRUM " and its _weights, or "
                          "/wavelength [n] or [shots][n] and /weight [shots][n]");
    return nb_spectra_from_table(&t, path, position, needed, out, err);
}

static nb_status read_file(const nb_h5_input *in, nb_vec3 position, int needed,
                           nb_spectra *out, nb_error *err)
{
    block A, weight = {.values = NULL};
    nb_status st = read_block(in, SPECTRUM, &A, err);
    int own = A.values != NULL;
    if (!st && !own)
        st = read_block(in, "/wavelength", &A, err);
    if (!st)
        st = read_block(in, own ? SPECTRUM "_weights" : "/weight", &weight, err);
    if (!st)
        st = from_blocks(&A, &weight, position, needed, out, err);
    nb_free(A.values);
    nb_free(weight.values);
    return st;
}

/** What is read, and its results. */
typedef struct spectra_task {
    nb_vec3 position;
    int needed;
    nb_spectra spectra;
} spectra_task;

static nb_status read_spectra(void *user, const nb_h5_input *in, nb_error *err)
{
    spectra_task *t = user;
    return read_file(in, t->position, t->needed, &t->spectra, err);
}

static void pass_spectra(void *user, nb_passage *p)
{
    nb_spectra *s = &((spectra_task *)user)->spectra;
    nb_pass(p, &s->count, sizeof s->count);
    nb_pass(p, &s->more, sizeof s->more);
    nb_pass_array(p, (void **)&s->first, (size_t)s->count + 1, sizeof *s->first,
                  "spectra");
    nb_pass_array(p, (void **)&s->lines, s->first ? s->first[s->count] : 0,
                  sizeof *s->lines, "spectra");
}

nb_status nb_hdf5_read_spectra(const char *path, double most_MB, nb_vec3 position,
                               int needed, nb_spectra *out, nb_error *err)
{
    spectra_task t = {position, needed, {0}};
    const nb_h5_job job = {path, most_MB, &t, read_spectra, pass_spectra};
    nb_status st = nb_h5_apart(&job, err);
    if (st)
        nb_spectra_free(&t.spectra);
    *out = t.spectra;
    return st;
}

#else

nb_status nb_hdf5_read_spectra(const char *path, double most_MB, nb_vec3 position,
                               int needed, nb_spectra *out, nb_error *err)
{
    (void)most_MB;
    (void)position;
    (void)needed;
    (void)out;
    return nb_fail_at(err, NB_ERR_UNSUPPORTED, path, 0,
                      "-spectra from HDF5: this build has no HDF5 (install libhdf5-dev "
                      "and rebuild)");
}
#endif
