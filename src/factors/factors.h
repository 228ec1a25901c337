/* SPDX-License-Identifier: MIT */
/** Structure factors of P1 in a box: the common form between models, reflection files and lists,
 * and dumps and the scene. */
#ifndef NB_FACTORS_FACTORS_H
#define NB_FACTORS_FACTORS_H

#include <stddef.h>
#include <stdint.h>

#include "../nanobragg.h"

/** |h| <= H[0], |k| <= H[1], |l| <= H[2]; index ((h + H0) n1 + (k + H1)) n2 + (l + H2), n = 2 H + 1.
 * Friedel mates apart. */
typedef struct nb_factor_grid {
    int H[3];
    double cell[6];    /* A, deg: cell of the file, which may differ from the crystal's */
    double wavelength; /* A; of the anomalous part */
    double *F;       /* owned; electrons; NaN: no value (the table then has default_F) */
    float *phase;    /* owned; rad; NULL: unknown, NaN: unknown there */
    uint8_t *absent; /* owned; 1: systematically absent (F is 0); NULL: none */
} nb_factor_grid;

/** Indices low[i] .. low[i] + n[i] - 1. */
typedef struct nb_factor_box {
    int low[3], n[3];
} nb_factor_box;

/** F are multiplied by k exp(-B s^2/4). */
typedef struct nb_factor_weight {
    double k, B;    /* B in A^2 */
    double cell[6]; /* A, deg: of s */
} nb_factor_weight;

/** A grid without values (F is NaN), phases or marks of absence.  Errors: NB_ERR_INPUT (indices beyond
 * 10000 or too many voxels; names -dmin), NB_ERR_NOMEM. */
nb_status nb_factor_grid_new(const double cell[6], const int H[3], nb_factor_grid *out,
                             nb_error *err);
/** Whether such a box is allowed; NB_ERR_INPUT. */
nb_status nb_factor_grid_check(const int H[3], nb_error *err);
/** Add optional arrays to a grid: phases (NaN), marks of absence (0). */
nb_status nb_factor_grid_add_phases(nb_factor_grid *grid, nb_error *err);
nb_status nb_factor_grid_add_absences(nb_factor_grid *grid, nb_error *err);
void nb_factor_grid_free(nb_factor_grid *grid);

/** The box |h| <= H[0] ... */
nb_factor_box nb_factor_box_of(const int H[3]);
/** The smallest box that holds all values; if there are none, the index 0 0 0 alone. */
nb_factor_box nb_factor_grid_filled(const nb_factor_grid *grid);
size_t nb_factor_box_voxels(const nb_factor_box *box);
/** Is -h -k -l in it for each h k l? */
int nb_factor_box_has_mates(const nb_factor_box *box);

static inline size_t nb_factor_grid_at(const nb_factor_grid *g, int h, int k, int l)
{
    return ((size_t)(h + g->H[0]) * (size_t)(2 * g->H[1] + 1) + (size_t)(k + g->H[1])) *
               (size_t)(2 * g->H[2] + 1) +
           (size_t)(l + g->H[2]);
}
static inline size_t nb_factor_grid_voxels(const nb_factor_grid *g)
{
    return (size_t)(2 * g->H[0] + 1) * (size_t)(2 * g->H[1] + 1) *
           (size_t)(2 * g->H[2] + 1);
}

/** The reciprocal metric of a cell: s^2 = h.G.h in 1/A^2 with G = xx yy zz xy xz yz, the factors 2 of
 * the mixed terms included. */
void nb_reciprocal_metric(const double cell[6], double G[6]);
double nb_cell_volume(const double cell[6]); /* A^3 */
static inline double nb_s_squared(const double G[6], int h, int k, int l)
{
    return G[0] * h * h + G[1] * k * k + G[2] * l * l + G[3] * h * k + G[4] * h * l +
           G[5] * k * l;
}

/** The largest s^2 that counts as d >= dmin. An index exactly on the limit is inside in spite of
 * rounding. */
static inline double nb_s_squared_limit(double dmin)
{
    return (1 + 1e-9) / (dmin * dmin);
}

/** Largest |h|, |k|, |l| with d >= dmin. */
void nb_index_limits(const double cell[6], double dmin, int H[3]);

/** The l of a row (h, k) with s^2 <= limit, |l| <= L: *first..*last; 0 if there is none. */
int nb_row_of_l(const double G[6], double limit, int h, int k, int L, int *first,
                int *last);

#endif
