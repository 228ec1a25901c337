/* SPDX-License-Identifier: MIT */
/** F between reflections, tricubic like nb_F_tricubic, from a table of cells. A cell is
 * the cube between eight neighbouring reflections. It has 64 coefficients of a polynomial
 * in the distances from its middle, so that a step needs 63 multiply-adds; a thread keeps
 * the cell for following steps. Coefficients are floats, so the error of F is relative to
 * the largest F of the cell. If a pixel's photons come from places with a much smaller F,
 * the pixel is calculated again by nb_cubic_exact in double. Indices have the opposite
 * sign, as in src/plan/fixed_point.h. Host and device compile this file. */
#ifndef NB_TERMS_CUBIC_CELLS_H
#define NB_TERMS_CUBIC_CELLS_H

#include "../physics/structure_factor.h"
#include "../plan/fixed_point.h"
#include "../plan/plan.h"
#include "lane.h"

/** A pixel is in doubt (calculated again) if its sum with each F^2 replaced by scale^2 of
 * the cell is larger than its sum by this factor. The error of F is below 2.5e-7 of the
 * scale (tests/unit/test_cubic.c), so other pixels are accurate within 5e-7 sqrt(10000)
 * = 5e-5, by Cauchy and Schwarz. */
#define NB_CUBIC_DOUBT 10000.0f

/** Floats of a cell: 64 coefficients [power of l][power of k][power of h]; the square of
 * the scale, which is the largest |F| of its 64 nearest reflections; and three unused
 * floats that align cells to 16 bytes. */
enum { NB_CUBIC_FLOATS = 68 };

/** The cells that pixels see and whose 64 nearest reflections are in the box of F. */
typedef struct nb_cubic_table {
    const float *cells;  /* [n[0]][n[1]][n[2]][NB_CUBIC_FLOATS] */
    const double *F;     /* the table that the cells describe */
    int low[3], n[3];    /* first cell and number of cells on each axis; 0: no cells */
    int min[3], size[3]; /* first index and number of indices of F */
    int whole;           /* 1: no pixel sees an index outside the cells */
    unsigned stride[2],
        offset; /* number of a cell: high words times strides, + offset, mod 2^32 */
    double default_F;
} nb_cubic_table;

/** Describe the cells between the reflections of `box`, which are those that pixels see,
 * for table `table` of F. The member `cells` is left NULL. */
static inline nb_cubic_table nb_cubic_table_of(const nb_factor_table *sf, int table,
                                               const nb_index_box *box)
{
    nb_cubic_table t = {NULL,
                        nb_table_at(sf, table),
                        {0, 0, 0},
                        {0, 0, 0},
                        {sf->hmin, sf->kmin, sf->lmin},
                        {sf->nh, sf->nk, sf->nl},
                        1,
                        {0, 0},
                        0,
                        sf->default_F};
    int all = 1;
    for (int axis = 0; axis < 3; axis++) {
        /* h is from min + 2 to min + size - 3, and cells are of -h; a reflection is the
         * border of two cells */
        int64_t first = -((int64_t)t.min[axis] + t.size[axis] - 3),
                end = -((int64_t)t.min[axis] + 2);
        const int64_t low = (int64_t)box->low[axis] - 1, high = low + box->n[axis] + 1;
        t.whole = t.whole && first <= low && end >= high;
        first = first > low ? first : low;
        end = end < high ? end : high;
        t.low[axis] = (int)first;
        t.n[axis] = end > first ? (int)(end - first) : 0;
        all = all && t.n[axis] > 0;
    }
    for (int axis = 0; axis < 3 && !all; axis++)
        t.low[axis] = t.n[axis] = 0;
    t.stride[0] = (unsigned)t.n[1] * (unsigned)t.n[2];
    t.stride[1] = (unsigned)t.n[2];
    for (int axis = 0; axis < 3; axis++)
        t.offset -=
            (unsigned)(NB_FIXED_HIGH + t.low[axis]) * (axis < 2 ? t.stride[axis] : 1);
    t.whole = t.whole && all;
    return t;
}

static inline double nb_cubic_cells(const nb_cubic_table *t)
{
    return (double)t->n[0] * t->n[1] * t->n[2];
}

/** A cell's 64 nearest reflections are 16 rows of four along l. Returns the address in F
 * of the second one of row i. The first to the fourth are at [1], [0], [-1] and [-2]. */
NB_HD const double *nb_cubic_points(const nb_cubic_table *t, int64_t cell, int i)
{
    const int64_t l = -(t->low[2] + cell % t->n[2]) - t->min[2];
    const int64_t k = -(t->low[1] - 1 + cell / t->n[2] % t->n[1] + i % 4) - t->min[1];
    const int64_t h = -(t->low[0] - 1 + cell / t->n[2] / t->n[1] + i / 4) - t->min[0];
    return t->F + (h * t->size[1] + k) * t->size[2] + l;
}

/** Coefficients c of the cubic along row i of a cell: the sum of c[n] u^n, u in 0..1. */
NB_HD void nb_cubic_row(const nb_cubic_table *t, int64_t cell, int i, double c[4])
{
    const double *f = nb_cubic_points(t, cell, i);
    const double before = f[1], here = f[0], next = f[-1], last = f[-2];
    c[0] = here;
    c[1] = next - before / 3.0 - here / 2.0 - last / 6.0;
    c[2] = (before + next) / 2.0 - here;
    c[3] = (here - next) / 2.0 + (last - before) / 6.0;
}

/** Coefficient of x^power of the cubic through four points, with x = 0 in their middle. */
NB_HD double nb_cubic_power(int power, const double f[4])
{
    const double sum = f[1] + f[2], step = f[2] - f[1];
    switch (power) {
    case 0:
        return (9 * sum - f[0] - f[3]) / 16;
    case 1:
        return (27 * step - f[3] + f[0]) / 24;
    case 2:
        return (f[0] + f[3] - sum) / 4;
    default:
        return (f[3] - f[0] - 3 * step) / 6;
    }
}

/** Largest |F| of a cell's 64 nearest reflections. */
NB_HD double nb_cubic_scale(const nb_cubic_table *t, int64_t cell)
{
    double largest = 0;
    for (int i = 0; i < 16; i++) {
        const double *f = nb_cubic_points(t, cell, i);
        for (int j = -2; j < 2; j++)
            largest = fmax(largest, fabs(f[j]));
    }
    return largest;
}

/** The 16 coefficients of a cell with this power of l. Power 4 gives the square of the
 * scale and three zeros. */
NB_HD void nb_cubic_part(const nb_cubic_table *t, int64_t cell, int power, float *out)
{
    double along_k[4][4];
    if (power == 4) {
        const double scale = nb_cubic_scale(t, cell);
        out[0] = (float)(scale * scale);
        out[1] = out[2] = out[3] = 0;
        return;
    }
    NB_TERM_EACH
    for (int h = 0; h < 4; h++) {
        double along_l[4];
        NB_TERM_EACH
        for (int k = 0; k < 4; k++) {
            const double *f = nb_cubic_points(t, cell, 4 * h + k);
            const double points[4] = {f[1], f[0], f[-1], f[-2]};
            along_l[k] = nb_cubic_power(power, points);
        }
        NB_TERM_EACH
        for (int k = 0; k < 4; k++)
            along_k[k][h] = nb_cubic_power(k, along_l);
    }
    NB_TERM_EACH
    for (int i = 0; i < 16; i++)
        out[i] = (float)nb_cubic_power(i % 4, along_k[i / 4]);
}

/** nb_cubic_weights without divisions. */
NB_HD void nb_cubic_products(double u, double w[4])
{
    const double past = u + 1, left = u - 1, far = u - 2;
    const double inner = u * left, outer = past * far;
    w[0] = inner * (far * (-1.0 / 6.0));
    w[1] = outer * (left * 0.5);
    w[2] = outer * (u * -0.5);
    w[3] = inner * (past * (1.0 / 6.0));
}

/** The numbers of a cell, in registers of a thread. */
typedef struct nb_cubic_cell {
    int at; /* number of the cell; -1: not loaded */
    float c[16][4], scale2;
} nb_cubic_cell;

/** The number of the cell that these high words of the fixed-point indices select. */
NB_HD int nb_cubic_number(const nb_cubic_table *t, const int high[3])
{
    return (int)((unsigned)high[0] * t->stride[0] + (unsigned)high[1] * t->stride[1] +
                 (unsigned)high[2] + t->offset);
}

/** nb_cubic_number, or -1 outside the cells, where F of the nearest reflection is used. */
NB_HD int nb_cubic_find(const nb_cubic_table *t, const int high[3])
{
    const unsigned h = (unsigned)(high[0] - NB_FIXED_HIGH - t->low[0]),
                   k = (unsigned)(high[1] - NB_FIXED_HIGH - t->low[1]),
                   l = (unsigned)(high[2] - NB_FIXED_HIGH - t->low[2]);
    return h < (unsigned)t->n[0] && k < (unsigned)t->n[1] && l < (unsigned)t->n[2]
               ? nb_cubic_number(t, high)
               : -1;
}

/** Copy four coefficients. */
NB_HD void nb_cubic_copy(const float *from, float c[4])
{
#ifdef NB_GPU_DEVICE_PASS
    const float4 powers = __ldg((const float4 *)from);
    c[0] = powers.x;
    c[1] = powers.y;
    c[2] = powers.z;
    c[3] = powers.w;
#else
    for (int power = 0; power < 4; power++)
        c[power] = from[power];
#endif
}

NB_HD void nb_cubic_load(const nb_cubic_table *t, int at, nb_cubic_cell *cell)
{
    const float *from = t->cells + NB_CUBIC_FLOATS * (int64_t)at;
    cell->at = at;
    NB_TERM_EACH
    for (int i = 0; i < 16; i++)
        nb_cubic_copy(from + 4 * i, cell->c[i]);
    cell->scale2 = from[64];
}

/** Distance of an index from its cell's middle; low: low word, in units of 2^-32. */
NB_HD float nb_cubic_distance(int low)
{
    return fmaf((float)(unsigned)low, 0x1p-32f, -0.5f);
}

NB_HD float nb_cubic_along(float u, const float c[4])
{
    return fmaf(u, fmaf(u, fmaf(u, c[3], c[2]), c[1]), c[0]);
}

/** F at the distances u of -h, -k, -l from the cell's middle. */
NB_HD float nb_cubic_at(const nb_cubic_cell *cell, const float u[3])
{
    float along_k[4];
    NB_TERM_EACH
    for (int l = 0; l < 4; l++) {
        float along_h[4];
        NB_TERM_EACH
        for (int k = 0; k < 4; k++)
            along_h[k] = nb_cubic_along(u[0], cell->c[4 * l + k]);
        along_k[l] = nb_cubic_along(u[1], along_h);
    }
    return nb_cubic_along(u[2], along_k);
}

/** F in cell `at`, in double from the table of F; low: low words of the indices. */
NB_HD double nb_cubic_exact(const nb_cubic_table *t, int at, const int low[3])
{
    const double u = (double)(unsigned)low[2] * 0x1p-32;
    double wh[4], wk[4], F = 0;
    nb_cubic_products((double)(unsigned)low[0] * 0x1p-32, wh);
    nb_cubic_products((double)(unsigned)low[1] * 0x1p-32, wk);
    for (int i = 0; i < 16; i++) {
        double c[4];
        nb_cubic_row(t, at, i, c);
        F = fma(wh[i / 4] * wk[i % 4], fma(u, fma(u, fma(u, c[3], c[2]), c[1]), c[0]), F);
    }
    return F;
}

/** F of the nearest reflection from the fixed-point indices. A low word that is negative
 * as a signed number stands for a fraction of 1/2 or more. */
NB_HD double nb_cubic_nearest(const nb_cubic_table *t, const int high[3], const int low[3])
{
    int64_t at = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int i = NB_FIXED_HIGH - high[axis] - (low[axis] < 0) - t->min[axis];
        if ((unsigned)i >= (unsigned)t->size[axis])
            return t->default_F;
        at = at * t->size[axis] + i;
    }
    return t->F[at];
}

#endif
