/* SPDX-License-Identifier: MIT */
/** The diffuse light of every pixel of an image, by a table. */
#ifndef NB_LIGHT_DIFFUSE_PLANE_H
#define NB_LIGHT_DIFFUSE_PLANE_H

#include "diffuse_rays.h"

/** Merge the scene's sources and orientations; scale: nb_diffuse.scale.  The scene's arrays and the table are used, not
 * copied.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane_new(const nb_scene *scene, const nb_diffuse_table *table,
                               double scale, nb_diffuse_plane *plane, nb_error *err);

/** image[pixels of the stack] = photons; 0 where nothing is rendered. threads: as nb_image_threads takes it.  The same
 * bytes for any number of threads.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane_fill(const nb_diffuse_plane *plane, int threads, float *image,
                                nb_error *err);

void nb_diffuse_plane_clear(nb_diffuse_plane *plane);

/** How a panel is sampled. */
nb_light_grid nb_light_grid_of(const nb_diffuse_plane *plane, const nb_panel *panel);

#endif
