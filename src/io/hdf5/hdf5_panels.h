/* SPDX-License-Identifier: MIT */
/** Several panels in a master: their modules for NXmx readers, and our own exact copy. */
#ifndef NB_IO_HDF5_PANELS_H
#define NB_IO_HDF5_PANELS_H

#include "hdf5_file.h"
#include "hdf5_put.h"

#ifdef NB_HAVE_HDF5
/** A group NXdetector_module for each panel. */
void nb_hdf5_put_modules(nb_h5 *h, const nb_hdf5_master *master);

/** /entry/simulation/panels, and the vectors of all panels beside it. */
void nb_hdf5_put_panels(nb_h5 *h, const nb_hdf5_master *master);
#endif

#endif
