/* SPDX-License-Identifier: MIT */
/** HDF5 files are written through an nb_outfile. To the library no write ever fails: after a failed
 * H5Fclose it keeps what it has freed, and crashes at its next look. The first error is kept here. */
#ifndef NB_IO_HDF5_DRIVER_H
#define NB_IO_HDF5_DRIVER_H

#ifdef NB_HAVE_HDF5
#include "../base/outfile.h"
#include "hdf5_lib.h"

typedef struct nb_h5_driver {
    nb_outfile *out; /* a file with a temporary name; not owned */
    nb_status failed;
    nb_error error; /* of the first failure; later bytes are dropped */
} nb_h5_driver;

/** Create the HDF5 file in driver->out, which must stay where it is until H5Fclose. Below 0: the
 * library cannot; its stack of errors says why. */
hid_t nb_h5_driver_create(nb_h5_driver *driver);

#endif
#endif
