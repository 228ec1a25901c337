/* SPDX-License-Identifier: MIT */
/** Files of derivatives. */
#ifndef NB_IO_SLOPES_WRITE_H
#define NB_IO_SLOPES_WRITE_H

#include "../../nanobragg.h"

/** Planes of slopes, and the image of the same pass. */
typedef struct nb_slope_file {
    const nb_variable *about; /* [count] */
    int count;
    int fast, slow; /* of the stack */
    nb_real_type type;
    const void *planes; /* [count][slow][fast] */
    const float *image; /* [slow][fast] */
} nb_slope_file;

/** A name that ends in .h5, .hdf5 or .nxs is an HDF5 file: /derivatives/NAME with attributes unit,
 * value and flag, and /image.  Any other holds the planes alone, little-endian.  Errors: NB_ERR_IO,
 * NB_ERR_UNSUPPORTED (no HDF5), NB_ERR_NOMEM. */
nb_status nb_slopes_write(const char *path, const nb_slope_file *file, nb_error *err);

#endif
