/* SPDX-License-Identifier: MIT */
/** /entry/data of a master: the frames of all data files under one name. */
#ifndef NB_IO_HDF5_FRAMES_H
#define NB_IO_HDF5_FRAMES_H

#ifdef NB_HAVE_HDF5
#include "hdf5_file.h"
#include "hdf5_put.h"

/** Write /entry/data/data, and the links to the data files in NB_HDF5_LINKS. */
void nb_hdf5_put_frames(nb_h5 *h, const nb_hdf5_master *master);

#endif
#endif
