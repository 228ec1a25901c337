/* SPDX-License-Identifier: MIT */
/** Lists of the groups and steps that a block of rays keeps (tile_work.h). Items (groups
 * or steps) with the smallest bounds are left out as long as the sum of their bounds is
 * within a budget. Items with bounds above an equal share of the budget are candidates to
 * keep. Bounds of candidates are rounded up to units of the budget. A bin has the sum of
 * the units of similar bounds. */
#ifndef NB_CUDA_TILE_LISTS_H
#define NB_CUDA_TILE_LISTS_H

#include <string.h>

#include "tile_term.h"

enum { NB_TILE_UNITS = 1 << 14 }; /* number of units of a budget */

#define NB_TILE_ROWS_PART 0.15f    /* part of the budget for tests of whole rows */
#define NB_TILE_MARGIN (1 - 1e-4f) /* factor of a budget, for the rounding of sums */

/** The bin of a candidate with this number of units, 1 .. 2^16 - 1. A factor of two has
 * two bins. */
NB_HD int nb_tile_bin(uint32_t units)
{
    const float x = (float)units;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 22) - 2 * 127;
}

/** Upper limit of the units of a candidate in a bin. */
NB_HD uint32_t nb_tile_bin_end(int bin)
{
    return (3u + (uint32_t)(bin % 2)) << bin / 2 >> 1;
}

/** Candidates that are left out: all in the bins before `bin`, and `some` of those in
 * `bin`. spent: units of these candidates. */
typedef struct nb_tile_cut {
    int bin;
    uint32_t some, spent;
} nb_tile_cut;

/** The largest cut whose units have a sum up to `left`. The bins are set to 0. */
NB_TILE_HD nb_tile_cut nb_tile_cut_of(nb_tile_shared *w, uint32_t left)
{
    nb_tile_cut cut;
    NB_LANE_OF(uint32_t, sum);
    NB_LANE_OF(int, fits);
    NB_EACH_LANE(lane)
    {
        NB_LANE(sum) = w->bins[lane];
        w->bins[lane] = 0;
    }
    nb_lanes_prefix(NB_LANE_PASS(sum));
    NB_EACH_LANE(lane)
    NB_LANE(fits) = NB_LANE(sum) <= left;
    cut.bin = nb_lanes_count(nb_lanes_ballot(fits));
    cut.some = 0;
    cut.spent = cut.bin > 0 ? nb_lanes_get(sum, cut.bin - 1) : 0;
    if (cut.bin < NB_TILE_LANES) {
        cut.some = (left - cut.spent) / nb_tile_bin_end(cut.bin);
        cut.spent += cut.some * nb_tile_bin_end(cut.bin);
    }
    return cut;
}

/** Replace the n candidates stack[at ..] = units << 16 | number by the numbers of kept
 * candidates. Returns the number of kept candidates. */
NB_TILE_HD int nb_tile_keep(nb_tile_shared *w, int at, int n, const nb_tile_cut *cut)
{
    int kept = 0, some = 0;
    NB_TILE_ROLLED
    for (int from = 0; from < n; from += NB_TILE_LANES) {
        NB_LANE_OF(uint32_t, entry);
        NB_LANE_OF(int, keep);
        NB_LANE_OF(int, edge);
        NB_EACH_LANE(lane)
        {
            NB_LANE(entry) = from + lane < n ? w->stack[at + from + lane] : 0;
            const int bin = from + lane < n ? nb_tile_bin(NB_LANE(entry) >> 16) : -1;
            NB_LANE(edge) = bin == cut->bin;
            NB_LANE(keep) = bin > cut->bin;
        }
        const uint32_t edges = nb_lanes_ballot(edge);
        NB_EACH_LANE(lane)
        NB_LANE(keep) |=
            NB_LANE(edge) && some + nb_lanes_before(edges, lane) >= (int)cut->some;
        const uint32_t kept_here = nb_lanes_ballot(keep);
        some += nb_lanes_count(edges);
        NB_EACH_LANE(lane)
        if (NB_LANE(keep))
            w->stack[at + kept + nb_lanes_before(kept_here, lane)] =
                NB_LANE(entry) & 0xffff;
        kept += nb_lanes_count(kept_here);
    }
    nb_lanes_meet();
    return kept;
}

/** Candidates that are put on the stack. */
typedef struct nb_tile_heap {
    int at, n;                /* first entry of the stack, and number of candidates */
    float budget, share, per; /* share: part for one item; per: units / budget */
} nb_tile_heap;

NB_TILE_HD nb_tile_heap nb_tile_heap_of(int at, int items, float budget)
{
    nb_tile_heap heap;
    heap.at = at;
    heap.n = 0;
    heap.budget = fmaxf(0.0f, budget);
    heap.share = vf_over(heap.budget * NB_TILE_MARGIN, (float)items);
    heap.per = vf_over((float)NB_TILE_UNITS, heap.budget);
    return heap;
}

/** Add the bounds of the lanes' items to a heap. An item whose bound is not above the
 * share is not a candidate: it is left out, and its bound is added to the lane's *low. */
NB_TILE_HD void nb_tile_heap_add(nb_tile_shared *w, nb_tile_heap *heap,
                                 const NB_LANE_ARG(int, item),
                                 const NB_LANE_ARG(float, bound), NB_LANE_REF(float, low))
{
    NB_LANE_OF(int, high);
    NB_EACH_LANE(lane)
    {
        NB_LANE(high) = !(NB_LANE(bound) <= heap->share);
        if (!NB_LANE(high))
            NB_LANE_IN(low) += NB_LANE(bound);
    }
    const uint32_t some = nb_lanes_ballot(high);
    if (some == 0)
        return;
    NB_EACH_LANE(lane)
    if (NB_LANE(high)) {
        const uint32_t units = (uint32_t)fminf(NB_LANE(bound) * heap->per, 65000.0f) + 1;
        w->stack[heap->at + heap->n + nb_lanes_before(some, lane)] =
            units << 16 | (uint32_t)NB_LANE(item);
        NB_TILE_COUNT(&w->bins[nb_tile_bin(units)], units);
    }
    heap->n += nb_lanes_count(some);
}

/** Choose the candidates to keep. Returns their number. *spent: sum of all other bounds. */
NB_TILE_HD int nb_tile_heap_end(nb_tile_shared *w, const nb_tile_heap *heap,
                                const NB_LANE_ARG(float, low), float *spent)
{
    const float small = nb_lanes_add(low) * (1 + 1e-5f);
    const float left = (heap->budget - small) * heap->per;
    nb_tile_cut cut;
    nb_lanes_meet();
    cut = nb_tile_cut_of(w, left > 0 ? (uint32_t)left : 0);
    *spent = small + (float)cut.spent * (heap->budget / NB_TILE_UNITS);
    return nb_tile_keep(w, heap->at, heap->n, &cut);
}

/** The fraction n/of of a budget. */
NB_TILE_HD float nb_tile_part_of(float budget, int n, int of)
{
    return n == of ? budget : vf_over(budget * (float)n, (float)of);
}

/** A group as an entry of a list. */
NB_TILE_HD uint32_t nb_tile_pack(const nb_tile_pass *p, int row, int column)
{
    return (uint32_t)row << p->column_bits | (uint32_t)column;
}

NB_TILE_HD int nb_tile_row(const nb_tile_pass *p, uint32_t group)
{
    return (int)(group >> p->column_bits);
}

NB_TILE_HD int nb_tile_column_of(const nb_tile_pass *p, uint32_t group)
{
    return (int)(group & ((1u << p->column_bits) - 1));
}

/** Set q to the middle ray of a block minus the direction of a column's sources. */
NB_TILE_HD void nb_tile_towards(const nb_tile_pass *p, const nb_ray_block *b, int column,
                                float q[3])
{
    for (int x = 0; x < 3; x++)
        q[x] = (float)(b->c[x] - p->tiles.towards[x][column]);
}

/** A test of items for a first block. Items are groups; or first whole rows (orientations
 * with all sources), and then groups of the kept rows. */
typedef struct nb_tile_look {
    int rows, list; /* items are whole rows; items are groups of rows on the stack */
    int at;         /* first entry of the stack for the kept items */
    int first, n;   /* items first .. first + n - 1 */
    int minors;     /* item i has major number i / minors, minor i % minors */
} nb_tile_look;

/** The test of n groups from `first` on, column by column. With by_rows: the test of n
 * rows or, if `second`, of the n groups of the kept rows. */
NB_TILE_HD nb_tile_look nb_tile_look_of(const nb_tile_pass *p, int second, int first,
                                        int n)
{
    nb_tile_look look = {0, 0, 0, first, n, 0};
    look.minors = p->tiles.rows;
    if (p->by_rows && !second) {
        look.rows = 1;
        look.at = NB_TILE_CHUNK;
        look.minors = 1;
    } else if (p->by_rows) {
        look.list = 1;
        look.first = 0;
        look.minors = p->tiles.columns;
    }
    return look;
}

NB_TILE_HD int nb_tile_look_row(const nb_tile_shared *w, const nb_tile_look *look,
                                int major, int minor)
{
    return look->rows ? major : look->list ? (int)w->stack[NB_TILE_CHUNK + major] : minor;
}

NB_TILE_HD int nb_tile_look_column(const nb_tile_pass *p, const nb_tile_look *look,
                                   int major, int minor)
{
    return look->rows ? p->tiles.columns : look->list ? minor : major;
}

/** Add the bounds of a test's items to a heap. */
NB_TILE_HD void nb_tile_look_at(nb_tile_walk *k, const nb_tile_look *look,
                                nb_tile_heap *heap, NB_LANE_REF(float, low),
                                const int shape)
{
    const nb_tile_pass *p = k->p;
    const nb_ray_block *b = k->w->block;
    const int next_minor = NB_TILE_LANES % look->minors,
              next_major = NB_TILE_LANES / look->minors;
    NB_LANE_OF(int, major);
    NB_LANE_OF(int, minor);
    float q[3];
    nb_tile_towards(p, b, 0, q);
    NB_EACH_LANE(lane)
    {
        NB_LANE(major) = (look->first + lane) / look->minors;
        NB_LANE(minor) = (look->first + lane) % look->minors;
    }
    NB_TILE_ROLLED
    for (int from = 0; from < look->n; from += NB_TILE_LANES) {
        NB_LANE_OF(float, bound);
        NB_LANE_OF(int, item);
        NB_EACH_LANE(lane)
        {
            NB_LANE(item) = from + lane;
            NB_LANE(bound) = 0;
            if (from + lane < look->n) {
                const int row = nb_tile_look_row(k->w, look, NB_LANE(major),
                                                 NB_LANE(minor)),
                          column = nb_tile_look_column(p, look, NB_LANE(major),
                                                       NB_LANE(minor));
                const nb_step_group group =
                    nb_tile_group_at(&p->tiles, &p->packs, row, column);
                if (!p->single)
                    nb_tile_towards(p, b, column, q);
                NB_LANE(bound) = nb_tile_packed_bound(&p->tiles, b, &group, q, shape);
            }
            NB_LANE(minor) += next_minor;
            NB_LANE(major) += next_major;
            if (NB_LANE(minor) >= look->minors) {
                NB_LANE(minor) -= look->minors;
                NB_LANE(major)++;
            }
        }
        nb_tile_heap_add(k->w, heap, item, bound, low);
    }
    k->tally[NB_TILE_TESTS] += (unsigned)(look->n + NB_TILE_LANES - 1) / NB_TILE_LANES;
}

/** Replace the numbers of the kept items by rows or by groups (nb_tile_pack). */
NB_TILE_HD void nb_tile_look_end(nb_tile_walk *k, const nb_tile_look *look, int kept)
{
    uint32_t *at = &k->w->stack[look->at];
    NB_TILE_ROLLED
    for (int from = 0; from < kept; from += NB_TILE_LANES)
        NB_EACH_LANE(lane)
    if (from + lane < kept) {
        const int i = look->first + (int)at[from + lane], major = i / look->minors,
                  minor = i % look->minors;
        at[from + lane] =
            look->rows ? (uint32_t)i
                       : nb_tile_pack(k->p, nb_tile_look_row(k->w, look, major, minor),
                                      nb_tile_look_column(k->p, look, major, minor));
    }
    nb_lanes_meet();
}

/** Test n groups or rows from `first` on for a first block, and put the kept groups at
 * the beginning of the stack. Returns their number. */
NB_TILE_HD int nb_tile_first_groups(nb_tile_walk *k, int first, int n, float budget,
                                    float *spent, const int shape)
{
    const int by_rows = k->p->by_rows;
    int kept = n;
    *spent = 0;
    NB_TILE_ROLLED
    for (int second = !by_rows; second < 2 && kept > 0; second++) {
        const nb_tile_look look = nb_tile_look_of(
            k->p, second, first, second && by_rows ? kept * k->p->tiles.columns : n);
        nb_tile_heap heap = nb_tile_heap_of(
            look.at, look.n, second ? budget - *spent : NB_TILE_ROWS_PART * budget);
        NB_LANE_OF(float, low);
        float more;
        NB_EACH_LANE(lane)
        NB_LANE(low) = 0;
        nb_tile_look_at(k, &look, &heap, NB_LANE_PASS(low), shape);
        kept = nb_tile_heap_end(k->w, &heap, low, &more);
        *spent += more;
        nb_tile_look_end(k, &look, kept);
    }
    return kept;
}

/** n groups for a block of rays, and the budget for those that are left out. */
typedef struct nb_tile_task {
    int block;            /* number in nb_tile_shared.block */
    int list, n, to, end; /* groups stack[list ..]; free entries stack[to .. end - 1] */
    float budget;
} nb_tile_task;

NB_TILE_HD int nb_tile_fewer_groups(nb_tile_walk *k, const nb_tile_task *task,
                                    float *spent, const int shape)
{
    const nb_tile_pass *p = k->p;
    const nb_ray_block *b = &k->w->block[task->block];
    nb_tile_heap heap = nb_tile_heap_of(task->to, task->n, task->budget);
    NB_LANE_OF(float, low);
    float q[3];
    int kept;
    nb_tile_towards(p, b, 0, q);
    NB_EACH_LANE(lane)
    NB_LANE(low) = 0;
    NB_TILE_ROLLED
    for (int from = 0; from < task->n; from += NB_TILE_LANES) {
        NB_LANE_OF(float, bound);
        NB_LANE_OF(int, item);
        NB_EACH_LANE(lane)
        {
            NB_LANE(item) = from + lane;
            NB_LANE(bound) = 0;
            if (from + lane < task->n) {
                const uint32_t entry = k->w->stack[task->list + from + lane];
                const int column = nb_tile_column_of(p, entry);
                const nb_step_group group =
                    nb_tile_group_at(&p->tiles, &p->packs, nb_tile_row(p, entry), column);
                if (!p->single)
                    nb_tile_towards(p, b, column, q);
                NB_LANE(bound) = nb_tile_packed_bound(&p->tiles, b, &group, q, shape);
            }
        }
        nb_tile_heap_add(k->w, &heap, item, bound, NB_LANE_PASS(low));
    }
    k->tally[NB_TILE_TESTS] += (unsigned)(task->n + NB_TILE_LANES - 1) / NB_TILE_LANES;
    k->tally[NB_TILE_SMALLER]++;
    kept = nb_tile_heap_end(k->w, &heap, low, spent);
    NB_TILE_ROLLED
    for (int from = 0; from < kept; from += NB_TILE_LANES)
        NB_EACH_LANE(lane)
    if (from + lane < kept) {
        uint32_t *to = &k->w->stack[task->to + from + lane];
        *to = k->w->stack[task->list + *to];
    }
    nb_lanes_meet();
    return kept;
}

/* Number of steps of a group that a lane tests; four lanes test all 16. */
enum { NB_TILE_RUN = 4, NB_TILE_RUNS = NB_TILE_STEPS / NB_TILE_RUN };

/** Dot products of axes and (ray - incident direction), which are the same for all steps
 * of one orientation and direction. */
typedef struct nb_tile_products {
    float along[3];
} nb_tile_products;

/** Upper bound of step NB_TILE_RUNS i + run of a group. Called for i = 0, 1 .. in turn,
 * because *products may be used again. q0: the block's middle ray minus the first
 * source's direction. */
NB_TILE_HD float nb_tile_run_bound(const nb_tile_pass *p, const nb_ray_block *b,
                                   uint32_t group, int i, int run, const float q0[3],
                                   nb_tile_products *products, const int shape)
{
    const nb_tiles *t = &p->tiles;
    const int row = nb_tile_row(p, group), column = nb_tile_column_of(p, group),
              step = NB_TILE_RUNS * i + run, source = nb_tile_source(t, column, step);
    if (i == 0 || !p->single || !t->by_source) {
        float q[3] = {q0[0], q0[1], q0[2]};
        if (!p->single)
            for (int x = 0; x < 3; x++)
                q[x] = (float)(b->c[x] - t->incident[x][source]);
        nb_tile_along(t, &p->packs, nb_tile_orientation(t, row, step), q, products->along);
    }
    {
        const nb_tile_two of = nb_tile_two_at(&p->packs.sources[source]);
        return nb_tile_along_bound(t, b, of.x, of.y, products->along, shape);
    }
}

/** Put the steps of a task's groups that a block of 2 x 2 rays keeps on the stack: 16
 * times the index of the group plus the number of the step. Returns their number. */
NB_TILE_HD int nb_tile_few_steps(nb_tile_walk *k, const nb_tile_task *task, float *spent,
                                 const int shape)
{
    const nb_tile_pass *p = k->p;
    const nb_ray_block *b = &k->w->block[task->block];
    const int n = task->n * NB_TILE_STEPS;
    nb_tile_heap heap = nb_tile_heap_of(task->to, n, task->budget);
    NB_LANE_OF(float, low);
    float q[3];
    for (int x = 0; x < 3; x++)
        q[x] = (float)(b->c[x] - p->tiles.incident[x][0]);
    NB_EACH_LANE(lane)
    NB_LANE(low) = 0;
    NB_TILE_ROLLED
    for (int from = 0; from < task->n; from += NB_TILE_LANES / NB_TILE_RUNS) {
        NB_LANE_OF(nb_tile_products, products);
        NB_TILE_ROLLED
        for (int j = 0; j < NB_TILE_RUN; j++) {
            NB_LANE_OF(float, bound);
            NB_LANE_OF(int, item);
            NB_EACH_LANE(lane)
            {
                const int i = from + lane / NB_TILE_RUNS, run = lane % NB_TILE_RUNS;
                NB_LANE(item) = i * NB_TILE_STEPS + NB_TILE_RUNS * j + run;
                NB_LANE(bound) = 0;
                if (i < task->n)
                    NB_LANE(bound) =
                        nb_tile_run_bound(p, b, k->w->stack[task->list + i], j, run, q,
                                          &NB_LANE(products), shape);
            }
            nb_tile_heap_add(k->w, &heap, item, bound, NB_LANE_PASS(low));
        }
    }
    k->tally[NB_TILE_STEP_TESTS] += (unsigned)(n + NB_TILE_LANES - 1) / NB_TILE_LANES;
    return nb_tile_heap_end(k->w, &heap, low, spent);
}

#endif
