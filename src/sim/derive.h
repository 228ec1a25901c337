/* SPDX-License-Identifier: MIT */
/** Functions that the calls of nanobragg/derivatives.h share. */
#ifndef NB_SIM_DERIVE_H
#define NB_SIM_DERIVE_H

#include "../derive/products.h"
#include "../derive/variables.h"
#include "../image/product.h"
#include "sim.h"

/** Describe the simulation for src/derive; valid until sim changes. */
nb_subject nb_sim_subject(const nb_sim *sim);
/** Describe scene i of an image; *moved gets the displacement of the scene, and must
 * live as long as the result. */
nb_subject nb_sim_further_subject(const nb_sim *sim, int i, nb_displacement *moved);

/** Central wavelength, A; for a list of sources the weighted mean. */
double nb_sim_mean_wavelength(const nb_sim *sim);

/** Parse names; each must be known, and only once.  Free *out with nb_free. */
nb_status nb_sim_names(const nb_sim *sim, const char *const *names, int count,
                       nb_variable_name **out, nb_error *err);

/* --- factors of pixels and added light --- */

/** True if the image has factors of pixels, or light that is added after the factors. */
int nb_sim_has_factors(const nb_sim *sim);

/** Refuse a parameter that would change values which derivatives take as constant, such
 * as factors or the dose. m: model of a lattice. t: tangent of the parameter, or NULL for
 * F. */
nb_status nb_sim_check_factors(const nb_sim *sim, const nb_model *m,
                               const nb_variable_name *v, const nb_tangent *t,
                               nb_error *err);

/** Call nb_sim_check_factors for the named parameters.  Errors: as nb_sim_derivatives. */
nb_status nb_sim_check_held(const nb_sim *sim, const char *const *names, int count,
                            nb_error *err);

/** Factors of pixels: absorption of the light of crystals, then shadows on all light. */
typedef enum nb_filter { NB_FILTER_ABSORB, NB_FILTER_SHADOW } nb_filter;

/** Apply a filter to values[planes][n] of a list. After the shadows, the added light is
 * added to the image, plane 0. */
void nb_sim_filter_list(const nb_sim *sim, nb_filter filter, const nb_slope_list *list,
                        size_t planes, double *values);

/** Multiply dloss[pixels] by a filter, for slopes by the pixels before it. */
void nb_sim_filter_loss(const nb_sim *sim, nb_filter filter, double *dloss);

/** Make image[pixels] from photons of the crystal: apply all factors to the spans, and add
 * background and added light.  Errors: NB_ERR_NOMEM. */
nb_status nb_sim_finish_spans(nb_sim *sim, const nb_span *spans, size_t n, float *image,
                              nb_error *err);

/** Check -derivatives and -pullback before rendering.  Errors: NB_ERR_INPUT, _IO. */
nb_status nb_sim_check_derivatives(const nb_sim *sim, nb_error *err);

/** Write the files of derivatives of a single image that the configuration names. */
nb_status nb_sim_write_derivatives(nb_sim *sim, nb_error *err);

/** Write the planes of -derivatives to `path`. */
nb_status nb_sim_write_slopes(nb_sim *sim, const char *path, nb_error *err);

/** Like nb_sim_normal, for a list of pixels, or for all observed pixels if `pixels` is
 * NULL. A list is valid until region or mask of sim change. */
nb_status nb_sim_normal_at(nb_sim *sim, const char *const *names, int count,
                           const nb_observation *seen, const nb_slope_pixels *pixels,
                           double *loss, double *gradient, double *fisher, nb_error *err);

/** An observation and the list of its pixels. */
typedef struct nb_pixels_seen {
    const nb_observation *seen;
    const nb_slope_pixels *pixels;
    const nb_slope_list *list; /* index of each pixel in a plane of the list */
} nb_pixels_seen;

/** Fill values[1 + count][n], image and planes in list order, as nb_sim_derivatives. */
nb_status nb_sim_slopes_at(nb_sim *sim, const char *const *names, int count,
                           const nb_pixels_seen *of, double *values, nb_error *err);

/* --- the point spread of a simulation, for pixels in double --- */

/** True if the simulation has a point spread; *psf gets its stage. */
int nb_sim_has_spread(const nb_sim *sim, nb_stage *psf);

/** Apply the point spread to the region of values[pixels of the stack]. The values are
 * photons, or slopes of a loss, because the spread is self-adjoint. Errors: NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED (nb_light_make). */
nb_status nb_sim_spread_values(const nb_sim *sim, const nb_stage *psf, double *values,
                               nb_error *err);

/** Set values[pixels] outside of a scene's region and mask to 0. */
void nb_keep_rendered(const nb_scene *scene, double *values);

#endif
