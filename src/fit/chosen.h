/* SPDX-License-Identifier: MIT */
/** The pixels that a fit compares with its model: their images, sums and normal equations (docs/refine.md). */
#ifndef NB_FIT_CHOSEN_H
#define NB_FIT_CHOSEN_H

#include "../nanobragg.h"
#include "../sim/derive.h"

/** Pixels of an observation, in the order of the stack. */
typedef struct nb_chosen {
    nb_sim *sim;          /* borrowed */
    nb_observation seen;  /* its arrays are borrowed */
    nb_slope_pixels list; /* owned */
    size_t n;             /* pixels */
    size_t *at;           /* owned; [n], places in the stack */
    nb_slope_list places; /* owned; of the list; n 0 until they are needed */
    float *image;         /* owned; [stack], work; NULL until it is needed */
    double *room;         /* owned; [most], work; NULL until it is needed */
    size_t most;
    /* The reflections next to the pixels (scales.c); NULL until nb_chosen_group. */
    int groups;
    int *group;      /* owned; [n] */
    float *stol;     /* owned; [n], sin theta/lambda, 1/A */
    uint32_t *order; /* owned; [n]: pixels of a reflection side by side */
    size_t *begin;   /* owned; [groups + 1]: of a reflection there */
    double *u;       /* owned; [groups], logarithms of the scales */
    double width;    /* of their prior; 0: all scales are 1 */
} nb_chosen;

/** Choose the n pixels at the places at[n], which grow, of `seen`, whose arrays live as long as *out.  nb_chosen_close, after an
 * error too.  Errors: NB_ERR_NOMEM, NB_ERR_INPUT (places that do not grow, or are not rendered). */
nb_status nb_chosen_open(nb_sim *sim, const nb_observation *seen, const int64_t *at,
                         size_t n, nb_chosen *out, nb_error *err);
void nb_chosen_close(nb_chosen *chosen); /* zeroed is fine */

/** The model without the backgrounds of the observation: values[n], photons.  Errors: NB_ERR_NOMEM, those of a render. */
nb_status nb_chosen_image(nb_chosen *chosen, double *values, nb_error *err);

/** The image and its slopes by the named parameters: values[1 + count][n].  Errors as nb_sim_derivatives. */
nb_status nb_chosen_slopes(nb_chosen *chosen, const char *const *names, int count,
                           double *values, nb_error *err);

/** Put each pixel to the reflection next to it; all scales are 1.  Until nb_chosen_ungroup they stay there.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_chosen_group(nb_chosen *chosen, nb_error *err);
void nb_chosen_ungroup(nb_chosen *chosen);

/** Normal equations by the V = count + knots values; arrays are the caller's, [V] and [V][V]. */
typedef struct nb_scaled_sums {
    double loss, *g, *F;
    double *held; /* F with the scales held; may be NULL */
    double *scores; /* sum over reflections of the products of their gradients; may be NULL */
    double *model; /* [n], photons; may be NULL */
    int clusters;  /* reflections with light */
} nb_scaled_sums;

/** The scales of the reflections take their best values; then the equations without them.  Errors as nb_sim_derivatives. */
nb_status nb_chosen_scaled(nb_chosen *chosen, const char *const *names, int count,
                           nb_scaled_sums *out, nb_error *err);

/** *spread: of the logarithms of scales that counts know well, beyond counting; 0: too few.  *explained: the part of
 * the loss beyond noise that free scales explain.  The scales are 1 afterwards. */
nb_status nb_chosen_spread(nb_chosen *chosen, double *spread, double *explained,
                           nb_error *err);

#endif
