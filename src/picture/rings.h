/* SPDX-License-Identifier: MIT */
/** Draw circles of equal resolution and the beam centre over the picture of an image. */
#ifndef NB_PICTURE_RINGS_H
#define NB_PICTURE_RINGS_H

#include "../physics/scene.h"
#include "canvas.h"

/** Draw labelled rings where d = lambda / (2 sin theta) is one of options->ring_A, and a
 * cross at the beam centre. The canvas has one pixel for each detector pixel. wavelength in
 * m. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_rings(nb_canvas *canvas, const nb_panel *panel, double wavelength,
                        const nb_png_options *options, nb_error *err);

#endif
