/* SPDX-License-Identifier: MIT */
/** Circles of equal resolution and the beam centre, drawn over a picture of an image. */
#ifndef NB_PICTURE_RINGS_H
#define NB_PICTURE_RINGS_H

#include "../physics/scene.h"
#include "canvas.h"

/** Draw where d = lambda / (2 sin theta) is one of options->ring_A, labelled, and a cross where
 * the beam meets the detector.  The canvas has one pixel for each of the detector's.
 * wavelength in m.  Errors: NB_ERR_NOMEM. */
nb_status nb_draw_rings(nb_canvas *canvas, const nb_panel *panel, double wavelength,
                        const nb_png_options *options, nb_error *err);

#endif
