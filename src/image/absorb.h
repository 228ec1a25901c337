/* SPDX-License-Identifier: MIT */
/** What a crystal lets through of its own light: the mean over its body of exp(-mu (p_in + p_out)). */
#ifndef NB_IMAGE_ABSORB_H
#define NB_IMAGE_ABSORB_H

#include "../nanobragg.h"
#include "../physics/absorb.h"
#include "../physics/scene.h"

/** Of a sphere at this angle to the beam (rad), z = mu times the radius. */
double nb_sphere_transmission(double z, double two_theta);

/** Of a box for light that goes on along `out`, unit; the directions are in the frame of its edges.  To 1e-9 of it when
 * `fine`, or to 1e-5. */
double nb_box_transmission(double mu, const double half[3], nb_vec3 beam, nb_vec3 out,
                           int fine);

/** Of all pixels at their middles: plane[pixels] of the scene's raster, and in range[2] the least and the largest.
 * It is interpolated, to 1e-4 of it for a sphere and 1e-3 for a box.  Errors: NB_ERR_NOMEM. */
nb_status nb_absorb_plane(const nb_absorber *body, const nb_scene *scene, int threads,
                          float *plane, double range[2], nb_error *err);

#endif
