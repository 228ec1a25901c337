/* SPDX-License-Identifier: MIT */
/** F between reflections, tricubic as nb_F_tricubic, from rows of cubics along l: a step then needs weights on two
 * axes only, and a thread keeps the 16 rows of its cell while steps stay in it.  Indices are negated, as in
 * src/plan/fixed_point.h; the cubic through four points does not mind.  For host and device. */
#ifndef NB_CUDA_CUBIC_H
#define NB_CUDA_CUBIC_H

#include "../src/physics/structure_factor.h"
#include "../src/plan/fixed_point.h"
#include "../src/plan/plan.h"
#include "vendor.h"

#ifdef NB_GPU_DEVICE_PASS
#define NB_CUBIC_UNROLL _Pragma("unroll")
#else
#define NB_CUBIC_UNROLL
#endif

/** Cells where all 64 neighbours are in the box of F, as far as pixels see them. */
typedef struct nb_cubic_table {
    const double *rows; /* [n[0] + 3][n[2]][n[1] + 3][4]: h and k from cell -1 on, powers of the fraction of l */
    const double *F;     /* the one table */
    int low[3], n[3];    /* cells: first and count; 0: none */
    int min[3], size[3]; /* of F: first index and count */
    double default_F;
} nb_cubic_table;

/** The cells of box, the reflections that pixels see, by table number `table`; rows is left NULL. */
static inline nb_cubic_table nb_cubic_table_of(const nb_factor_table *sf, int table,
                                               const nb_index_box *box)
{
    nb_cubic_table t = {
        NULL,         nb_table_at(sf, table),         {0, 0, 0},
        {0, 0, 0},    {sf->hmin, sf->kmin, sf->lmin}, {sf->nh, sf->nk, sf->nl},
        sf->default_F};
    int all = 1;
    for (int axis = 0; axis < 3; axis++) {
        /* h from min + 2 to min + size - 3, hence cells of -h; a reflection lies in two */
        int64_t first = -((int64_t)t.min[axis] + t.size[axis] - 3),
                end = -((int64_t)t.min[axis] + 2);
        const int64_t low = (int64_t)box->low[axis] - 1, high = low + box->n[axis] + 1;
        first = first > low ? first : low;
        end = end < high ? end : high;
        t.low[axis] = (int)first;
        t.n[axis] = end > first ? (int)(end - first) : 0;
        all = all && t.n[axis] > 0;
    }
    for (int axis = 0; axis < 3 && !all; axis++)
        t.low[axis] = t.n[axis] = 0;
    return t;
}

static inline double nb_cubic_rows(const nb_cubic_table *t)
{
    return t->n[0] > 0 ? (t->n[0] + 3.0) * (t->n[1] + 3.0) * t->n[2] : 0;
}

/** Row i: the cubic by powers of a fraction u in 0..1. */
NB_HD void nb_cubic_row(const nb_cubic_table *t, int64_t i, double c[4])
{
    const int across = t->n[1] + 3;
    const int64_t k = -(t->low[1] - 1 + i % across) - t->min[1];
    const int64_t l = -(t->low[2] + i / across % t->n[2]) - t->min[2];
    const int64_t h = -(t->low[0] - 1 + i / across / t->n[2]) - t->min[0];
    const double *f = t->F + (h * t->size[1] + k) * t->size[2] + l;
    const double before = f[1], here = f[0], next = f[-1], last = f[-2];
    c[0] = here;
    c[1] = next - before / 3.0 - here / 2.0 - last / 6.0;
    c[2] = (before + next) / 2.0 - here;
    c[3] = (here - next) / 2.0 + (last - before) / 6.0;
}

/** nb_cubic_weights without quotients. */
NB_HD void nb_cubic_products(double u, double w[4])
{
    const double past = u + 1.0, left = u - 1.0, far = u - 2.0;
    const double inner = u * left, outer = past * far;
    w[0] = inner * (far * (-1.0 / 6.0));
    w[1] = outer * (left * 0.5);
    w[2] = outer * (u * -0.5);
    w[3] = inner * (past * (1.0 / 6.0));
}

/** The 16 rows around a cell. */
typedef struct nb_cubic_cell {
    int at; /* the first; -1: none yet */
    double c[16][4];
} nb_cubic_cell;

/** The first row of the cell with these high words of indices in fixed point; -1: the nearest reflection
 * counts. */
NB_HD int nb_cubic_find(const nb_cubic_table *t, const int high[3])
{
    const unsigned h = (unsigned)(high[0] - NB_FIXED_HIGH - t->low[0]),
                   k = (unsigned)(high[1] - NB_FIXED_HIGH - t->low[1]),
                   l = (unsigned)(high[2] - NB_FIXED_HIGH - t->low[2]);
    if (h >= (unsigned)t->n[0] || k >= (unsigned)t->n[1] || l >= (unsigned)t->n[2])
        return -1;
    return ((int)h * t->n[2] + (int)l) * (t->n[1] + 3) + (int)k;
}

/** A row. */
NB_HD void nb_cubic_copy(const double *row, double c[4])
{
#ifdef NB_GPU_DEVICE_PASS
    const double2 low = __ldg((const double2 *)row),
                  high = __ldg((const double2 *)row + 1);
    c[0] = low.x;
    c[1] = low.y;
    c[2] = high.x;
    c[3] = high.y;
#else
    for (int power = 0; power < 4; power++)
        c[power] = row[power];
#endif
}

NB_HD void nb_cubic_load(const nb_cubic_table *t, int at, nb_cubic_cell *cell)
{
    const int64_t plane = (int64_t)t->n[2] * (t->n[1] + 3) * 4;
    const double *row = t->rows + 4 * (int64_t)at;
    cell->at = at;
    NB_CUBIC_UNROLL
    for (int i = 0; i < 16; i++)
        nb_cubic_copy(row + i / 4 * plane + i % 4 * 4, cell->c[i]);
}

/** F at the fractions u of -h, -k, -l in the cell. */
NB_HD double nb_cubic_at(const nb_cubic_cell *cell, const double u[3])
{
    double wh[4], wk[4], F = 0;
    nb_cubic_products(u[0], wh);
    nb_cubic_products(u[1], wk);
    NB_CUBIC_UNROLL
    for (int i = 0; i < 4; i++) {
        double along = 0;
        NB_CUBIC_UNROLL
        for (int j = 0; j < 4; j++) {
            const double *c = cell->c[4 * i + j];
            along = fma(wk[j], fma(u[2], fma(u[2], fma(u[2], c[3], c[2]), c[1]), c[0]),
                        along);
        }
        F = fma(wh[i], along, F);
    }
    return F;
}

/** F of the nearest reflection; low: low words, whose sign says that a fraction is 1/2 or more. */
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
