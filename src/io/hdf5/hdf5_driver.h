/* SPDX-License-Identifier: MIT */
/** HDF5 files are written through an nb_outfile. To the library no write ever fails: after a failed
 * H5Fclose it keeps what it has freed, and crashes at its next look. The first error is kept here. */
#ifndef NB_IO_HDF5_DRIVER_H
#define NB_IO_HDF5_DRIVER_H

#ifdef NB_HAVE_HDF5
#include "../../base/outfile.h"
#include "hdf5_lib.h"

typedef struct nb_h5_driver {
    nb_outfile *out; /* a file with a temporary name; not owned */
    nb_status failed;
    nb_error error; /* of the first failure; later bytes are dropped */
    hid_t id;       /* of the driver's class, from create to close */
} nb_h5_driver;

/** Create the HDF5 file in driver->out, which must stay where it is until nb_h5_driver_close. Below 0:
 * the library cannot; its stack of errors says why. */
hid_t nb_h5_driver_create(nb_h5_driver *driver);
/** Close the file, and then give up the driver: H5Fclose looks at it once more after the last file let
 * it go. 0: the library failed. */
int nb_h5_driver_close(nb_h5_driver *driver, hid_t file);

#endif
#endif
