/* SPDX-License-Identifier: MIT */
/** The diffuse light of every pixel of an image, by a table. */
#ifndef NB_LIGHT_DIFFUSE_PLANE_H
#define NB_LIGHT_DIFFUSE_PLANE_H

#include "diffuse_rays.h"

/** Merge the scene's sources and orientations, for the model's light up to |q| = reach (1/A).  The scene's arrays are
 * used, not copied; plane->table is to be set.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane_new(const nb_scene *scene, const nb_diffuse *model,
                               double reach, nb_diffuse_plane *plane, nb_error *err);

/** Values of the table that the whole detector takes, whatever is rendered of it. */
double nb_diffuse_plane_samples(const nb_diffuse_plane *plane);

/** image[pixels of the stack] = photons; 0 where nothing is rendered. threads: as nb_image_threads takes it.  The same
 * bytes for any number of threads.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane_fill(const nb_diffuse_plane *plane, int threads, float *image,
                                nb_error *err);

void nb_diffuse_plane_clear(nb_diffuse_plane *plane);

/** How a panel is sampled. */
nb_light_grid nb_light_grid_of(const nb_diffuse_plane *plane, const nb_panel *panel);

#endif
