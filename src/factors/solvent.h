/* SPDX-License-Identifier: MIT */
/** A mask of bits on a grid. */
#ifndef NB_FACTORS_SOLVENT_H
#define NB_FACTORS_SOLVENT_H

#include <stddef.h>
#include <stdint.h>

#include "../nanobragg.h"
#include "sites.h"

/** Point u, v, w is bit w % 64 of word w / 64 of row u n1 + v; bits beyond n2 are 0. */
typedef struct nb_mask {
    int n[3];
    size_t words;   /* of a row */
    uint64_t *bits; /* owned */
    double D[6];    /* squared distance, A^2, of a step du, dv, dw: packed as a metric */
} nb_mask;

/** A ball around a point of the grid's steps. */
typedef struct nb_ball {
    double centre[3]; /* 0..n */
    double radius;    /* A */
} nb_ball;

/** Errors: NB_ERR_NOMEM. */
nb_status nb_mask_new(const double cell[6], const int n[3], nb_mask *out, nb_error *err);
void nb_mask_free(nb_mask *mask);

/** Set the points nearer than the radius to the centre or an image of it by whole cells. */
nb_status nb_mask_set_balls(nb_mask *mask, const nb_ball *balls, size_t count,
                            int threads, nb_error *err);

/** Invert all. */
void nb_mask_invert(nb_mask *mask);

/** Set every point within `distance` (A) of a set one. */
nb_status nb_mask_widen(nb_mask *mask, double distance, int threads, nb_error *err);

size_t nb_mask_count(const nb_mask *mask);

static inline int nb_mask_at(const uint64_t *row, int w)
{
    return row[w / 64] >> (w % 64) & 1;
}

/* --- The bulk solvent of a model ---
 * Jiang & Brunger, J. Mol. Biol. 243, 100 (1994); the grid is fixed, so that the mask is
 * reproducible (docs/physics.md). */

/** M(h) = V/N sum over points of solvent exp(2 pi i h x) of out->hkl: sets M, solvent_fraction and
 * solvent_grid of *out, whose cell, symmetry and reflections are there.  Errors: NB_ERR_NOMEM. */
nb_status nb_solvent_sum(const nb_sites *sites, nb_partials *out, int threads,
                         nb_error *err);

#endif
