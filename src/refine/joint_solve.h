/* SPDX-License-Identifier: MIT */
/** Normal equations of many pictures that have some variables in common.  Their matrix is an arrow: a block of each picture's own
 * variables, and a border of the common ones.  Own ones are eliminated picture by picture (Schur complement), so that memory
 * and time grow with the number of pictures. */
#ifndef NB_REFINE_JOINT_SOLVE_H
#define NB_REFINE_JOINT_SOLVE_H

#include <stddef.h>

/** Variables of a picture: the common ones first. */
typedef struct nb_arrow {
    int common, own;
} nb_arrow;

/** What a picture gives to the common equations: [common][common] matrix, [common] gradient, [common] diagonal of its Fisher
 * matrix before the elimination.  So many numbers: */
size_t nb_arrow_share(const nb_arrow *arrow);

/** Numbers of `work` below. */
size_t nb_arrow_work(const nb_arrow *arrow);

/** Eliminate a picture's own variables from its Fisher matrix M[n][n] and gradient G[n], n = common + own.  The diagonal of its own
 * block A grows by the factor 1 + damping.  Y[own][common + 1] = A^-1 (B, g), B and g the border and the gradient of the block.
 * Returns 0 if A is not positive; then share and Y are 0, and the picture's own variables stay. */
int nb_arrow_eliminate(const nb_arrow *arrow, const double *M, const double *G,
                       double damping, double *share, double *Y, double *work);

/** The step of the common variables from the sum of the shares, whose diagonal grows by damping times the sum of the
 * diagonals.  Returns 0 if the matrix is not positive. */
int nb_arrow_common_step(const nb_arrow *arrow, const double *sum, double damping,
                         double *step, double *work);

/** step[n] of a picture: that of the common variables, then its own. */
void nb_arrow_step(const nb_arrow *arrow, const double *common, const double *Y,
                   double *step);

/** How much the loss of a picture falls by a step, as its equations say. */
double nb_arrow_gain(const nb_arrow *arrow, const double *M, const double *G,
                     const double *step);

/** Covariance of a picture's own variables i and j: inverse[own][own] of its block, Y without damping, C[common][common] the covariance
 * of the common ones. */
double nb_arrow_covariance(const nb_arrow *arrow, const double *inverse, const double *Y,
                           const double *C, int i, int j);

#endif
