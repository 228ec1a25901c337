/* SPDX-License-Identifier: MIT */
/** F between reflections, tricubic as nb_F_tricubic, from rows of cubics along l: a step then needs weights on two
 * axes only, and a thread keeps the 16 rows of its cell while steps stay in it.  Rows are floats: F is then wrong by
 * parts of the cell's largest F, so a pixel whose light comes from where F is much smaller is in doubt, and
 * nb_cubic_exact, in double, decides.  Indices are negated, as in src/plan/fixed_point.h; the cubic through four
 * points does not mind.  For host and device. */
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

/** A pixel is in doubt where its sum with each F^2 replaced by its cell's scale^2 is so many times its sum.  The
 * error of F is below 5e-7 of the scale (tests/unit/test_cubic.c), so other pixels are right within
 * 1e-6 sqrt(2500) = 5e-5, by Cauchy and Schwarz. */
#define NB_CUBIC_DOUBT 2500.0f

/** Cells where all 64 neighbours are in the box of F, as far as pixels see them. */
typedef struct nb_cubic_table {
    const float *rows; /* [n[0] + 3][n[2]][n[1] + 3][4]: h and k from cell -1 on, powers of the fraction of l */
    const float *scales; /* [n[0]][n[2]][n[1] + 3]: the largest |F| of a cell's 64 */
    const double *F;     /* the one table */
    int low[3], n[3];    /* cells: first and count; 0: none */
    int min[3], size[3]; /* of F: first index and count */
    double default_F;
} nb_cubic_table;

/** The cells of box, the reflections that pixels see, by table number `table`; rows and scales are left NULL. */
static inline nb_cubic_table nb_cubic_table_of(const nb_factor_table *sf, int table,
                                               const nb_index_box *box)
{
    nb_cubic_table t = {NULL,
                        NULL,
                        nb_table_at(sf, table),
                        {0, 0, 0},
                        {0, 0, 0},
                        {sf->hmin, sf->kmin, sf->lmin},
                        {sf->nh, sf->nk, sf->nl},
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

/** Where four neighbours along l of row i end in F: it goes down from there. */
NB_HD const double *nb_cubic_points(const nb_cubic_table *t, int64_t i)
{
    const int across = t->n[1] + 3;
    const int64_t k = -(t->low[1] - 1 + i % across) - t->min[1];
    const int64_t l = -(t->low[2] + i / across % t->n[2]) - t->min[2];
    const int64_t h = -(t->low[0] - 1 + i / across / t->n[2]) - t->min[0];
    return t->F + (h * t->size[1] + k) * t->size[2] + l;
}

/** Row i: the cubic by powers of a fraction u in 0..1. */
NB_HD void nb_cubic_row(const nb_cubic_table *t, int64_t i, double c[4])
{
    const double *f = nb_cubic_points(t, i);
    const double before = f[1], here = f[0], next = f[-1], last = f[-2];
    c[0] = here;
    c[1] = next - before / 3.0 - here / 2.0 - last / 6.0;
    c[2] = (before + next) / 2.0 - here;
    c[3] = (here - next) / 2.0 + (last - before) / 6.0;
}

/** Row number i of the 16 of a cell. */
NB_HD int64_t nb_cubic_row_of(const nb_cubic_table *t, int at, int i)
{
    return at + i / 4 * ((int64_t)t->n[2] * (t->n[1] + 3)) + i % 4;
}

/** Largest |F| of a cell's 64; 0 for what is no cell. */
NB_HD double nb_cubic_scale(const nb_cubic_table *t, int64_t at)
{
    double most = 0;
    if (at % (t->n[1] + 3) >= t->n[1] || at / (t->n[1] + 3) / t->n[2] >= t->n[0])
        return 0;
    for (int i = 0; i < 16; i++) {
        const double *f = nb_cubic_points(t, nb_cubic_row_of(t, (int)at, i));
        for (int j = -2; j < 2; j++)
            most = fmax(most, fabs(f[j]));
    }
    return most;
}

/** nb_cubic_weights without quotients, in float and in double. */
#define NB_CUBIC_PRODUCTS(name, real)                                                    \
    NB_HD void name(real u, real w[4])                                                   \
    {                                                                                    \
        const real past = u + 1, left = u - 1, far = u - 2;                              \
        const real inner = u * left, outer = past * far;                                 \
        w[0] = inner * (far * (real)(-1.0 / 6.0));                                       \
        w[1] = outer * (left * (real)0.5);                                               \
        w[2] = outer * (u * (real)-0.5);                                                 \
        w[3] = inner * (past * (real)(1.0 / 6.0));                                       \
    }
NB_CUBIC_PRODUCTS(nb_cubic_products, double)
NB_CUBIC_PRODUCTS(nb_cubic_float_products, float)

/** The 16 rows around a cell. */
typedef struct nb_cubic_cell {
    int at;       /* the first; -1: none yet */
    float scale2; /* the square of its scale */
    float c[16][4];
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
NB_HD void nb_cubic_copy(const float *row, float c[4])
{
#ifdef NB_GPU_DEVICE_PASS
    const float4 powers = __ldg((const float4 *)row);
    c[0] = powers.x;
    c[1] = powers.y;
    c[2] = powers.z;
    c[3] = powers.w;
#else
    for (int power = 0; power < 4; power++)
        c[power] = row[power];
#endif
}

NB_HD void nb_cubic_load(const nb_cubic_table *t, int at, nb_cubic_cell *cell)
{
    const float scale = t->scales[at];
    const float *row = t->rows + 4 * (int64_t)at;
    const int plane = 4 * t->n[2] * (t->n[1] + 3); /* rows are 2^25 at most */
    cell->at = at;
    cell->scale2 = scale * scale;
    NB_CUBIC_UNROLL
    for (int i = 0; i < 4; i++) {
        NB_CUBIC_UNROLL
        for (int j = 0; j < 4; j++)
            nb_cubic_copy(row + 4 * j, cell->c[4 * i + j]);
        row += plane;
    }
}

/** The fraction of an index in fixed point, whose low word has 2^-32 of it. */
NB_HD float nb_cubic_fraction(int low)
{
    return (float)(unsigned)low * 0x1p-32f;
}

/** F at the fractions u of -h, -k, -l in the cell. */
NB_HD float nb_cubic_at(const nb_cubic_cell *cell, const float u[3])
{
    float wh[4], wk[4], F = 0;
    nb_cubic_float_products(u[0], wh);
    nb_cubic_float_products(u[1], wk);
    NB_CUBIC_UNROLL
    for (int i = 0; i < 4; i++) {
        float along = 0;
        NB_CUBIC_UNROLL
        for (int j = 0; j < 4; j++) {
            const float *c = cell->c[4 * i + j];
            along = fmaf(
                wk[j], fmaf(u[2], fmaf(u[2], fmaf(u[2], c[3], c[2]), c[1]), c[0]), along);
        }
        F = fmaf(wh[i], along, F);
    }
    return F;
}

/** The same in double, from the table of F; low: low words of the index. */
NB_HD double nb_cubic_exact(const nb_cubic_table *t, int at, const int low[3])
{
    const double u = (double)(unsigned)low[2] * 0x1p-32;
    double wh[4], wk[4], F = 0;
    nb_cubic_products((double)(unsigned)low[0] * 0x1p-32, wh);
    nb_cubic_products((double)(unsigned)low[1] * 0x1p-32, wk);
    for (int i = 0; i < 16; i++) {
        double c[4];
        nb_cubic_row(t, nb_cubic_row_of(t, at, i), c);
        F = fma(wh[i / 4] * wk[i % 4], fma(u, fma(u, fma(u, c[3], c[2]), c[1]), c[0]), F);
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
