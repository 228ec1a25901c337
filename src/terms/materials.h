/* SPDX-License-Identifier: MIT */
/** F of amorphous materials. In double by lanes: from a piece of the material's table. In
 * float for the GPU: from cells of equal width, each with a cubic, so that a look-up
 * reads 16 bytes without a search. */
#ifndef NB_TERMS_MATERIALS_H
#define NB_TERMS_MATERIALS_H

#include <math.h>

#include "../physics/amorphous.h"
#include "lane.h"

/** nb_piece_F by lanes; c[0] to c[7]: the members x to F_next of nb_table_piece. */
NB_TERM vd nb_piece_lanes(const vd c[8], vd x)
{
    const vd F =
        vd_mad(x - c[0], vd_mad(x - c[1], vd_mad(x - c[2], c[6], c[5]), c[4]), c[3]);
    return vd_min(vd_max_number(F, vd_min(c[3], c[7])), vd_max(c[3], c[7]));
}

/** F = c[0] + u (c[1] + u (c[2] + u c[3])), u = 0 .. 1, limited to values between F(0)
 * and F(1). If no such cubic agrees with the pieces of the table, c[0] is NaN and the
 * pieces are used instead. */
typedef struct nb_cell {
    float c[4];
} nb_cell;

/** sin(theta)/lambda times `per` plus `shift`, rounded, is the number of a cell, limited
 * to 0 .. last. F is constant in cells 0 and last. */
typedef struct nb_cells {
    double per, shift; /* `per`: m; `shift` has no unit */
    int first, last;   /* index of cell 0 among the cells of all materials; last number */
    float share;       /* the material's share of all molecules */
    int material;
} nb_cells;

/** Added to a number so that its low word is the number of a cell. */
#define NB_CELL_MAGIC 0x1.8p52
#define NB_CELLS_MAX (1 << 16)

/** F in a cell whose c[0] is not NaN. */
NB_HD float nb_cell_F(const float c[4], float u)
{
    const float F = fmaf(fmaf(fmaf(c[3], u, c[2]), u, c[1]), u, c[0]),
                end = (c[0] + c[1]) + (c[2] + c[3]);
    return fminf(fmaxf(F, fminf(c[0], end)), fmaxf(c[0], end));
}

/** True if the cell for x to x + w agrees with F of the pieces of the table. */
static inline int nb_cell_holds(const nb_cell *cell, const nb_amorphous *a,
                                const nb_scatterer *m, double x, double w)
{
    enum { PROBES = 17 };
    const double off = 2e-7; /* relative error of F; F^2 has twice as much */
    for (int i = 0; i < PROBES; i++) {
        const double u = (i + 1e-3) / (PROBES - 1 + 2e-3); /* just inside both ends */
        const double F = nb_piece_F(nb_piece_of(a, m, x + u * w), x + u * w);
        if (!(fabs((double)nb_cell_F(cell->c, (float)u) - F) <= off * fabs(F)))
            return 0;
    }
    return 1;
}

/** Make the cell for x to x + w from the piece in its middle. */
static inline nb_cell nb_material_cell(const nb_amorphous *a, const nb_scatterer *m,
                                       double x, double w)
{
    const nb_table_piece *p = nb_piece_of(a, m, x + 0.5 * w);
    const double begin = x - p->x, next = x - p->next, before = x - p->before;
    /* F + (begin + wu) (d1 + (next + wu) (d2 + (before + wu) d3)) in powers of u */
    const double e0 = p->d2 + before * p->d3, e1 = w * p->d3;
    const double g0 = p->d1 + next * e0, g1 = next * e1 + w * e0, g2 = w * e1;
    nb_cell cell = {{(float)(p->F + begin * g0), (float)(begin * g1 + w * g0),
                     (float)(begin * g2 + w * g1), (float)(w * g2)}};
    const nb_cell limit = {{(float)nb_piece_F(p, x + 0.5 * w), 0, 0, 0}};
    if (nb_cell_holds(&cell, a, m, x, w))
        return cell;
    if (nb_cell_holds(&limit, a, m, x, w))
        return limit;
    cell.c[0] = NAN;
    return cell;
}

/** The pieces of material m: *begin is the first piece whose F is not constant, *end is
 * the last piece. */
static inline void nb_cells_range(const nb_amorphous *a, const nb_scatterer *m,
                                  const nb_table_piece **begin, const nb_table_piece **end)
{
    *begin = a->pieces + m->first_piece;
    *end = *begin + a->buckets[m->first_bucket + m->n_buckets];
    while (*begin < *end && (*begin)->d1 == 0 && (*begin)->F == (*begin)->F_next)
        ++*begin;
}

/** Number of cells of material m, including the two constant ones. */
static inline int nb_cells_count(const nb_amorphous *a, const nb_scatterer *m)
{
    const nb_table_piece *begin, *end;
    double least = INFINITY;
    nb_cells_range(a, m, &begin, &end);
    for (const nb_table_piece *p = begin; p < end; p++)
        least = fmin(least, p->next - p->x);
    const double n = begin < end ? rint((end->x - begin->x) / least) : 0;
    return 2 + (int)fmin(n, NB_CELLS_MAX);
}

/** Number of cells of material m per unit (1/m) of sin(theta)/lambda. */
static inline double nb_cells_per(const nb_amorphous *a, const nb_scatterer *m)
{
    const nb_table_piece *begin, *end;
    const int n = nb_cells_count(a, m) - 2;
    nb_cells_range(a, m, &begin, &end);
    return n > 0 ? n / (end->x - begin->x) : 0;
}

/** Fill nb_cells_count cells of a material. first: number of its first cell among the
 * cells of all materials. The returned `share` is 0: the caller sets it. */
static inline nb_cells nb_cells_fill(const nb_amorphous *a, int material, int first,
                                     nb_cell *cells)
{
    const nb_scatterer *m = &a->materials[material];
    const nb_table_piece *begin, *end;
    const int n = nb_cells_count(a, m) - 2;
    nb_cells_range(a, m, &begin, &end);
    const double per = nb_cells_per(a, m), w = n > 0 ? 1 / per : 0;
    const nb_cells of = {per,     n > 0 ? 0.5 - begin->x * per : 0, first, n + 1, 0,
                         material};
    cells[0] = (nb_cell){{(float)begin->F, 0, 0, 0}};
    for (int i = 0; i < n; i++)
        cells[i + 1] = nb_material_cell(a, m, begin->x + i * w, w);
    cells[n + 1] = (nb_cell){{(float)end->F, 0, 0, 0}};
    return of;
}

#endif
