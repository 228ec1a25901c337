/* SPDX-License-Identifier: MIT */
/** D of physics/diffuse.h by a table, as Ewald divides a sum: within an ellipsoid u^2 = near2 about each reflection a
 * polynomial in u^2 continues its halo, smoothly. The sum of these soft halos is a spline between the points of a grid,
 * which are exact, by FFT. What a halo has beyond the soft one is added near the reflections, one by one. */
#ifndef NB_LIGHT_DIFFUSE_TABLE_H
#define NB_LIGHT_DIFFUSE_TABLE_H

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

#endif
