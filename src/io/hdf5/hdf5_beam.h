/* SPDX-License-Identifier: MIT */
/** /entry/instrument/beam: one wavelength, one for each shot, or a spectrum for each shot. */
#ifndef NB_IO_HDF5_BEAM_H
#define NB_IO_HDF5_BEAM_H

#ifdef NB_HAVE_HDF5
#include "hdf5_file.h"
#include "hdf5_put.h"

/** x and y: of NeXus' frame, in the lab. */
void nb_hdf5_put_beam(nb_h5 *h, const nb_hdf5_master *master, const double x[3],
                      const double y[3]);

#endif
#endif
