/* SPDX-License-Identifier: MIT */
/** Table of D of physics/diffuse.h, in two parts like an Ewald sum. A soft halo is a halo
 * whose part inside of u^2 = near2 is replaced by a polynomial in u^2. An FFT sums the
 * soft halos at the points of a grid, and a spline interpolates between the points. To
 * this, a look-up adds halo minus soft halo for each near reflection. */
#ifndef NB_LIGHT_DIFFUSE_TABLE_H
#define NB_LIGHT_DIFFUSE_TABLE_H

#include <stddef.h>

#include "../nanobragg.h"
#include "../physics/diffuse.h"

/* spare floats after the coefficients, since they are read in vectors of 4 */
#define NB_DIFFUSE_BEHIND 2
#define NB_NEAR_ROWS 128     /* number of rows of near halos, one for each X */
#define NB_DIFFUSE_X_UNIT 4. /* rows are at equal steps of log(1 + X/unit) */

/** Grid and near halos of a form (nb_diffuse_form). */
typedef struct nb_diffuse_part {
    nb_diffuse_form form;
    int per[3];       /* number of points per Miller index */
    int low[3], n[3]; /* first point and number of points along each axis */
    float *c;       /* owned; [n0][n1][n2] coefficients of D/(1 - exp(-X)); may be NULL */
    float *power;   /* owned; I0/largest of each reflection, or NULL if not needed */
    double largest; /* largest I0 */
    double near2;   /* u^2 limit of single reflections; 0: all light is in the grid */
    double half[3]; /* half edges of the box around u^2 = near2, indices */
    double half_one[3]; /* half edges of the box around u = 1, indices */
    double many;        /* number of reflections inside of u = 1 */
    int columns;        /* number of columns of near (nb_curve_at) */
    float *near;        /* owned; [NB_NEAR_ROWS][columns]: halos minus soft halos */
} nb_diffuse_part;

typedef struct nb_diffuse_table {
    nb_diffuse model;
    int low[3], n[3]; /* box of the reflections */
    double reach;     /* 1/A; largest |q| of a look-up */
    double X_max;     /* largest X of the points */
    double rows_per;  /* number of rows of near halos per unit of log(1 + X/unit) */
    int orders;       /* orders with all but 1e-5 of the light at X_max */
    int faint_orders; /* limit of the orders in nb_diffuse_faint */
    double faint;     /* light of Gaussian halos that counts as 0 */
    /* devices keep the table under this number; 0: they do not keep it */
    uint64_t mark;
    nb_diffuse_part parts[NB_DIFFUSE_FORMS];
} nb_diffuse_table;

/** Source of a table. */
typedef struct nb_diffuse_source {
    const nb_diffuse *model;
    const nb_factor_table *factors;
    int table;      /* number of the table in factors */
    double edge[3]; /* A; edges of the cell */
    double reach;   /* 1/A; largest |q| */
    /* 1: no grid; each look-up sums all reflections, which is quicker for few samples */
    int direct;
    int threads;
} nb_diffuse_source;

/** Bytes of a table and of the work that makes it. */
double nb_diffuse_table_needs(const nb_diffuse_source *source);

/** Make a table; *table is shared (nb_shared_drop). Errors: NB_ERR_UNSUPPORTED (no FFTW),
 * NB_ERR_NOMEM (also above half of the free memory), NB_ERR_INPUT (X too large). */
nb_status nb_diffuse_table_new(const nb_diffuse_source *source, nb_diffuse_table **table,
                               nb_error *err);

double nb_diffuse_table_bytes(const nb_diffuse_table *table);

/* Sums over a lattice of sources g, S(x) = sum_g I(g) K(x - g), at a shifted lattice x */

/** Write a row of K: out[i] = K(x0, x1, x2 + i), i < n. */
typedef void nb_lattice_kernel_fn(const void *data, const double x[3], int n, double *out);

enum { NB_LATTICE_PLACES = 16 }; /* limit of simultaneous sums */

typedef struct nb_lattice_sum {
    int period[3];
    size_t row;     /* number of doubles from one row to the next */
    void *in, *out; /* owned; plans of transforms in place */
    double *source; /* owned; transform of I, divided by the number of points */
    /* owned; in turn K, its transform, the product, and S */
    double *work[NB_LATTICE_PLACES];
    int places, threads;
} nb_lattice_sum;

/** Begin sums over sources I[n0][n1][n2] from index `low` on, at points with |index| <=
 * reach and at shifted points. As memory allows, there are 1 to `places` work arrays
 * (places). The period of the transform is so long that K does not overlap with its
 * repetition. The caller clears *sum, after errors too: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED
 * (no FFTW). */
nb_status nb_lattice_sum_new(const float *I, const int low[3], const int n[3],
                             const int reach[3], int places, int threads,
                             nb_lattice_sum *sum, nb_error *err);
void nb_lattice_sum_clear(nb_lattice_sum *sum);

/** Make S(o + shift) for all whole |o| <= reach in work array `place`, for
 * nb_lattice_sum_row. Several threads may call with different places. */
void nb_lattice_sum_make(const nb_lattice_sum *sum, int place,
                         nb_lattice_kernel_fn *kernel, const void *data,
                         const double shift[3]);

/** Row of S at (h, k, l) + shift, |l| <= reach[2]; a negative l has index l +
 * period[2]. */
const double *nb_lattice_sum_row(const nb_lattice_sum *sum, int place, int h, int k);

/** Bytes for the sources. Each work array needs the same number. */
double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3]);

/* Halos of all orders as functions of u^2 and X, and the kernels whose sums make a
 * grid */

/** D/(1 - exp(-X)) of a reflection is a sum of kernels (functions of u^2) times shares
 * (functions of X): the kernels are halos at a few X, the shares are Lagrange weights. */
typedef struct nb_diffuse_terms {
    int n, columns;
    double *kernel; /* owned; [n][columns] soft halos (columns: nb_curve_at) */
    double per;     /* number of steps of the shares per unit of X */
    float *share;   /* owned; [n][NB_TERM_SHARES + 1] */
} nb_diffuse_terms;

enum {
    NB_TERMS = 24,        /* limit of the terms */
    NB_TERM_SHARES = 8192 /* number of steps in X */
};

/** Make the kernels up to u^2 = far2. They are soft inside of u^2 = near2. The caller
 * clears *terms, also after errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_terms_new(int gauss, double X_max, double near2, double far2,
                               nb_diffuse_terms *terms, nb_error *err);
void nb_diffuse_terms_clear(nb_diffuse_terms *terms);
/** Number of terms for X <= X_max. */
int nb_diffuse_terms_count(int gauss, double X_max);

/** Share of a term; X is in units of the steps of the shares. */
static inline float nb_diffuse_share(const float *share, double X)
{
    const int i = X < NB_TERM_SHARES - 1 ? (int)X : NB_TERM_SHARES - 1;
    const double t = X < NB_TERM_SHARES ? X - i : 1;
    return (float)(share[i] + t * (share[i + 1] - share[i]));
}

/** Number of columns of curves up to u^2 = far2. */
int nb_curve_columns(double far2);

/** near[NB_NEAR_ROWS][columns] = halos minus soft halos, or whole halos if near2 is 0. */
void nb_diffuse_near_rows(int gauss, double X_max, double near2, int columns, int threads,
                          float *near);

/** Determinant of a form: square of the volume of one index cell. */
double nb_diffuse_det(const double form[6]);
/** Half edges of the box around the ellipsoid form(x) <= limit. */
void nb_diffuse_half(const double form[6], double limit, double half[3]);

#endif
