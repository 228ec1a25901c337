/* SPDX-License-Identifier: MIT */
/** Statistics of one row of an image. Every renderer adds rows from these parts. */
#ifndef NB_BASE_ROW_SUMS_H
#define NB_BASE_ROW_SUMS_H

#include <stdint.h>

/** Sums over one row of the region of interest. Pixels that are not masked are lit. Every
 * sum has the same order: pixel f of the region's row belongs to lane f modulo 8, a lane
 * adds its pixels from left to right, and then the eight lanes are added in order. */
typedef struct nb_row_sums {
    double all;       /* values of all pixels */
    double squares;   /* squared deviations of all pixels from the row's mean */
    double sum, sum2; /* values and squares of the lit pixels */
    double max;       /* largest value of the lit pixels; -inf without a lit pixel */
    int64_t rendered; /* lit pixels */
    int64_t max_at; /* first pixel of the region's row with value max; -1: not searched */
} nb_row_sums;

#endif
