/* SPDX-License-Identifier: MIT */
/** Many samples of a smooth function become few of the same weight, mean and covariance. */
#ifndef NB_LIGHT_MERGE_H
#define NB_LIGHT_MERGE_H

#define NB_MERGE_SPACE 4

/** A sample in a space where distances are those of the function's argument. */
typedef struct nb_merge_item {
    double weight, y[NB_MERGE_SPACE];
} nb_merge_item;

/** Merge n samples in place; returns how many are left. per: 1/length of the function, so that
 * |f''| <= 4.2 f per^2. The error is of second order where 2.1 per^2 (mean square distance) is below 5e-4, else of
 * fourth; samples that are far apart stay apart. */
int nb_merge(nb_merge_item *items, int n, double per);

#endif
