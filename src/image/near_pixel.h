/* SPDX-License-Identifier: MIT */
/** The value of a pixel in double from the orientations whose spots come near it. */
#ifndef NB_IMAGE_NEAR_PIXEL_H
#define NB_IMAGE_NEAR_PIXEL_H

#include "../physics/scene.h"

enum { NB_NEAR_MOST = 128 }; /* orientations that are worth a list */

/** As nb_pixel_intensity, for a pixel of about so many photons: of a crystal whose spots end the
 * orientations are left out whose terms, all together, are below a hundredth of a double's rounding of
 * `photons`.  The order of the terms is the same.  Every step is taken where that saves nothing. */
double nb_near_pixel(const nb_scene *scene, const nb_panel *panel, int f, int s,
                     double photons);

/** The orientations that nb_near_pixel takes, in their order; -1: all of them. */
int nb_near_orientations(const nb_scene *scene, const nb_panel *panel, int f, int s,
                         double photons, nb_orientation near[NB_NEAR_MOST]);

#endif
