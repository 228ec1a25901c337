/* SPDX-License-Identifier: MIT */
/** The diffuse light of every pixel, by a table. Samples of a pixel are merged, and pixels between nodes interpolated, as
 * far as the halos are smooth (docs/physics.md has the bounds). */
#ifndef NB_LIGHT_DIFFUSE_PLANE_H
#define NB_LIGHT_DIFFUSE_PLANE_H

#include "diffuse_table.h"

/** image[pixels of the stack] = photons; 0 where nothing is rendered. scale: nb_diffuse.scale; threads: as nb_image_threads
 * takes it.  The same bytes for any number of threads.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane(const nb_scene *scene, const nb_diffuse_table *table,
                           double scale, int threads, float *image, nb_error *err);

#endif
