/* SPDX-License-Identifier: MIT */
/** The exact panels of our own masters.  For nxmx.c alone. */
#ifndef NB_IO_NXMX_OWN_H
#define NB_IO_NXMX_OWN_H

#ifdef NB_HAVE_HDF5
#include "hdf5_get.h"
#include "../common/panel_spec.h"

/** Replace what the modules say by /entry/simulation/panels, if they are there, as many, and of this
 * convention (a lab frame).  Errors: NB_ERR_INPUT. */
nb_status nb_nxmx_read_own(const nb_h5_input *in, int convention,
                           nb_detector_spec *detector, nb_error *err);

#endif
#endif
