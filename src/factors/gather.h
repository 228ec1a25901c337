/* SPDX-License-Identifier: MIT */
/** Collects values for the reflections of P1 and takes their means. */
#ifndef NB_FACTORS_GATHER_H
#define NB_FACTORS_GATHER_H

#include "factors.h"
#include "symmetry.h"

/** P 1: the identity. */
extern const nb_symmetry nb_P1;

/** Running sums of each voxel of the grid. */
typedef struct nb_gather {
    nb_factor_grid *grid;   /* F: the sum of real parts */
    uint32_t *count;        /* owned; values so far, with marks in the high bits */
    float *first;           /* owned; the real part of the first */
    double *imaginary;      /* owned; the sum; NULL in a grid without phases */
    float *first_imaginary; /* owned; the sum of imaginary parts; NULL without phases */
    int intensities; /* values are I, and F is the root of their mean; without phases */
} nb_gather;

/** One reflection: real and imaginary part of F(h) and of F(-h); amplitudes without phase are
 * real. */
typedef struct nb_mates {
    double plus[2], minus[2];
    int has_plus,
        has_minus; /* 1: the file has this mate; 0: the value is that of the other mate */
    int with_phase;
} nb_mates;

/** grid: its values are overwritten, and it outlives *out (nb_gather_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_gather_new(nb_factor_grid *grid, nb_gather *out, nb_error *err);
void nb_gather_free(nb_gather *g);

/** Add F(h R) = F(h) exp(-2 pi i h t) for every operator, and F(-h R) from the other mate. Only
 * mates that the file has count, or with `lent` only the others. h R must lie in the grid. */
void nb_gather_add(nb_gather *g, const nb_symmetry *sg, const int h[3],
                   const nb_mates *mates, int lent);

/** Make this the only value of h. Returns 0 if h has a value already. */
int nb_gather_set(nb_gather *g, const int h[3], double F);

/** Write the means into the grid, with_phase: also their phases. Later values of these reflections
 * are ignored. Returns the number of means over values that differ by more than 1 %. */
size_t nb_gather_finish(nb_gather *g, int with_phase);

/** Enlarge |h| <= H so that every h R is inside. Returns 0 if one is beyond +-10000. */
int nb_gather_reach(const nb_symmetry *sg, const int h[3], int H[3]);

/** Reflections with s^2 <= limit that have no mean are 0 and marked if they are systematically absent;
 * the others, but 0 0 0, are counted in *missing, those that have one in *present.  With one operator
 * none is absent.  Errors: NB_ERR_NOMEM. */
nb_status nb_gather_absences(nb_gather *g, const nb_symmetry *sg, double limit,
                             size_t *present, size_t *missing, nb_error *err);

#endif
