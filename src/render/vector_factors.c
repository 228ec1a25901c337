/* SPDX-License-Identifier: MIT */
/* The table of F^2 that the fixed-point kernel reads. */
#include "../base/memory.h"
#include "../physics/structure_factor.h"
#include "../plan/plan.h"
#include "vector_plan.h"

#include <math.h>

/* Limits of the entries of a table over all visible reflections. SMALL_TABLE is always
 * allowed, LARGE_TABLE only with at least WORK_PER_ENTRY look-ups for each entry. */
enum { SMALL_TABLE = 1 << 21, LARGE_TABLE = 1 << 25, WORK_PER_ENTRY = 16 };

/** Set the table's box, shifts and offset; `fill` fills the entries. */
static void set_box(nb_factor_squares *t, const nb_index_box *box)
{
    uint32_t stride[3];
    int axis;
    t->box = *box;
    t->shift[2] = 0;
    t->shift[1] = nb_log2_ceil(box->n[2]);
    t->shift[0] = t->shift[1] + nb_log2_ceil(box->n[1]);
    for (axis = 0; axis < 3; axis++)
        stride[axis] = (uint32_t)1 << t->shift[axis];
    t->offset = nb_fixed_offset(box->low, stride);
}

static double box_entries(const nb_factor_squares *t)
{
    return ldexp(t->box.n[0], t->shift[0]);
}

/** Set *begin .. *end - 1 to the table's indices along one axis that the file has. */
static void overlap(const nb_factor_squares *t, int axis, int first, int count,
                    int *begin, int *end)
{
    int64_t b = -((int64_t)first + count - 1) - t->box.low[axis],
            e = -(int64_t)first - t->box.low[axis];
    *begin = b < 0 ? 0 : (int)b;
    *end = e >= t->box.n[axis] ? t->box.n[axis] : (int)e + 1;
}

typedef struct overlap_box {
    int begin[3], end[3];
    /* 1: the table has entries outside the table of the file; they are default_F */
    int partial;
} overlap_box;

static overlap_box overlap_of(const nb_factor_squares *t, const nb_factor_table *sf)
{
    const int first[3] = {sf->hmin, sf->kmin, sf->lmin},
              count[3] = {sf->nh, sf->nk, sf->nl};
    overlap_box o = {{0}, {0}, 0};
    int axis;
    for (axis = 0; axis < 3; axis++) {
        overlap(t, axis, first[axis], count[axis], &o.begin[axis], &o.end[axis]);
        o.partial |= o.begin[axis] > 0 || o.end[axis] < t->box.n[axis];
    }
    return o;
}

/** Address F in the table of the file for row (i, j) of this table: entry k of the row is
 * F[-k]. */
static const double *file_row(const nb_factor_squares *t, const nb_factor_table *sf,
                              int i, int j)
{
    int64_t h = -((int64_t)t->box.low[0] + i) - sf->hmin,
            k = -((int64_t)t->box.low[1] + j) - sf->kmin;
    return sf->F + (h * sf->nk + k) * sf->nl + (-(int64_t)t->box.low[2] - sf->lmin);
}

static nb_status fill(const nb_factor_table *sf, double largest, nb_factor_squares *t,
                      nb_error *err)
{
    overlap_box o = overlap_of(t, sf);
    size_t entries = (size_t)box_entries(t), e;
    double inv_largest = 1.0 / largest;
    int i, j, k;
    t->F2 = nb_alloc(entries, sizeof *t->F2, "structure-factor table", err);
    if (!t->F2)
        return NB_ERR_NOMEM;
    if (o.partial && sf->default_F != 0)
        for (e = 0; e < entries; e++)
            t->F2[e] = nb_relative_square(sf->default_F, inv_largest);
    for (i = o.begin[0]; i < o.end[0]; i++)
        for (j = o.begin[1]; j < o.end[1]; j++) {
            float *row = t->F2 + ((size_t)i << t->shift[0]) + ((size_t)j << t->shift[1]);
            const double *F = file_row(t, sf, i, j);
            for (k = o.begin[2]; k < o.end[2]; k++)
                row[k] = nb_relative_square(F[-k], inv_largest);
        }
    return NB_OK;
}

nb_status nb_factor_squares_build(const nb_plan *plan, nb_kept_squares *kept,
                                  nb_factor_squares *t, nb_error *err)
{
    nb_factor_table sf = plan->scene->factors.table;
    double work = plan->rays * plan->steps; /* number of look-ups */
    nb_index_box box;
    nb_status st;
    /* from the whole file, not only the visible part: a pixel's bytes must not depend on
     * the rendered region */
    t->unit = plan->largest * plan->largest;
    if (sf.nh == 0 || fmin(fabs(sf.default_F), sf.least) == plan->largest) {
        t->kind = plan->largest == 0 ? NB_F_ZERO : NB_F_CONST;
        return NB_OK;
    }
    if ((st = nb_visible_box(plan, &box, err)) != NB_OK)
        return st;
    if (!nb_one_table(&plan->scene->beam)) {
        st = nb_factor_tables_build(plan, &box, kept, err);
        *t = kept->squares;
        return st;
    }
    sf.F = nb_table_at(&sf, plan->scene->beam.sources[0].table);
    set_box(t, &box);
    t->kind = NB_F_BOX;
    if (box_entries(t) > SMALL_TABLE &&
        (box_entries(t) > LARGE_TABLE || box_entries(t) * WORK_PER_ENTRY > work)) {
        nb_clamp_box(&sf, &box);
        set_box(t, &box);
        t->kind = NB_F_CLAMPED;
    }
    return fill(&sf, plan->largest, t, err);
}
