/* SPDX-License-Identifier: MIT */
/** The geometry of an NXmx file (docs/formats.md). */
#ifndef NB_IO_NXMX_H
#define NB_IO_NXMX_H

#include "../common/panel_spec.h"

/** Read panels, wavelength, mask and scan axis.  *out is the caller's (nb_detector_spec_free), zero
 * after an error.  Errors: NB_ERR_INPUT with the HDF5 name, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED in a
 * build without HDF5. */
nb_status nb_nxmx_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err);

#endif
