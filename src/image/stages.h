/* SPDX-License-Identifier: MIT */
/** What the stages make of neighbouring pixels, in double precision and without contraction: the same
 * bits for every instruction set and any number of threads. */
#ifndef NB_IMAGE_STAGES_H
#define NB_IMAGE_STAGES_H

#include "photons.h"

enum { NB_PIECE = 64 /* NB_NOISE_BLOCK */ };

/** Pixels of a row, all of one panel. */
typedef struct nb_stage_piece {
    const nb_photons *photons;
    size_t pixel; /* the first, in the stack */
    int count;    /* <= NB_PIECE */
    int panel;
} nb_stage_piece;

/** A row of the stack. */
typedef struct nb_stack_row {
    int panel;
    size_t start;   /* its first pixel, in the stack */
    int columns;    /* of its panel */
    int first, end; /* rendered columns; first == end: none */
} nb_stack_row;

nb_stack_row nb_stack_row_of(const nb_scene *scene, int row);

/** The place of the stage of this kind among n; -1: there is none. */
int nb_stage_at(const nb_stage *stages, int n, nb_stage_kind kind);

/** v[NB_PIECE] = the expected photons; 0 for masked pixels and behind the last one. */
void nb_piece_load(const nb_stage_piece *piece, double *v);

/** v[NB_PIECE] becomes what stages[from ... to-1] make of it, none of which is SPREAD; adc is added by
 * NB_STAGE_GAIN. */
void nb_piece_apply(const nb_stage_piece *piece, const nb_stage *stages, int from, int to,
                    double adc, double *v);

/** Where the counts of a row come from: photons behind n stages. */
typedef struct nb_light_source {
    const nb_photons *photons;
    const nb_stage *stages;
    int n;
} nb_light_source;

/** The counts of a row of the stack into n[columns of its panel + NB_PIECE]. */
void nb_light_counts(const nb_light_source *source, int row, double *n);

/** The factor of the source in this image, from its r.m.s. (NB_STAGE_FLICKER). */
double nb_flicker_factor(int64_t seed, uint32_t frame, double rms);

#endif
