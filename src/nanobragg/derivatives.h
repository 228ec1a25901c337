/* SPDX-License-Identifier: MIT */
/** Derivatives of the expected photons by named parameters, and the sums for a fit. Names, groups
 * and units are those of docs/physics.md, section 26: photons per deg, per A, per mm, per cell. */
#ifndef NANOBRAGG_DERIVATIVES_H
#define NANOBRAGG_DERIVATIVES_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NB_VARIABLES_MAX 256 /* names in one call */
#define NB_VARIABLE_NAME                                                                 \
    96 /* bytes, NUL included: "shift_fast@" and the name of a panel */

/** A parameter that an image can be differentiated by. */
typedef struct nb_variable {
    char name[NB_VARIABLE_NAME]; /* the one name: "N_a" for "Na" */
    double value;                /* current value, in `unit` */
    const char *unit;            /* "deg", "A", "mm", "cells", "" ...; static */
    const char *flag;  /* flag that sets it, "-distance"; "" if there is none; static */
    const char *moves; /* one line of help; static */
    int can_move;      /* 0: it moves no pixel of this scene, its plane is 0 */
    char why_not[160]; /* the reason then */
} nb_variable;

/** An observation for a fit. The caller owns the arrays; [pixels] are those of the stack. */
typedef enum nb_likelihood {
    NB_LIKELIHOOD_POISSON = 0,
    NB_LIKELIHOOD_GAUSS
} nb_likelihood;
typedef struct nb_observation {
    const float *photons; /* [pixels]; NaN: this pixel is not used */
    nb_likelihood likelihood;
    double sigma;            /* read-out noise, photons; GAUSS */
    const float *background; /* [pixels], photons of a constant background; NULL: none */
    /* a background that is refined: sum of value[k] hat_k(x), x = sin theta/lambda (1/A) at the centre
     * of a pixel, hat_k piecewise linear over knots that grow.  The derivatives by value[k] follow those
     * by the named parameters. */
    int n_knots;          /* 0: none */
    const double *knots;  /* [n_knots], 1/A */
    const double *values; /* [n_knots], photons in a pixel */
} nb_observation;

/** How many names a list of names and groups opens to ("misset,cell,N_a"), commas between. names:
 * nb_free; each NB_VARIABLE_NAME bytes.  Errors: NB_ERR_INPUT (unknown, with the nearest name; twice). */
nb_status nb_sim_variables(const nb_sim *sim, const char *list,
                           char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err);

/** Find a parameter of a simulation. Errors: NB_ERR_INPUT (unknown; not differentiable here, with
 * the reason). */
nb_status nb_sim_parameter(const nb_sim *sim, const char *name, nb_variable *out,
                           nb_error *err);

/** Give parameters new values, in the units of nb_variable. Only the scene is built again: no file
 * is read, tables stay on a device. The values stay until the parameter is typed (nb_sim_set, nb_sim_change). Values of
 * rot and shift rotate and move the crystal or detector; nb_sim_config shows all others. On an error the simulation
 * is as before. Errors: NB_ERR_INPUT. */
nb_status nb_sim_set_parameters(nb_sim *sim, const char *const *names,
                                const double *values, int count, nb_error *err);

/** Number of parameters with such a value; name and *value of number i, in the order of the calls. */
int nb_sim_moves(const nb_sim *sim);
const char *nb_sim_move(const nb_sim *sim, int i, double *value);

/** Fold the rotation rot_x rot_y rot_z into the crystal's orientation (misset angles, or the matrix), and
 * set it to 0. misset_deg may be NULL. Errors: NB_ERR_INPUT. */
nb_status nb_sim_fold_rotation(nb_sim *sim, double misset_deg[3], nb_error *err);

/** planes[count][pixels of the stack] of `type`, the caller's: dI/dp of the expected photons, photons
 * per unit.  Pixels outside the region of interest or masked are 0.  image (may be NULL): [pixels]
 * floats, the image of the same pass.  Errors: NB_ERR_INPUT (a name, twice, not differentiable),
 * NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_sim_derivatives(nb_sim *sim, const char *const *names, int count,
                             nb_real_type type, void *planes, float *image, nb_error *err);

/** The image before it is rounded to floats: image[pixels of the stack], the caller's, photons.  In double
 * precision with NB_PRECISION_DOUBLE; else as precise as derivatives are.  Errors as nb_sim_derivatives. */
nb_status nb_sim_render_double(nb_sim *sim, double *image, nb_error *err);

/** Derivatives of a loss by the entries of the table of F, for every reflection that a pixel sees, by h,
 * k, l. */
typedef struct nb_hkl_gradient {
    size_t count;
    int32_t (*hkl)[3]; /* [count], owned */
    double *gradient;  /* [count], owned; per electron */
} nb_hkl_gradient;
void nb_hkl_gradient_free(nb_hkl_gradient *F); /* free its arrays; NULL is allowed */

/** gradient[count] = sum over pixels of dloss[pixels] dI/dp. dloss has numbers of `type`; one that
 * is not finite is NB_ERR_INPUT. F: NULL, or the gradient by all F ("F"); free it with
 * nb_hkl_gradient_free. Errors as nb_sim_derivatives. */
nb_status nb_sim_pullback(nb_sim *sim, const char *const *names, int count,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_hkl_gradient *F, nb_error *err);

/** nb_sim_pullback of slopes in memory of the device that makes the derivatives; they must be
 * finished. Errors also: NB_ERR_UNSUPPORTED (they are made on the CPU). */
nb_status nb_sim_pullback_device(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_error *err);

/** The same for slopes of a loss by the image after the point spread of the configuration
 * (nb_sim_expected): dloss goes back through the adjoint of the spread first. Without one it is
 * nb_sim_pullback. Errors too: NB_ERR_UNSUPPORTED (-psf fibre without FFTW). */
nb_status nb_sim_pullback_spread(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_hkl_gradient *F, nb_error *err);

/** The loss of an observation, its gradient [count + n_knots] and its Fisher matrix, [count + n_knots]
 * squared, row by row (docs/physics.md, section 26).  Only pixels that are observed are
 * calculated.  Any of the three may be NULL.  count may be 0.  With a point spread in the configuration
 * the image and its derivatives go through it first: then all pixels are calculated, and 8 (count + 1) bytes for each pixel of
 * the stack are in memory (NB_ERR_NOMEM).  Errors as nb_sim_derivatives. */
nb_status nb_sim_normal(nb_sim *sim, const char *const *names, int count,
                        const nb_observation *seen, double *loss, double *gradient,
                        double *fisher, nb_error *err);

/** The expected photons of the observed pixels, without the observation's backgrounds: expected[pixels],
 * the caller's, 0 elsewhere.  Errors as nb_sim_derivatives. */
nb_status nb_sim_expected(nb_sim *sim, const nb_observation *seen, double *expected,
                          nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
