/* SPDX-License-Identifier: MIT */
/** Filter 32008, bitshuffle and LZ4, for the HDF5 library. For writing only its name is
 * needed, because chunks are already filtered. For reading it decompresses, so no plugin is
 * needed. */
#ifndef NB_IO_HDF5_BITSHUFFLE_H
#define NB_IO_HDF5_BITSHUFFLE_H

#ifdef NB_HAVE_HDF5
#include "hdf5_lib.h"

enum { NB_H5_BITSHUFFLE = 32008, NB_H5_BITSHUFFLE_LZ4 = 2 };

/** The filter is registered between begin and end. nb_hdf5_load must have succeeded. */
void nb_h5_bitshuffle_begin(void);
void nb_h5_bitshuffle_end(void);

#endif
#endif
