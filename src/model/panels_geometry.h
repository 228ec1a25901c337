/* SPDX-License-Identifier: MIT */
/** The panels of a detector from a file, in the lab frame.  For geometry.c and detector.c. */
#ifndef NB_MODEL_PANELS_GEOMETRY_H
#define NB_MODEL_PANELS_GEOMETRY_H

#include "detector.h"

/** Before the panels are placed: the shift of all of them, along fast and slow of the convention,
 * which g holds.  Errors: NB_ERR_INPUT for a mirrored frame. */
nb_status nb_geometry_frame(const nb_settings *cfg, nb_geometry *g, nb_error *err);

/** Choose the panel of the beam; g holds what is asked of one panel. */
void nb_geometry_take_panel(const nb_detector_spec *detector,
                            const nb_displacement *moved, nb_geometry *g);

/** Position, size and axes of panel k of a file; the rest of *panel is not written. */
void nb_panel_place(const nb_geometry *g, const nb_panel_spec *spec, int k,
                    nb_panel *panel);

#endif
