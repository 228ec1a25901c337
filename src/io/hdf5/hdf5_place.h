/* SPDX-License-Identifier: MIT */
/** The detector position of a master: NeXus' frame, axes, and one position for all frames
 * or one for each. */
#ifndef NB_IO_HDF5_PLACE_H
#define NB_IO_HDF5_PLACE_H

#ifdef NB_HAVE_HDF5
#include "../common/axes.h"
#include "hdf5_file.h"
#include "hdf5_put.h"

#define NB_HDF5_DETECTOR "/entry/instrument/detector"

/** Make the value at path an axis of a dependency chain; kind: rotation or translation. */
void nb_hdf5_make_axis(nb_h5 *h, const char *path, const char *kind, const double v[3],
                       const char *depends_on);

/** Write the detector's module, distance and beam centre. The detector's group must exist. */
void nb_hdf5_put_place(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f);

#endif
#endif
