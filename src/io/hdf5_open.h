/* SPDX-License-Identifier: MIT */
/** An HDF5 file being read, with the library quiet meanwhile. */
#ifndef NB_IO_HDF5_OPEN_H
#define NB_IO_HDF5_OPEN_H

#ifdef NB_HAVE_HDF5
#include "hdf5_put.h"

typedef struct nb_h5_input {
    hid_t file;
    nb_h5_quiet quiet;
} nb_h5_input;

/** Load the library and open the file; nb_h5_close ends it, after success alone.  Errors:
 * NB_ERR_UNSUPPORTED, NB_ERR_INPUT when it cannot be opened. */
nb_status nb_h5_open(nb_h5_input *in, const char *path, nb_error *err);
void nb_h5_close(nb_h5_input *in);

#endif
#endif
