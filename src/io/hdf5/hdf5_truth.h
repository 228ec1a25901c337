/* SPDX-License-Identifier: MIT */
/** /entry/simulation: the values from which the images were made. */
#ifndef NB_IO_HDF5_TRUTH_H
#define NB_IO_HDF5_TRUTH_H

#ifdef NB_HAVE_HDF5
#include "hdf5_file.h"
#include "hdf5_put.h"

void nb_hdf5_put_truth(nb_h5 *h, const nb_hdf5_master *master);

#endif
#endif
