/* SPDX-License-Identifier: MIT */
/** The detector that a geometry file describes. */
#ifndef NB_API_GEOMETRY_FILE_H
#define NB_API_GEOMETRY_FILE_H

#include "../nanobragg.h"

/** Read the geometry file that cfg names; *out has no panels without one.  Free it with
 * nb_detector_spec_free, after an error too.  Errors: those of nb_config_load_geometry. */
nb_status nb_read_geometry(const nb_config *cfg, const nb_hooks *hooks,
                           nb_detector_spec *out, nb_error *err);

#endif
