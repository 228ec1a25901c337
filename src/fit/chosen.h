/* SPDX-License-Identifier: MIT */
/** Pixels that a fit uses: image of the model, normal equations (docs/refine.md). */
#ifndef NB_FIT_CHOSEN_H
#define NB_FIT_CHOSEN_H

#include "../nanobragg.h"
#include "../sim/derive.h"

/** Pixels of an observation, in the order of the stack (all panels in turn). */
typedef struct nb_chosen {
    nb_sim *sim;          /* borrowed */
    nb_observation seen;  /* arrays are borrowed */
    nb_slope_pixels list; /* owned */
    size_t n;             /* number of pixels */
    size_t *at;           /* owned; [n], indices of the pixels in the stack */
    nb_slope_list places; /* owned; number of each pixel in list; n is 0 before use */
    float *image;         /* owned; [stack], work memory; NULL before the first use */
    double *room;         /* owned; [cap], work memory; NULL before the first use */
    size_t cap;
    /* Pixels grouped by nearest reflection (scales.c); NULL before nb_chosen_group. */
    int groups;
    int *group;      /* owned; [n], group of each pixel */
    float *stol;     /* owned; [n], sin theta/lambda, 1/A */
    uint32_t *order; /* owned; [n], pixels in order of the groups */
    /* owned; [groups + 1], index in `order` of the first pixel of each group */
    size_t *begin;
    double *u;    /* owned; [groups], logarithms of the scales */
    double width; /* standard deviation of the prior of u; 0: all scales are 1 */
} nb_chosen;

/** Choose the pixels of `seen` with the increasing indices at[n] in the stack. Arrays of
 * `seen` must outlive *out. Close *out, also after an error: NB_ERR_NOMEM, NB_ERR_INPUT
 * (indices that do not increase, pixels that are not rendered). */
nb_status nb_chosen_open(nb_sim *sim, const nb_observation *seen, const int64_t *at,
                         size_t n, nb_chosen *out, nb_error *err);
void nb_chosen_close(nb_chosen *chosen); /* The pixels may be all zero. */

/** Write values[n]: photons of the model, without the backgrounds of `seen`. Errors:
 * those of a render. */
nb_status nb_chosen_image(nb_chosen *chosen, double *values, nb_error *err);

/** Write values[1 + count][n]: image, slopes by names. Errors as nb_sim_derivatives. */
nb_status nb_chosen_slopes(nb_chosen *chosen, const char *const *names, int count,
                           double *values, nb_error *err);

/** Group pixels by nearest reflection. All scales are 1. Errors: NB_ERR_NOMEM. */
nb_status nb_chosen_group(nb_chosen *chosen, nb_error *err);
void nb_chosen_ungroup(nb_chosen *chosen); /* Free the groups; all scales are then 1. */

/** Normal equations of V = count + knots values. The caller owns arrays [V], [V][V]. */
typedef struct nb_scaled_sums {
    /* loss, gradient and Fisher matrix after the scales are eliminated */
    double loss, *g, *F;
    double *held;   /* Fisher matrix for fixed scales, or NULL */
    double *scores; /* sum over reflections of products of gradients, or NULL */
    double *model;  /* [n], photons, or NULL */
    int clusters;   /* number of reflections with light */
} nb_scaled_sums;

/** Find the best scales, then eliminate the scales. Errors as nb_sim_derivatives. */
nb_status nb_chosen_scaled(nb_chosen *chosen, const char *const *names, int count,
                           nb_scaled_sums *out, nb_error *err);

/** Estimate from strong reflections *spread, the sigma of u without counting noise; 0 if
 * there are too few. *explained: fraction of the loss above the noise that free scales
 * remove. Sets the scales to 1. */
nb_status nb_chosen_spread(nb_chosen *chosen, double *spread, double *explained,
                           nb_error *err);

#endif
