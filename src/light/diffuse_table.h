/* SPDX-License-Identifier: MIT */
/** D of physics/diffuse.h by tables over fractional indices. A table is exact at its points: sums over all reflections by
 * FFT, one for each order. Between them it is a spline. Halos that are narrower than a table can hold are split: a
 * polynomial in u^2 continues each kernel inside of a distance, smoothly, for the table; what is left is added near the
 * reflections, one by one. */
#ifndef NB_LIGHT_DIFFUSE_TABLE_H
#define NB_LIGHT_DIFFUSE_TABLE_H

#include "../nanobragg.h"
#include "../physics/diffuse.h"

#define NB_DIFFUSE_DEGREE 3 /* of the polynomials */
#define NB_DIFFUSE_BYTES                                                                 \
    256e6 /* of tables, the sums of orders, and what makes them, at most where that is possible */
#define NB_DIFFUSE_BEHIND 2 /* floats behind coefficients, which are read in fours */

/** One form's. */
typedef struct nb_diffuse_part {
    nb_diffuse_form form;
    int per[3];      /* points from one step to the next */
    double unit[3];  /* indices from one step to the next */
    double scale[3]; /* points from one index to the next */
    int low[3], n[3];
    float *c;     /* owned; [n0][n1][n2] coefficients of D/(1 - exp(-X)) */
    float *power; /* owned; I0 of the box of reflections; NULL if no sum takes single ones */
    double most;  /* of power */
    double near2; /* u^2 inside of which kernels are split; 0: none is */
    int near_orders;
    double half[3];                        /* of the box about that ellipsoid, indices */
    double half_one[3];                    /* about u = 1 */
    double many;                           /* reflections inside of u = 1 */
    double (*poly)[NB_DIFFUSE_DEGREE + 1]; /* owned; [near_orders] coefficients of (near2 - u^2)^j */
} nb_diffuse_part;

typedef struct nb_diffuse_table {
    nb_diffuse model;
    int low[3], n[3]; /* box of the reflections */
    double reach;     /* largest |q| that it serves, 1/A */
    double X_most;    /* at that */
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
    int threads;
    int shares; /* how many tables share their memory, whose halos are split elsewhere; 0: it is alone */
    const nb_diffuse_table *like; /* has the same points, split and orders; NULL: they are chosen */
    double bytes; /* that it and its making may take, where that is possible; 0: NB_DIFFUSE_BYTES */
} nb_diffuse_source;

#define NB_DIFFUSE_TABLES 8 /* at most of a range of B and edges */

/** Bytes that a table will take, and what makes it. */
double nb_diffuse_table_needs(const nb_diffuse_source *source);

/** *table is to be freed.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED without FFTW, NB_ERR_INPUT (X too large). */
nb_status nb_diffuse_table_new(const nb_diffuse_source *source, nb_diffuse_table **table,
                               nb_error *err);

/** The sum of n tables with these weights, all like source.like: of the light of the source.  *table is to be freed.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_diffuse_table_blend(const nb_diffuse_source *source,
                                 nb_diffuse_table *const *of, const double *weight, int n,
                                 nb_diffuse_table **table, nb_error *err);

double nb_diffuse_table_bytes(const nb_diffuse_table *table);

void nb_diffuse_table_free(nb_diffuse_table *table);

#endif
