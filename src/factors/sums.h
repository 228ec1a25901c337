/* SPDX-License-Identifier: MIT */
/** Sums over the atoms of a model: cell, atoms, direct and Fourier sums, bulk solvent. */
#ifndef NB_FACTORS_SUMS_H
#define NB_FACTORS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "../nanobragg.h"
#include "../base/matrix.h"
#include "../base/threads.h"
#include "model.h"
#include "factors.h"

/** Variant of a function for an instruction set, or the base variant if this CPU does not
 * have the set. */
#ifdef __x86_64__
#define NB_VARIANT(name, asked)                                                          \
    (nb_runs(asked) == NB_ISA_AVX512 ? name##_avx512                                     \
     : nb_runs(asked) == NB_ISA_AVX2 ? name##_avx2                                       \
                                     : name##_base)
#else
#define NB_VARIANT(name, asked) ((void)(asked), name##_base)
#endif
static inline nb_isa nb_runs(nb_isa asked)
{
    nb_isa isa = NB_ISA_SCALAR;
    nb_cpu_choose(asked, &isa, NULL);
    return isa;
}

/* --- Axes of a cell and 3 x 3 matrices, row by row --- */

/** Matrix A of r = A x, with the axes as columns: a along x, b in the xy plane. */
void nb_cell_axes(const double cell[6], double A[9]);

void nb_transform(const double m[9], const double v[3], double out[3]);

/** out = m u m^T for a symmetric u = 11 22 33 12 13 23. */
void nb_turn_symmetric(const double m[9], const double u[6], double out[6]);
/** Smallest and largest principal value of a symmetric u = 11 22 33 12 13 23. */
void nb_principal_limits(const double u[6], double *low, double *high);

/* --- The atoms of a sum --- */

/** An atom of the asymmetric unit, or of an NCS copy with -ncs apply. */
typedef struct nb_site {
    double x[3];    /* fractional */
    double q;       /* occupancy in the sum */
    double beta[6]; /* T = exp(-nb_s_squared(beta, h, k, l)), packed like a metric */
    double B_low, B_high; /* A^2; smallest and largest principal value of B */
    int Z;
    const nb_atom *atom; /* atom of the structure, not owned */
} nb_site;

typedef struct nb_sites {
    nb_site *site; /* owned; in order of Z, atoms of one Z in the order of the file */
    size_t count;
    /* number of atoms on special positions, and of atoms in alternative conformations */
    size_t special, alternates;
} nb_sites;

/** Choose, check and place the atoms; docs/physics.md, "Structure factors of a model".
 * *out is zero on error. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_sites_make(const nb_structure *structure, const nb_model_options *options,
                        const char *name, const nb_hooks *hooks, nb_sites *out,
                        nb_error *err);
void nb_sites_free(nb_sites *sites);

/* --- Direct sums over atoms --- */

/** Reflections of a sum. */
typedef struct nb_index_list {
    const int (*hkl)[3]; /* in rows of l */
    size_t n;
    double s2_limit; /* 1/A^2; limit of s^2 of the list */
} nb_index_list;

/** Method of a sum over sites, and the buffer for its result. */
typedef struct nb_sum_job {
    const nb_sum_operators *operators;
    nb_index_list list;
    const double *cell; /* A, deg */
    double dmin;        /* A */
    int threads;
    nb_isa isa;
    int only_grid; /* 1: nb_density_sum puts every possible site on the grid */
} nb_sum_job;

/** Add S(h) = sum over sites and operators of q T(h R) exp(2 pi i (h R x + h t)) to S,
 * [2 n]. Errors: NB_ERR_NOMEM. */
nb_status nb_direct_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                        double *S, nb_error *err);

/* --- Fourier sums of a real function on a grid, by FFTW or as plain sums --- */

/** X(h) = sum over points of f exp(2 pi i (h u/n0 + k v/n1 + l w/n2)) for |h| <= H0,
 * |k| <= H1, 0 <= l <= H2 with s^2 inside the limit. */
typedef struct nb_fourier_box {
    int n[3], H[3];
    double G[6], s2_limit; /* metric and limit, which choose the columns (k, l) */
    double *X; /* owned; re, im at ((h + H0)(2 H1 + 1) + k + H1)(H2 + 1) + l */
} nb_fourier_box;

/** Write plane u of the function to out, [n1][n2]. scratch: work space of the thread. */
typedef void nb_plane_fn(const void *data, int u, double *scratch, double *out);

/** Function on a grid. */
typedef struct nb_planes {
    nb_plane_fn *fill;
    const void *data;
    size_t scratch; /* number of doubles of the scratch */
} nb_planes;

/** Make box->X from n, H, G and s2_limit; n_i > 2 H_i. With is_plain, plain sums go along
 * c, then b, then a; otherwise FFTW must be loaded. Threads divide planes and columns.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_fourier_make(nb_fourier_box *box, const nb_planes *planes, int is_plain,
                          int threads, nb_error *err);
void nb_fourier_free(nb_fourier_box *box);

/** X(h) for h inside the limit. For l < 0, X is the conjugate of X(-h). */
static inline void nb_fourier_at(const nb_fourier_box *b, const int h[3], double X[2])
{
    int sign = h[2] < 0 ? -1 : 1;
    size_t at = ((size_t)(sign * h[0] + b->H[0]) * (size_t)(2 * b->H[1] + 1) +
                 (size_t)(sign * h[1] + b->H[1])) *
                    (size_t)(b->H[2] + 1) +
                (size_t)(sign * h[2]);
    X[0] = b->X[2 * at];
    X[1] = sign * b->X[2 * at + 1];
}

/* --- Lists of the objects that meet each plane of a periodic grid --- */

/** Object `which` meets plane u. u is not reduced to the cell. */
typedef struct nb_visit {
    int which, u;
} nb_visit;

/** Plane p has the visits first[p]..first[p + 1] - 1, in the order of the objects. */
typedef struct nb_visits {
    size_t *first;   /* owned; [planes + 1] */
    nb_visit *visit; /* owned */
} nb_visits;

/** Planes from[0]..from[1], any whole numbers, that an object meets. */
typedef void nb_extent_fn(const void *things, size_t which, int from[2]);

/** List the visits. The caller frees *out (nb_visits_free). Errors: NB_ERR_NOMEM. */
nb_status nb_visits_make(const void *things, size_t count, nb_extent_fn *extent,
                         int planes, nb_visits *out, nb_error *err);
void nb_visits_free(nb_visits *visits);

/** a modulo n, 0..n-1. */
static inline int nb_modulo(int a, int n)
{
    a %= n;
    return a < 0 ? a + n : a;
}

/* --- Sums over atoms by a Fourier transform of the density, element by element ---
 * Ten Eyck, Acta Cryst. A33, 486 (1977); blur: Navaza, Acta Cryst. A58, 568 (2002). */

/** Make the sum of nb_direct_sum to 1e-6. Elements of few atoms, and atoms for which the
 * grid is slower, are summed directly. FFTW must be loaded. grid[] receives the points
 * along a, b, c if a grid is used. Errors: NB_ERR_NOMEM. */
nb_status nb_density_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                         double *S, int grid[3], nb_error *err);

/** Smallest number of points >= `least` that is a product of 2, 3 and 5. */
int nb_smooth_size(double least);

/* --- A mask of bits on a grid --- */

/** A mask: point u, v, w is bit w % 64 of word w / 64 of row u n1 + v. Bits from n2 on
 * are 0. */
typedef struct nb_mask {
    int n[3];
    size_t words;   /* number of words of a row */
    uint64_t *bits; /* owned */
    double D[6];    /* A^2; squared distance of a step du, dv, dw, packed as a metric */
} nb_mask;

/** Ball around a point, with the centre in steps of the grid. */
typedef struct nb_ball {
    double centre[3]; /* 0..n */
    double radius;    /* A */
} nb_ball;

/** Make an empty mask. The caller frees *out (nb_mask_free). Errors: NB_ERR_NOMEM. */
nb_status nb_mask_new(const double cell[6], const int n[3], nb_mask *out, nb_error *err);
void nb_mask_free(nb_mask *mask);

/** Set the points inside of balls and their images in all cells. Errors: NB_ERR_NOMEM. */
nb_status nb_mask_set_balls(nb_mask *mask, const nb_ball *balls, size_t count,
                            int threads, nb_error *err);

/** Invert all points. */
void nb_mask_invert(nb_mask *mask);

/** Set every point within `distance` (A) of a set point. Errors: NB_ERR_NOMEM. */
nb_status nb_mask_widen(nb_mask *mask, double distance, int threads, nb_error *err);

size_t nb_mask_count(const nb_mask *mask);

static inline int nb_mask_at(const uint64_t *row, int w)
{
    return row[w / 64] >> (w % 64) & 1;
}

/* --- The bulk solvent of a model ---
 * Jiang & Brunger, J. Mol. Biol. 243, 100 (1994). The grid is fixed, so that the mask is
 * reproducible (docs/physics.md). */

/** M(h) = V/N sum over points of solvent of exp(2 pi i h x): set M, solvent_fraction and
 * solvent_grid of *out for the given cell, symmetry and hkl. Errors: NB_ERR_NOMEM. */
nb_status nb_solvent_sum(const nb_sites *sites, nb_partials *out, int threads,
                         nb_error *err);

#endif
