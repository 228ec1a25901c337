/* SPDX-License-Identifier: MIT */
/** What the calls of nanobragg/derivatives.h share. */
#ifndef NB_SIM_DERIVE_H
#define NB_SIM_DERIVE_H

#include "../derive/products.h"
#include "../derive/variables.h"
#include "../image/stages.h"
#include "sim.h"

/** The simulation as the engine sees it; valid until sim changes. */
nb_subject nb_sim_subject(const nb_sim *sim);

/** The central wavelength, A; of a list of sources their weighted mean. */
double nb_sim_mean_wavelength(const nb_sim *sim);

/** Names taken apart: each known, none twice.  *out: nb_free. */
nb_status nb_sim_names(const nb_sim *sim, const char *const *names, int count,
                       nb_variable_name **out, nb_error *err);

/** Refuse what slopes do not have: they are those of the scene's photons.  Errors: NB_ERR_INPUT. */
nb_status nb_sim_check_slopes(const nb_sim *sim, nb_error *err);

/* --- factors of pixels and added light --- */

/** Has the image factors of pixels, or light that is added behind them? */
int nb_sim_has_factors(const nb_sim *sim);

/** Refuse a parameter that changes the factors, or the dose.  t: its tangent; NULL: F.  Errors: NB_ERR_INPUT. */
nb_status nb_sim_check_factors(const nb_sim *sim, const nb_variable_name *v,
                               const nb_tangent *t, nb_error *err);

/** The same of names, before anything is rendered.  Errors: as nb_sim_derivatives. */
nb_status nb_sim_check_held(const nb_sim *sim, const char *const *names, int count,
                            nb_error *err);

/** Take image and slopes of a list, values[planes][n], behind the factors; the image gets the added light. */
void nb_sim_factor_list(const nb_sim *sim, const nb_slope_list *list, size_t planes,
                        double *values);

/** An image of these pixels. */
void nb_sim_factor_spans(const nb_sim *sim, const nb_span *spans, size_t n, float *image);

/** Make slopes of a loss, dloss[pixels], those by the pixels before the factors. */
void nb_sim_factor_loss(const nb_sim *sim, double *dloss);

/** Before anything is rendered: are -derivatives and -pullback right?  Errors: NB_ERR_INPUT, _IO. */
nb_status nb_sim_check_derivatives(const nb_sim *sim, nb_error *err);

/** Write what the configuration of a single image asks for. */
nb_status nb_sim_write_derivatives(nb_sim *sim, nb_error *err);

/** Write the planes of -derivatives, under any name. */
nb_status nb_sim_write_slopes(nb_sim *sim, const char *path, nb_error *err);

/** nb_sim_normal of these pixels, which hold as long as region and mask of the simulation stay; NULL: list those that are
 * observed. */
nb_status nb_sim_normal_at(nb_sim *sim, const char *const *names, int count,
                           const nb_observation *seen, const nb_slope_pixels *pixels,
                           double *loss, double *gradient, double *fisher, nb_error *err);

/** An observation and the list of its pixels. */
typedef struct nb_pixels_seen {
    const nb_observation *seen;
    const nb_slope_pixels *pixels;
    const nb_slope_list *list; /* of the same */
} nb_pixels_seen;

/** The image and the planes of these pixels: values[1 + count][n], n the pixels of the list in its order, the caller's.  Errors
 * as nb_sim_derivatives. */
nb_status nb_sim_slopes_at(nb_sim *sim, const char *const *names, int count,
                           const nb_pixels_seen *of, double *values, nb_error *err);

/* --- numbers of pixels through the point spread of a simulation --- */

/** Is there a point spread?  *psf: its stage. */
int nb_sim_has_spread(const nb_sim *sim, nb_stage *psf);

/** values[pixels of the stack], those of the region, through the spread, to the digits of doubles; the spread is its own
 * adjoint, so slopes of a loss go back by it, too.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (nb_light_make). */
nb_status nb_sim_spread_values(const nb_sim *sim, const nb_stage *psf, double *values,
                               nb_error *err);

/** Set values[pixels] outside of a scene's region and mask to 0. */
void nb_keep_rendered(const nb_scene *scene, double *values);

#endif
