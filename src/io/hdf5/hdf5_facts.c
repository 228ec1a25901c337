/* SPDX-License-Identifier: MIT */
#include "hdf5_facts.h"

#include <string.h>

#ifdef NB_HAVE_HDF5
#include <math.h>

#include "hdf5_get.h"
#include "hdf5_rows.h"

#define TABLE "/entry/data/statistics"
#define SIMULATION "/entry/simulation"

enum { COLUMNS = 5 };

_Static_assert(sizeof(nb_hdf5_facts) == COLUMNS * sizeof(double),
               "the table's columns are the members in their order");

void nb_hdf5_put_facts(nb_h5 *h, const nb_hdf5_data *data)
{
    const hsize_t dims[2] = {(hsize_t)data->frames, COLUMNS};
    nb_h5_array(h, TABLE, H5T_NATIVE_DOUBLE, data->facts, 2, dims);
    nb_h5_attr_text(
        h, TABLE, "columns",
        "clipped pixels, photons of the brightest pixel, its place along fast "
        "and slow, photons of the image");
}

/** Finite, and whole where they count. */
static int make_sense(const nb_hdf5_facts *f)
{
    return isfinite(f->max) && isfinite(f->sum) && f->clipped >= 0 && f->clipped < 1e15 &&
           f->max_fast >= 0 && f->max_fast < 1e9 && f->max_slow >= 0 && f->max_slow < 1e9;
}

static int read_table(const nb_h5_input *in, int frames, nb_hdf5_facts *facts)
{
    nb_h5_set set;
    nb_h5_box all;
    int ok;
    if (!nb_h5_set_open(in, TABLE, -1, &set))
        return 0;
    all = nb_h5_whole(&set);
    ok = set.rank == 2 && set.dims[1] == (hsize_t)frames && set.dims[2] == COLUMNS &&
         !nb_h5_set_read(&set, &all, H5T_NATIVE_DOUBLE, sizeof(double), facts, NULL);
    nb_h5_set_close(&set);
    for (int i = 0; ok && i < frames; i++)
        ok = make_sense(&facts[i]);
    return ok;
}

/** What is read, and its results. */
typedef struct facts_task {
    int frames;
    nb_hdf5_facts *facts;
} facts_task;

static nb_status read_facts(void *user, const nb_h5_input *in, nb_error *err)
{
    const facts_task *t = user;
    (void)err; /* the caller asks only whether it is right */
    return read_table(in, t->frames, t->facts) ? NB_OK : NB_ERR_INPUT;
}

static void pass_facts(void *user, nb_passage *p)
{
    const facts_task *t = user;
    nb_pass(p, t->facts, (size_t)t->frames * sizeof *t->facts);
}

int nb_hdf5_read_facts(const char *path, int frames, nb_hdf5_facts *facts)
{
    facts_task t = {frames, facts};
    const nb_h5_job job = {path, 0, &t, read_facts, pass_facts};
    int ok = !nb_h5_apart(&job, NULL);
    if (!ok)
        memset(facts, 0, (size_t)frames * sizeof *facts);
    return ok;
}

/** A member of the facts as a whole number. */
static void whole(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    double value;
    int64_t n;
    memcpy(&value, (const char *)frame + offset, sizeof value);
    n = (int64_t)value;
    memcpy(row, &n, sizeof n);
}

static void put_whole(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                      size_t offset)
{
    nb_hdf5_put_rows(h, master, path, H5T_NATIVE_INT64, 1, whole, offset);
    nb_h5_attr_text(h, path, "units", "pixel");
}

static void put_photons(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                        size_t offset)
{
    nb_hdf5_put_rows(h, master, path, H5T_NATIVE_DOUBLE, 1, nb_hdf5_member, offset);
    nb_h5_attr_text(h, path, "units", "photon");
}

void nb_hdf5_put_facts_columns(nb_h5 *h, const nb_hdf5_master *master)
{
    put_whole(h, master, SIMULATION "/clipped_pixels",
              offsetof(nb_hdf5_frame, facts.clipped));
    put_photons(h, master, SIMULATION "/brightest", offsetof(nb_hdf5_frame, facts.max));
    put_whole(h, master, SIMULATION "/brightest_fast",
              offsetof(nb_hdf5_frame, facts.max_fast));
    put_whole(h, master, SIMULATION "/brightest_slow",
              offsetof(nb_hdf5_frame, facts.max_slow));
    put_photons(h, master, SIMULATION "/photons", offsetof(nb_hdf5_frame, facts.sum));
}

#else

int nb_hdf5_read_facts(const char *path, int frames, nb_hdf5_facts *facts)
{
    (void)path;
    memset(facts, 0, (size_t)frames * sizeof *facts);
    return 0;
}

#endif
