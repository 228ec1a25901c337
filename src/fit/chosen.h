/* SPDX-License-Identifier: MIT */
/** Pixels that a fit compares with a model: images and equations (docs/refine.md). */
#ifndef NB_FIT_CHOSEN_H
#define NB_FIT_CHOSEN_H

#include "../nanobragg.h"
#include "../sim/derive.h"

/** Pixels of an observation, in the order of the stack. */
typedef struct nb_chosen {
    nb_sim *sim;          /* borrowed */
    nb_observation seen;  /* arrays are borrowed */
    nb_slope_pixels list; /* owned */
    size_t n;             /* number of pixels */
    size_t *at;           /* owned; [n], places in the stack */
    nb_slope_list places; /* owned; places of the list; n is 0 before the first use */
    float *image;         /* owned; [stack], work; NULL before the first use */
    double *room;         /* owned; [cap], work; NULL before the first use */
    size_t cap;
    /* Reflections nearest to the pixels (scales.c); NULL until nb_chosen_group. */
    int groups;
    int *group;      /* owned; [n], group of each pixel */
    float *stol;     /* owned; [n], sin theta/lambda, 1/A */
    uint32_t *order; /* owned; [n], pixels in order of the groups */
    size_t *begin;   /* owned; [groups + 1], first place of each group in order */
    double *u;       /* owned; [groups], logarithms of the scales */
    double width;    /* width of the prior of u; 0: all scales are 1 */
} nb_chosen;

/** Choose pixels of `seen` (its arrays outlive *out) at places at[n], which grow. Close
 * *out, also after an error: NB_ERR_NOMEM, NB_ERR_INPUT (no growth, or not rendered). */
nb_status nb_chosen_open(nb_sim *sim, const nb_observation *seen, const int64_t *at,
                         size_t n, nb_chosen *out, nb_error *err);
void nb_chosen_close(nb_chosen *chosen); /* zeroed is allowed */

/** values[n] of the model without backgrounds, photons. Errors: as of a render. */
nb_status nb_chosen_image(nb_chosen *chosen, double *values, nb_error *err);

/** values[1 + count][n]: image, slopes by parameters. Errors as nb_sim_derivatives. */
nb_status nb_chosen_slopes(nb_chosen *chosen, const char *const *names, int count,
                           double *values, nb_error *err);

/** Assign each pixel to the nearest reflection until nb_chosen_ungroup. All scales are 1.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_chosen_group(nb_chosen *chosen, nb_error *err);
void nb_chosen_ungroup(nb_chosen *chosen);

/** Normal equations of V = count + knots values. The caller owns arrays [V], [V][V]. */
typedef struct nb_scaled_sums {
    double loss, *g, *F;
    double *held;   /* F with the scales held, or NULL */
    double *scores; /* sum over reflections of products of gradients, or NULL */
    double *model;  /* [n], photons, or NULL */
    int clusters;   /* number of reflections with light */
} nb_scaled_sums;

/** Find the best scales, then equations without scales. Errors: nb_sim_derivatives. */
nb_status nb_chosen_scaled(nb_chosen *chosen, const char *const *names, int count,
                           nb_scaled_sums *out, nb_error *err);

/** *spread: of the log of scales with many counts, without counting noise; 0: too few.
 * *explained: part of the loss above noise by free scales. Scales are 1 afterwards. */
nb_status nb_chosen_spread(nb_chosen *chosen, double *spread, double *explained,
                           nb_error *err);

#endif
