/* SPDX-License-Identifier: MIT */
/** Operators on Miller indices: h is a row vector, h R; F(h R) = F(h) exp(-2 pi i h t). */
#ifndef NB_FACTORS_SYMMETRY_H
#define NB_FACTORS_SYMMETRY_H

#include "../io/structure/gemmi.h"

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
/** Is h systematically absent: does an operator have h R = h and h t not whole? */
int nb_is_absent(const nb_symmetry *sg, const int h[3]);

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

/** Is the product of any two operators one of them, up to whole translations? */
int nb_is_group(const nb_symmetry *sg);

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
