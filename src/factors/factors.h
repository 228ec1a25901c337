/* SPDX-License-Identifier: MIT */
/** Structure factors of P1 in a box: common to models, files, lists, dumps and scenes. */
#ifndef NB_FACTORS_FACTORS_H
#define NB_FACTORS_FACTORS_H

#include <stddef.h>
#include <stdint.h>

#include "../io/structure/gemmi.h"
#include "../nanobragg.h"

/** F of |h| <= H[0], |k| <= H[1], |l| <= H[2]. Friedel mates are separate. hkl has the
 * index ((h + H0) n1 + (k + H1)) n2 + (l + H2), n = 2 H + 1. */
typedef struct nb_factor_grid {
    int H[3];
    /* A, deg; cell of the file, which may differ from that of the crystal */
    double cell[6];
    double wavelength; /* A; wavelength of the anomalous part */
    double *F;         /* owned; electrons; NaN without a value (a table has default_F) */
    float *phase;      /* owned; rad; NaN if unknown; or NULL if all are unknown */
    uint8_t *absent;   /* owned; 1 for systematic absences (F is 0); or NULL */
} nb_factor_grid;

/** Indices low[i] .. low[i] + n[i] - 1. */
typedef struct nb_factor_box {
    int low[3], n[3];
} nb_factor_box;

/** Factor k exp(-B s^2/4) on F. */
typedef struct nb_factor_weight {
    double k, B;    /* B in A^2 */
    double cell[6]; /* A, deg; cell for s = 1/d */
} nb_factor_weight;

/** Make a grid with F = NaN, without phases and marks. Errors: NB_ERR_NOMEM, NB_ERR_INPUT
 * (indices above 10000 or too many voxels; the message names -dmin). */
nb_status nb_factor_grid_new(const double cell[6], const int H[3], nb_factor_grid *out,
                             nb_error *err);
/** Check the size of a box. Errors: NB_ERR_INPUT, as of nb_factor_grid_new. */
nb_status nb_factor_grid_check(const int H[3], nb_error *err);
/** Add phases (NaN) or marks of absence (0) to a grid. Errors: NB_ERR_NOMEM. */
nb_status nb_factor_grid_add_phases(nb_factor_grid *grid, nb_error *err);
nb_status nb_factor_grid_add_absences(nb_factor_grid *grid, nb_error *err);
void nb_factor_grid_free(nb_factor_grid *grid);

/** Box |h| <= H[0], |k| <= H[1], |l| <= H[2]. */
nb_factor_box nb_factor_box_of(const int H[3]);
/** Smallest box that holds all values; 0 0 0 alone if the grid has no values. */
nb_factor_box nb_factor_grid_filled(const nb_factor_grid *grid);
size_t nb_factor_box_voxels(const nb_factor_box *box);
/** True if the box contains -h -k -l of each h k l. */
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

/** Reciprocal metric of a cell: s^2 = h.G.h in 1/A^2. G is xx yy zz xy xz yz; the mixed
 * terms include the factor 2. */
void nb_reciprocal_metric(const double cell[6], double G[6]);
double nb_cell_volume(const double cell[6]); /* A^3 */
static inline double nb_s_squared(const double G[6], int h, int k, int l)
{
    return G[0] * h * h + G[1] * k * k + G[2] * l * l + G[3] * h * k + G[4] * h * l +
           G[5] * k * l;
}

/** Largest s^2 that counts as d >= dmin, in 1/A^2. In spite of rounding, an index exactly
 * on the limit is inside. */
static inline double nb_s_squared_limit(double dmin)
{
    return (1 + 1e-9) / (dmin * dmin);
}

/** Find the largest |h|, |k|, |l| with d >= dmin. */
void nb_index_limits(const double cell[6], double dmin, int H[3]);

/** Find l = *first..*last of row (h, k), s^2 <= limit, |l| <= L. Returns 0 without l. */
int nb_row_of_l(const double G[6], double limit, int h, int k, int L, int *first,
                int *last);

/* Operators act on h as a row vector: h R, with F(h R) = F(h) exp(-2 pi i h t). */

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
/** Image R x + t of fractional coordinates. */
static inline void nb_image_of(const nb_symop *op, const double x[3], double out[3])
{
    for (int j = 0; j < 3; j++)
        out[j] = op->R[3 * j] * x[0] + op->R[3 * j + 1] * x[1] + op->R[3 * j + 2] * x[2] +
                 op->t[j] / 24.;
}
/** List the operators with different rotations, the identity first; if the cell does not
 * fit the group, the identity alone. Returns the number of operators. */
int nb_rotations_of(const nb_symmetry *sg, int fits, nb_symop ops[NB_SYMOPS_MAX]);
/** True if h is systematically absent: an operator has h R = h and h t not whole. */
int nb_is_absent(const nb_symmetry *sg, const int h[3]);

/** Six indices whose s^2 determine a metric. */
extern const int nb_six_indices[6][3];
/** True if the cell of metric G fits the group: the rotations do not change s^2. */
int nb_group_fits(const nb_symmetry *sg, const double G[6]);

/** List one reflection per orbit under operators and inversion: d >= dmin, no absences,
 * in rows of l, with 0 0 0 if with_000 is 1. If the cell does not fit the group, list one
 * reflection per Friedel pair. The caller frees *hkl (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_unique_reflections(const nb_symmetry *sg, const double cell[6], double dmin,
                                int with_000, int (**hkl)[3], size_t *count,
                                nb_error *err);

/** Operators of a sum. Operators that differ only by centring or inversion are left out.
 * If h is not absent, P(h) = times (S(h) + exp(2 pi i h t0) conj(S(h))), where S is the
 * sum over `ops`. Only a group with an inversion -x + t0 has the second term. */
typedef struct nb_sum_operators {
    int count;
    nb_symop ops[NB_SYMOPS_MAX];
    int times; /* number of centring translations, with 0 0 0 */
    int has_inversion;
    nb_symop inversion;
    int l_step; /* step in l between the reflections of a row (h, k) under centring */
} nb_sum_operators;

void nb_sum_operators_of(const nb_symmetry *sg, nb_sum_operators *out);

/** Replace S by P of each reflection; P is [2 n]: re, im. */
void nb_complete_sums(const nb_sum_operators *operators, const int (*hkl)[3], size_t n,
                      double *P);

/* --- Special positions: order of a site = number of operators that keep the site --- */

#define NB_SAME_SITE 0.05 /* A; images within this distance are one site */

/** Number (>= 1) of operators that move x by no more than `distance` A. A:
 * nb_cell_axes. */
int nb_site_order(const nb_symmetry *sg, const double A[9], const double x[3],
                  double distance);

/** Convert the multiplicities of a small-molecule CIF into orders of the sites. Some
 * programs write the number of positions in the cell (core CIF dictionary), others the
 * order (SHELXL-97). The meaning that agrees with more coordinates is taken. */
void nb_take_multiplicities(nb_structure *structure);

/** Order of the site of an atom of a small-molecule CIF: the order in the file, or if the
 * coordinates contradict it (counted in *contradicted) the number of images within
 * NB_SAME_SITE. *near counts atoms without an order that overlap an image (< 0.5 A). */
int nb_small_site_order(const nb_structure *structure, const double A[9],
                        const nb_atom *atom, size_t *contradicted, size_t *near);

/** Choose the first or second origin of a symbol by the orders of sites, then by formula
 * units, then by distances of atoms. If these do not decide, the first is taken. The note
 * names the choice. */
void nb_choose_origin(nb_structure *structure);

#endif
