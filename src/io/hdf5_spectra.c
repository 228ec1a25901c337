/* SPDX-License-Identifier: MIT */
#include "spectra.h"

#include "../base/error.h"

#ifdef NB_HAVE_HDF5
#include <string.h>

#include "../base/memory.h"
#include "hdf5_open.h"

#define SPECTRUM "/entry/instrument/beam/incident_wavelength_1Dspectrum"

enum { MOST_NUMBERS = 1 << 28 };

/** A data set of one or two dimensions, as doubles. */
typedef struct block {
    double *values; /* owned; NULL: there is none */
    hsize_t dims[2];
    int rank;
} block;

static block read_block(hid_t file, const char *path)
{
    block b = {NULL, {1, 1}, 0};
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    b.rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
    if ((b.rank == 1 || b.rank == 2) &&
        H5Sget_simple_extent_dims(space, b.dims + 2 - b.rank, NULL) == b.rank &&
        b.dims[0] > 0 && b.dims[1] > 0 && b.dims[0] <= MOST_NUMBERS / b.dims[1])
        b.values = nb_alloc_raw((size_t)(b.dims[0] * b.dims[1]), sizeof *b.values,
                                "spectra", NULL);
    if (b.values &&
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, b.values) < 0) {
        nb_free(b.values);
        b.values = NULL;
    }
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    return b;
}

static nb_status from_blocks(const block *A, const block *weight, const char *path,
                             nb_vec3 position, int needed, nb_spectra *out, nb_error *err)
{
    nb_spectra_table t = {A->values, weight->values, (size_t)weight->dims[0],
                          (size_t)weight->dims[1], A->rank == 1};
    if (!A->values || !weight->values || weight->rank != 2 ||
        A->dims[1] != weight->dims[1] || (A->rank == 2 && A->dims[0] != weight->dims[0]))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "no spectra: " SPECTRUM " and its _weights, or /wavelength "
                          "[n] or [shots][n] and /weight [shots][n] are wanted");
    return nb_spectra_from_table(&t, path, position, needed, out, err);
}

static nb_status read_file(hid_t file, const char *path, nb_vec3 position, int needed,
                           nb_spectra *out, nb_error *err)
{
    block A = read_block(file, SPECTRUM), weight;
    int own = A.values != NULL;
    nb_status st;
    if (!own)
        A = read_block(file, "/wavelength");
    weight = read_block(file, own ? SPECTRUM "_weights" : "/weight");
    st = from_blocks(&A, &weight, path, position, needed, out, err);
    nb_free(A.values);
    nb_free(weight.values);
    return st;
}

nb_status nb_hdf5_read_spectra(const char *path, nb_vec3 position, int needed,
                               nb_spectra *out, nb_error *err)
{
    nb_h5_input in;
    nb_status st = nb_h5_open(&in, path, err);
    memset(out, 0, sizeof *out);
    if (st)
        return st;
    st = read_file(in.file, path, position, needed, out, err);
    nb_h5_close(&in);
    return st;
}

#else

nb_status nb_hdf5_read_spectra(const char *path, nb_vec3 position, int needed,
                               nb_spectra *out, nb_error *err)
{
    (void)position;
    (void)needed;
    (void)out;
    return nb_fail_at(err, NB_ERR_UNSUPPORTED, path, 0,
                      "-spectra from HDF5: this build has no HDF5 (install libhdf5-dev "
                      "and rebuild)");
}
#endif
