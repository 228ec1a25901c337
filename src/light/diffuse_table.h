/* SPDX-License-Identifier: MIT */
/** D of physics/diffuse.h by a table, as Ewald divides a sum: within an ellipsoid u^2 = near2 about each reflection a
 * polynomial in u^2 continues its halo, smoothly. The sum of these soft halos is a spline between the points of a grid,
 * which are exact, by FFT. What a halo has beyond the soft one is added near the reflections, one by one. */
#ifndef NB_LIGHT_DIFFUSE_TABLE_H
#define NB_LIGHT_DIFFUSE_TABLE_H

#include <stddef.h>

#include "../nanobragg.h"
#include "../physics/diffuse.h"

#define NB_DIFFUSE_BEHIND 2  /* floats behind coefficients, which are read in fours */
#define NB_NEAR_ROWS 128     /* of the near halos, by X */
#define NB_DIFFUSE_X_UNIT 4. /* rows are at equal steps of log(1 + X/unit) */

/** One form's. */
typedef struct nb_diffuse_part {
    nb_diffuse_form form;
    int per[3]; /* points from one index to the next */
    int low[3], n[3];
    float *c;     /* owned; [n0][n1][n2] coefficients of D/(1 - exp(-X)); NULL: no grid */
    float *power; /* owned; I0 of the box of reflections; NULL if no sum takes single ones */
    double most; /* of power */
    double near2; /* u^2 within which reflections are added one by one; 0: the grid has all light */
    double half[3];     /* of the box about that ellipsoid, indices */
    double half_one[3]; /* about u = 1 */
    double many;        /* reflections inside of u = 1 */
    int columns;        /* of near: nb_curve_at */
    float *near;        /* owned; [NB_NEAR_ROWS][columns]: halos without the soft ones */
} nb_diffuse_part;

typedef struct nb_diffuse_table {
    nb_diffuse model;
    int low[3], n[3]; /* box of the reflections */
    double reach;     /* largest |q| that it serves, 1/A */
    double X_most;    /* at that */
    double rows_per;  /* rows of near halos for a unit of log(1 + X/unit) */
    int orders;       /* that have a share in it */
    int faint_orders; /* that have one where Gaussian halos end */
    double faint;     /* light of Gaussian halos that is none */
    uint64_t mark;    /* of what it was made from, for devices, which keep it; 0: none */
    nb_diffuse_part parts[NB_DIFFUSE_FORMS];
} nb_diffuse_table;

/** What a table is made from. */
typedef struct nb_diffuse_source {
    const nb_diffuse *model;
    const nb_factor_table *factors;
    int table;      /* which of them */
    double edge[3]; /* of the cell, A */
    double reach;   /* largest |q|, 1/A */
    int direct;     /* no grid: few samples, which add all reflections */
    int threads;
} nb_diffuse_source;

/** Bytes that a table will take, with what makes it. */
double nb_diffuse_table_needs(const nb_diffuse_source *source);

/** *table is shared (nb_shared_drop).  Errors: NB_ERR_NOMEM (also above half of the free memory), NB_ERR_UNSUPPORTED without FFTW,
 * NB_ERR_INPUT (X too large). */
nb_status nb_diffuse_table_new(const nb_diffuse_source *source, nb_diffuse_table **table,
                               nb_error *err);

double nb_diffuse_table_bytes(const nb_diffuse_table *table);

/* Sums over a lattice of sources, S(x) = sum_g I(g) K(x - g), at the points of a lattice that is shifted against it. */

/** K over a row: out[i] = K(x0, x1, x2 + i), i < n. */
typedef void nb_lattice_kernel_fn(const void *data, const double x[3], int n, double *out);

enum { NB_LATTICE_PLACES = 16 }; /* sums at once, at most */

typedef struct nb_lattice_sum {
    int period[3];
    size_t row;     /* doubles from one row to the next */
    void *in, *out; /* plans of transforms in place */
    double *source; /* owned; the transform of I, divided by the number of points */
    double *work[NB_LATTICE_PLACES]; /* owned; K, its transform, their product, S */
    int places, threads;
} nb_lattice_sum;

/** Sources I[n0][n1][n2], the first at the indices `low`; sums are wanted at |index| <= reach along each axis, also of
 * shifted points. K is not cut: the period is as long as the longest distance needs. There are as many places of `places`
 * as there is memory for, at least one. To be cleared, on errors too.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED without
 * FFTW. */
nb_status nb_lattice_sum_new(const float *I, const int low[3], const int n[3],
                             const int reach[3], int places, int threads,
                             nb_lattice_sum *sum, nb_error *err);
void nb_lattice_sum_clear(nb_lattice_sum *sum);

/** S(o + shift) for all whole o, |o| <= reach, in a place: afterwards nb_lattice_sum_row has them.  Several threads may
 * call, each for another place. */
void nb_lattice_sum_make(const nb_lattice_sum *sum, int place,
                         nb_lattice_kernel_fn *kernel, const void *data,
                         const double shift[3]);

/** S of the points (h, k, -reach[2] .. reach[2]) + shift, of which l = 0 is *returned; l < 0 is at l + period[2]. */
const double *nb_lattice_sum_row(const nb_lattice_sum *sum, int place, int h, int k);

/** Bytes of the sources, and of each place. */
double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3]);

/* Halos of all orders as functions of u^2 and X, and the few kernels whose sums make a grid. */

/** D/(1 - exp(-X)) of one reflection is, for each u^2, the sum of the kernels with the shares that X gives them: Lagrange's
 * weights of halos at a few X. */
typedef struct nb_diffuse_terms {
    int n, columns;
    double *kernel; /* owned; [n][columns] soft halos: nb_curve_at */
    double per;     /* steps of the shares for a unit of X */
    float *share;   /* owned; [n][NB_TERM_SHARES + 1] */
} nb_diffuse_terms;

enum {
    NB_TERMS = 24,        /* at most */
    NB_TERM_SHARES = 8192 /* steps in X */
};

/** Kernels that are soft within near2, up to u^2 = far2.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_terms_new(int gauss, double X_most, double near2, double far2,
                               nb_diffuse_terms *terms, nb_error *err);
void nb_diffuse_terms_clear(nb_diffuse_terms *terms);
/** How many there will be. */
int nb_diffuse_terms_count(int gauss, double X_most);

/** The share of a term; X in units of the step. */
static inline float nb_diffuse_share(const float *share, double X)
{
    const int i = X < NB_TERM_SHARES - 1 ? (int)X : NB_TERM_SHARES - 1;
    const double t = X < NB_TERM_SHARES ? X - i : 1;
    return (float)(share[i] + t * (share[i + 1] - share[i]));
}

/** Columns of curves up to u^2. */
int nb_curve_columns(double far2);

/** near[NB_NEAR_ROWS][columns]: halos without the soft ones, or whole (near2 0). */
void nb_diffuse_near_rows(int gauss, double X_most, double near2, int columns,
                          int threads, float *near);

/** The determinant of a form: the square of the volume of an index. */
double nb_diffuse_det(const double form[6]);
/** Half of the box about the ellipsoid of a form: form(x) <= limit. */
void nb_diffuse_half(const double form[6], double limit, double half[3]);

#endif
