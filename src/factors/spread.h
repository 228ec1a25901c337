/* SPDX-License-Identifier: MIT */
/** Add Gaussians to the planes of a grid; compiled for each instruction set. */
#ifndef NB_FACTORS_SPREAD_H
#define NB_FACTORS_SPREAD_H

#include <stddef.h>

#include "sums.h"

enum {
    /* number of points of a row that are written together: a multiple of every vector
     * width */
    NB_SPREAD_STEP = 8
};

/** The Gaussian amplitude exp(-E). E is quadratic in du, dv, dw, the steps of the grid
 * from the centre. */
typedef struct nb_gaussian {
    double centre[3]; /* 0..n */
    double Q[6]; /* E = Q0 du^2 + Q1 dv^2 + Q2 dw^2 + Q3 du dv + Q4 du dw + Q5 dv dw */
    double amplitude;
    double reach;    /* largest |du| of points with E <= cut (density.c) */
    double slope[2]; /* centre of the section at du: dv = slope0 du, dw = slope1 du */
    double half[2];  /* half widths along v, w at du = 0 */
} nb_gaussian;

/** Add the Gaussians of some visits to a plane of n1 rows of `pitch` doubles. A row
 * begins at w = 0. The caller adds the points w >= n2 of a row to points w - n2. */
typedef void nb_spread_fn(const nb_gaussian *gaussians, const nb_visit *visits,
                          size_t count, const int n[3], size_t pitch, double *plane);

nb_spread_fn nb_spread_base;
#ifdef __x86_64__
nb_spread_fn nb_spread_avx2, nb_spread_avx512;
#endif

#endif
