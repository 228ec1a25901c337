/* SPDX-License-Identifier: MIT */
/** Derivatives of the expected photons by named parameters, and the sums for a fit.
 * Names, groups, units (photons per deg, A, mm, cell): docs/physics.md, section 26. */
#ifndef NANOBRAGG_DERIVATIVES_H
#define NANOBRAGG_DERIVATIVES_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NB_VARIABLES_MAX 256 /* limit of the number of names in one call */
#define NB_VARIABLE_NAME                                                                 \
    96 /* bytes with the NUL: room for "shift_fast@" and the name of a panel */

/** A parameter for derivatives of an image. */
typedef struct nb_variable {
    char name[NB_VARIABLE_NAME]; /* main name: "N_a" for "Na" */
    double value;                /* current value, in `unit` */
    const char *unit;            /* "deg", "A", "mm", "cells", "" ...; static */
    const char *flag;            /* flag that sets it, "-distance", or ""; static */
    const char *moves;           /* one line of help; static */
    int can_move;      /* 0: no pixel of this scene changes, and the plane is 0 */
    char why_not[160]; /* reason if can_move is 0 */
} nb_variable;

/** Distribution of the counts about the expected photons. */
typedef enum nb_likelihood {
    NB_LIKELIHOOD_POISSON = 0,
    NB_LIKELIHOOD_GAUSS
} nb_likelihood;
/** An observation for a fit. The caller owns the arrays; [pixels] of the stack. */
typedef struct nb_observation {
    const float *photons; /* [pixels]; NaN: this pixel is not used */
    nb_likelihood likelihood;
    double sigma;            /* read-out noise, photons; for a Gaussian likelihood */
    const float *background; /* [pixels], photons of a constant background; or NULL */
    /* A refined background is the sum of values[k] hat_k(x) with x = sin theta/lambda
     * (1/A) at the centre of a pixel. hat_k is linear between the knots, which increase,
     * and is 1 at knot k and 0 at the others. Derivatives by values[k] follow those by
     * the named parameters. */
    int n_knots;          /* 0: no refined background */
    const double *knots;  /* [n_knots], 1/A */
    const double *values; /* [n_knots], photons in a pixel */
} nb_observation;

/** Expand a list ("misset,cell,N_a") to *count names (nb_free) of NB_VARIABLE_NAME bytes.
 * Errors: NB_ERR_INPUT (an unknown name, with the nearest name; a name that occurs
 * twice). */
nb_status nb_sim_variables(const nb_sim *sim, const char *list,
                           char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err);

/** Find a parameter. Errors: NB_ERR_INPUT (an unknown name; a parameter that cannot be
 * differentiated, with the reason). */
nb_status nb_sim_parameter(const nb_sim *sim, const char *name, nb_variable *out,
                           nb_error *err);

/** Give parameters new values, in the units of nb_variable. The values are in force until
 * nb_sim_set or nb_sim_change sets the parameter. Only the scene is built again: no file
 * is read, tables stay on a device. nb_sim_config shows the values, except of rot and
 * shift, which move crystal and detector. On an error the simulation is unchanged.
 * Errors: NB_ERR_INPUT. */
nb_status nb_sim_set_parameters(nb_sim *sim, const char *const *names,
                                const double *values, int count, nb_error *err);

/** Number of values that nb_sim_set_parameters has set. name and *value get number i of
 * them, in the order of the calls. */
int nb_sim_moves(const nb_sim *sim);
const char *nb_sim_move(const nb_sim *sim, int i, double *value);

/** Fold the rotation rot_x rot_y rot_z into the crystal's orientation (misset angles, or
 * the matrix), and set rot to 0. misset_deg may be NULL. Errors: NB_ERR_INPUT. */
nb_status nb_sim_fold_rotation(nb_sim *sim, double misset_deg[3], nb_error *err);

/** Calculate dI/dp of the expected photons, per unit of p, into planes[count][pixels of
 * the stack] of `type`, memory of the caller. Pixels that are masked or outside the
 * region of interest get 0. image (may be NULL) gets the image, [pixels] floats. Errors:
 * NB_ERR_INPUT (a name is unknown, twice, not differentiable), NB_ERR_NOMEM,
 * NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_sim_derivatives(nb_sim *sim, const char *const *names, int count,
                             nb_real_type type, void *planes, float *image, nb_error *err);

/** Calculate the image as doubles: image[pixels of the stack], memory of the caller, in
 * photons. The precision is double with NB_PRECISION_DOUBLE, else that of derivatives.
 * Errors as nb_sim_derivatives. */
nb_status nb_sim_render_double(nb_sim *sim, double *image, nb_error *err);

/** Derivatives of a loss by each F that acts on a pixel, sorted by h, k, l. */
typedef struct nb_hkl_gradient {
    size_t count;
    int32_t (*hkl)[3]; /* [count], owned */
    double *gradient;  /* [count], owned; per electron */
} nb_hkl_gradient;
void nb_hkl_gradient_free(nb_hkl_gradient *F); /* Free the arrays; NULL is allowed. */

/** Calculate gradient[count]: the sum over pixels of dloss[pixels] dI/dp. dloss has
 * finite numbers of `type`, else NB_ERR_INPUT. F: NULL, or the gradient by all F ("F");
 * free it with nb_hkl_gradient_free. Errors as nb_sim_derivatives. */
nb_status nb_sim_pullback(nb_sim *sim, const char *const *names, int count,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_hkl_gradient *F, nb_error *err);

/** Like nb_sim_pullback, with dloss in memory of the device that makes the derivatives.
 * All writes to dloss must be finished. Errors also: NB_ERR_UNSUPPORTED (derivatives made
 * on the CPU). */
nb_status nb_sim_pullback_device(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_error *err);

/** Like nb_sim_pullback, for a loss of the image after the point spread (if any) of the
 * configuration, which is the image of nb_sim_expected. The adjoint of the spread is
 * first applied to dloss. Errors also: NB_ERR_UNSUPPORTED (-psf fibre without FFTW). */
nb_status nb_sim_pullback_spread(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_hkl_gradient *F, nb_error *err);

/** Calculate the loss of an observation, its gradient [count + n_knots], and its Fisher
 * matrix [count + n_knots][count + n_knots] (docs/physics.md, section 26). Each may be
 * NULL; count may be 0. Only observed pixels are calculated. With a point spread, which
 * is applied to image and derivatives, all pixels are calculated; this needs 8 (count +
 * 1) bytes per pixel of the stack (NB_ERR_NOMEM). Errors as nb_sim_derivatives. */
nb_status nb_sim_normal(nb_sim *sim, const char *const *names, int count,
                        const nb_observation *seen, double *loss, double *gradient,
                        double *fisher, nb_error *err);

/** Write the expected photons of the observed pixels, without the backgrounds of the
 * observation, to expected[pixels], memory of the caller; other pixels get 0. Errors as
 * nb_sim_derivatives. */
nb_status nb_sim_expected(nb_sim *sim, const nb_observation *seen, double *expected,
                          nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
