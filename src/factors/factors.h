/* SPDX-License-Identifier: MIT */
/** Structure factors of P1 in a box: the common form between models, reflection files and lists,
 * and dumps and the scene. */
#ifndef NB_FACTORS_FACTORS_H
#define NB_FACTORS_FACTORS_H

#include <stddef.h>
#include <stdint.h>

#include "../io/structure/gemmi.h"
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

/* Operators on Miller indices: h is a row vector, h R; F(h R) = F(h) exp(-2 pi i h t). */

static inline void nb_hR(const nb_symop *op, const int h[3], int out[3])
{
    for (int j = 0; j < 3; j++)
        out[j] = h[0] * op->R[j] + h[1] * op->R[3 + j] + h[2] * op->R[6 + j];
}
/** h t in 24ths of a turn, reduced to 0..23. */
static inline int nb_ht(const nb_symop *op, const int h[3])
{
    int t = (h[0] * op->t[0] + h[1] * op->t[1] + h[2] * op->t[2]) % 24;
    return t < 0 ? t + 24 : t;
}
/** The image of fractional coordinates: R x + t. */
static inline void nb_image_of(const nb_symop *op, const double x[3], double out[3])
{
    for (int j = 0; j < 3; j++)
        out[j] = op->R[3 * j] * x[0] + op->R[3 * j + 1] * x[1] + op->R[3 * j + 2] * x[2] +
                 op->t[j] / 24.;
}
/** The operators with different rotations, the identity first; without others if the group does not fit.  Returns how many. */
int nb_rotations_of(const nb_symmetry *sg, int fits, nb_symop ops[NB_SYMOPS_MOST]);
/** Is h systematically absent: does an operator have h R = h and h t not whole? */
int nb_is_absent(const nb_symmetry *sg, const int h[3]);

/** Indices whose s^2 give a metric. */
extern const int nb_six_indices[6][3];
/** Do the rotations keep s^2 of a metric (nb_reciprocal_metric)? Then the cell fits the group. */
int nb_group_fits(const nb_symmetry *sg, const double G[6]);

/** One reflection of every orbit under the operators and inversion, in rows of l: d >= dmin,
 * without absences, 0 0 0 only on request. If the cell does not fit the group: one of every
 * Friedel pair. *hkl (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_unique_reflections(const nb_symmetry *sg, const double cell[6], double dmin,
                                int with_000, int (**hkl)[3], size_t *count,
                                nb_error *err);

/** The operators that a sum needs, without those that repeat it: for h that is not absent P(h) =
 * times (S(h) + exp(2 pi i h t0) conj(S(h))), S over `ops`, the second term only with an
 * inversion -x + t0. */
typedef struct nb_sum_operators {
    int count;
    nb_symop ops[NB_SYMOPS_MOST];
    int times; /* centring */
    int has_inversion;
    nb_symop inversion;
    int l_step; /* step in l between reflections of a row (h, k) that centring allows */
} nb_sum_operators;

void nb_sum_operators_of(const nb_symmetry *sg, nb_sum_operators *out);

/** Make P from S of each reflection; P is [2 n]. */
void nb_complete_sums(const nb_sum_operators *operators, const int (*hkl)[3], size_t n,
                      double *P);

/* --- Special positions: by how many operators a site is its own image --- */

#define NB_SAME_SITE 0.05 /* A; images within this distance are one site */

/** Operators (at least the identity) that bring x to within `distance` A of itself; A: nb_cell_axes. */
int nb_site_order(const nb_symmetry *sg, const double A[9], const double x[3],
                  double distance);

/** Convert the multiplicities of a small-molecule CIF into orders of the site's symmetry. Some
 * programs write the number of positions in the cell (as the core CIF dictionary says), others
 * the order itself (SHELXL-97). The meaning that agrees with more coordinates is taken. */
void nb_take_multiplicities(nb_structure *structure);

/** The order of an atom of a small-molecule CIF of occupancy q: that of the file, unless the
 * coordinates contradict it (counted in *contradicted); else the number of images within
 * NB_SAME_SITE. *near counts atoms with full images closer than two atoms can be. */
int nb_small_site_order(const nb_structure *structure, const double A[9],
                        const nb_atom *atom, size_t *contradicted, size_t *near);

/** Choose between two origins of a symbol: the second if formula units, orders of the sites or
 * distances of atoms agree better with it. The note of the symmetry names the choice. */
void nb_choose_origin(nb_structure *structure);

#endif
