/* SPDX-License-Identifier: MIT */
/** Stages on neighbouring pixels, in double precision and without contraction: the same
 * bits for every instruction set and any number of threads. */
#ifndef NB_IMAGE_STAGES_H
#define NB_IMAGE_STAGES_H

#include <math.h>
#include <stdint.h>

#include "../physics/hostdevice.h"
#include "adu.h"
#include "photons.h"
#include "poisson.h"
#include "product.h"

enum { NB_PIECE = 64 /* equals NB_NOISE_BLOCK */ };

/** Consecutive pixels of a row, all in one panel. */
typedef struct nb_stage_piece {
    const nb_photons *photons;
    size_t pixel; /* first pixel, in the stack */
    int count;    /* <= NB_PIECE */
    int panel;
} nb_stage_piece;

/** A row of the stack. */
typedef struct nb_stack_row {
    int panel;
    size_t start;   /* first pixel, in the stack */
    int columns;    /* columns of the panel */
    int first, end; /* rendered columns; first == end if none is rendered */
} nb_stack_row;

nb_stack_row nb_stack_row_of(const nb_scene *scene, int row);

/** Set v[NB_PIECE] to the expected photons, or to 0 for masked pixels and after the last
 * pixel. */
void nb_piece_load(const nb_stage_piece *piece, double *v);

/** Apply stages[from ... to-1], except NB_STAGE_SPREAD, to v[NB_PIECE]. NB_STAGE_GAIN
 * adds adc. */
void nb_piece_apply(const nb_stage_piece *piece, const nb_stage *stages, int from, int to,
                    double adc, double *v);

/** Source of the counts of a row: photons after n stages. */
typedef struct nb_light_source {
    const nb_photons *photons;
    const nb_stage *stages;
    int n;
} nb_light_source;

/** Write the counts of a row of the stack to n[columns of its panel + NB_PIECE]. */
void nb_light_counts(const nb_light_source *source, int row, double *n);

/** Factor of the beam's intensity in a frame; rms: relative r.m.s. of the flicker
 * (NB_STAGE_FLICKER). */
double nb_flicker_factor(int64_t seed, uint32_t frame, double rms);

/* Stages on one pixel, and its integer, in the same way on host and device. No operation
 * may be contracted, as in poisson.h. */

/** Mean counts of a paralysable counter for a mean of photons without dead time. */
NB_HD double nb_after_deadtime(double mean, double per_exposure)
{
    double dead = mean * per_exposure;
    if (!(mean > 0))
        return mean;
    return dead < 700 ? mean * nb_exact_exp(-dead) : 0;
}

/** Mean of a pixel after the n stages that come before the counts. */
NB_HD double nb_mean_behind(const nb_stage *stages, int n, double mean)
{
    for (int i = 0; i < n; i++) {
        if (stages[i].kind == NB_STAGE_FLICKER)
            mean = mean * stages[i].amount;
        else if (stages[i].kind == NB_STAGE_DEADTIME)
            mean = nb_after_deadtime(mean, stages[i].amount);
    }
    return mean;
}

/** v times 1 + rms * deviate, the error of a pixel's gain; the factor is at least 0. */
NB_HD double nb_calibrated(double v, double rms, double deviate)
{
    double factor = 1 + rms * deviate;
    return v * (factor > 0 ? factor : 0);
}

#endif
