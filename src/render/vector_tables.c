/* SPDX-License-Identifier: MIT */
/* F^2 for sources with different tables of F. Only reflections near the Ewald sphere are
 * filled: a few percent for a still. */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/structure_factor.h"
#include "vector_plan.h"

enum {
    INDEX_BITS = 30,
    /* reflections that are filled together, so that their lines stay in the L1 cache */
    CHUNK = 64,
    TOGETHER = 8, /* tables that are filled together */
    LINE = 8      /* doubles in a line of memory */
};

void nb_clamp_box(const nb_factor_table *sf, nb_index_box *box)
{
    const int first[3] = {sf->hmin, sf->kmin, sf->lmin},
              count[3] = {sf->nh, sf->nk, sf->nl};
    int axis;
    for (axis = 0; axis < 3; axis++) {
        int64_t rim[2] = {-((int64_t)first[axis] + count[axis]), 1 - (int64_t)first[axis]};
        int64_t low = box->low[axis], high = low + box->n[axis] - 1;
        low = low < rim[0] ? rim[0] : low > rim[1] ? rim[1] : low;
        high = high > rim[1] ? rim[1] : high < rim[0] ? rim[0] : high;
        box->low[axis] = (int32_t)low;
        box->n[axis] = (int32_t)(high - low + 1);
    }
}

/** Index of a reflection in the file's table (-1: outside the file), and in the table of
 * squares. */
typedef struct cell {
    int32_t from, to;
} cell;

typedef struct cell_list {
    cell *cells; /* owned */
    size_t n;
} cell_list;

/** Reflections that are filled: a run in each row along `axis`, or all if `runs` is NULL. */
typedef struct filled_rows {
    nb_index_run *runs; /* owned */
    int axis;
} filled_rows;

/** Set box, shifts, mask and offset. fold: the axis with the largest shift. Entries along
 * it are used again after at least `length` entries. */
static void set_tables(int n_tables, const nb_index_box *box, int fold, int length,
                       nb_factor_squares *t)
{
    const int inner = fold == 2 ? 1 : 2, outer = 3 - fold - inner;
    uint32_t stride[3];
    int bits;
    t->box = *box;
    t->shift[inner] = nb_log2_ceil(n_tables);
    t->shift[outer] = t->shift[inner] + nb_log2_ceil(box->n[inner]);
    t->shift[fold] = t->shift[outer] + nb_log2_ceil(box->n[outer]);
    bits = t->shift[fold] + nb_log2_ceil(length);
    t->mask = bits <= INDEX_BITS ? (int32_t)(((uint32_t)1 << bits) - 1) : 0;
    for (int axis = 0; axis < 3; axis++)
        stride[axis] = (uint32_t)1 << (t->shift[axis] & 31);
    t->offset = nb_fixed_offset(box->low, stride);
}

static double bytes_of(const nb_factor_squares *t)
{
    return t->mask ? sizeof(float) * ((double)t->mask + 1) : INFINITY;
}

/** Length of the longest run. *sum: length of all runs together. */
static int longest_run(const nb_index_box *box, const filled_rows *rows, double *sum)
{
    const size_t n =
        (size_t)box->n[(rows->axis + 1) % 3] * (size_t)box->n[(rows->axis + 2) % 3];
    int longest = 1;
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        int length = rows->runs[i].end - rows->runs[i].first;
        longest = length > longest ? length : longest;
        *sum += length;
    }
    return longest;
}

static nb_index_run filled_run(const nb_index_box *box, const filled_rows *rows, size_t i)
{
    const nb_index_run all = {0, box->n[rows->axis]};
    return rows->runs ? rows->runs[i] : all;
}

/** Index of a reflection in the file's tables; -1: outside their box. */
static int32_t file_place(const nb_factor_table *sf, const nb_index_box *box,
                          const int at[3])
{
    int64_t h = -((int64_t)box->low[0] + at[0]) - sf->hmin,
            k = -((int64_t)box->low[1] + at[1]) - sf->kmin,
            l = -((int64_t)box->low[2] + at[2]) - sf->lmin;
    if (h < 0 || h >= sf->nh || k < 0 || k >= sf->nk || l < 0 || l >= sf->nl)
        return -1;
    return (int32_t)((h * sf->nk + k) * sf->nl + l);
}

static cell cell_of(const nb_factor_squares *t, const nb_factor_table *sf, const int at[3])
{
    uint32_t to = 0;
    for (int axis = 0; axis < 3; axis++)
        to += (uint32_t)at[axis] << t->shift[axis];
    return (cell){file_place(sf, &t->box, at), (int32_t)(to & (uint32_t)t->mask)};
}

/** Add the cells of group number `outer` of `inner` rows to the list. next[] is work
 * space: the index in the list of the next cell for each position along the axis of the
 * rows. */
static void list_rows(const nb_factor_squares *t, const nb_factor_table *sf,
                      const filled_rows *rows, size_t outer, size_t inner,
                      cell_list *list, size_t *next)
{
    const int axis = rows->axis, a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    const size_t across = (size_t)t->box.n[b];
    int at[3];
    memset(next, 0, (size_t)t->box.n[axis] * sizeof *next);
    for (size_t i = outer * inner; i < (outer + 1) * inner; i++) {
        const nb_index_run run = filled_run(&t->box, rows, i);
        for (int x = run.first; x < run.end; x++)
            next[x]++;
    }
    for (int x = t->box.n[axis] - 1; x >= 0; x--) {
        const size_t count = next[x];
        next[x] = list->n;
        list->n += count;
    }
    for (size_t i = (outer + 1) * inner; i-- > outer * inner;) {
        const nb_index_run run = filled_run(&t->box, rows, i);
        at[a] = (int)(i / across);
        at[b] = (int)(i % across);
        for (at[axis] = run.first; at[axis] < run.end; at[axis]++)
            list->cells[next[at[axis]]++] = cell_of(t, sf, at);
    }
}

/** List the cells to fill in the order of the file's table. Indices of the table of
 * squares fall along each axis. Errors: NB_ERR_NOMEM. */
static nb_status list_cells(const nb_factor_squares *t, const nb_factor_table *sf,
                            const filled_rows *rows, cell_list *list, nb_error *err)
{
    const int32_t *n = t->box.n;
    const int axis = rows->axis;
    const size_t inner = axis == 2   ? 1
                         : axis == 1 ? (size_t)n[2]
                                     : (size_t)n[1] * (size_t)n[2];
    const size_t all = (size_t)n[(axis + 1) % 3] * (size_t)n[(axis + 2) % 3];
    size_t *next = nb_alloc_raw((size_t)n[axis], sizeof *next, "visible reflections", err);
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        const nb_index_run run = filled_run(&t->box, rows, i);
        count += (size_t)(run.end - run.first);
    }
    list->cells = nb_alloc_raw(count, sizeof *list->cells, "visible reflections", err);
    list->n = 0;
    for (size_t outer = all / inner; next && list->cells && outer-- > 0;)
        list_rows(t, sf, rows, outer, inner, list, next);
    nb_free(next);
    return next && list->cells ? NB_OK : NB_ERR_NOMEM;
}

/** Fill n reflections in `count` tables from F on, which are `apart` values apart: table
 * k of a cell goes to F2[cell.to + k]. The memory was not used recently: lines of the
 * next `more` tables are prefetched. */
static void fill_together(const double *F, size_t apart, int count, int more, float *F2,
                          double inv_largest, float outside, const cell *cells, size_t n)
{
    int32_t line = -1;
    for (size_t i = 0; i < n; i++) {
        const int32_t from = cells[i].from;
        float *to = F2 + cells[i].to;
        for (int k = 0; k < count; k++)
            to[k] = from < 0 ? outside
                             : nb_relative_square(F[(size_t)k * apart + (size_t)from],
                                                  inv_largest);
        if (from < 0 || from / LINE == line)
            continue;
        line = from / LINE;
        for (int k = TOGETHER; k < TOGETHER + more; k++)
            __builtin_prefetch(F + (size_t)k * apart + (size_t)from);
    }
}

/** Fill n reflections in all tables. */
static void fill_chunk(const nb_factor_table *sf, float *F2, double largest,
                       const cell *cells, size_t n)
{
    const double inv_largest = 1.0 / largest;
    const float outside = nb_relative_square(sf->default_F, inv_largest);
    const int tables = nb_table_count(sf);
    const size_t apart = nb_table_values(sf) / (size_t)tables;
    for (int k = 0; k < tables; k += TOGETHER) {
        const int count = tables - k < TOGETHER ? tables - k : TOGETHER,
                  left = tables - k - count;
        fill_together(nb_table_at(sf, k), apart, count, left < TOGETHER ? left : TOGETHER,
                      F2 + k, inv_largest, outside, cells, n);
    }
}

static void fill_tables(const nb_plan *plan, const nb_factor_squares *t,
                        const cell_list *list)
{
    const int64_t chunks = (int64_t)(list->n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic, 8) num_threads(plan->engine.threads)
    for (int64_t i = 0; i < chunks; i++) {
        const size_t first = (size_t)i * CHUNK;
        const size_t n = list->n - first < CHUNK ? list->n - first : CHUNK;
        fill_chunk(&plan->scene->factors.table, t->F2, plan->largest, list->cells + first,
                   n);
    }
}

/** Forbid large pages. Only a small part of the memory is filled, but the system would
 * clear whole large pages. */
static void keep_pages_small(float *F2, size_t bytes)
{
#ifdef MADV_NOHUGEPAGE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)F2 + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)F2 + bytes) / page * page;
    if (to > from)
        (void)madvise((char *)F2 + (from - (uintptr_t)F2), to - from, MADV_NOHUGEPAGE);
#endif
    (void)F2;
    (void)bytes;
}

void nb_kept_squares_free(nb_kept_squares *kept)
{
    nb_free(kept->squares.F2);
    nb_free(kept->runs);
    *kept = (nb_kept_squares){0};
}

/** Get memory for the squares: the memory of the kept squares, if its size is the same. */
static nb_status take_memory(nb_kept_squares *kept, nb_factor_squares *t, nb_error *err)
{
    const size_t bytes = (size_t)bytes_of(t);
    nb_free(kept->runs);
    kept->runs = NULL;
    t->F2 = kept->squares.F2;
    if (kept->bytes != bytes) {
        nb_free(t->F2);
        kept->squares.F2 = NULL;
        kept->bytes = 0;
        t->F2 = nb_alloc_raw(bytes, 1, "tables of structure factors", err);
        if (!t->F2)
            return NB_ERR_NOMEM;
        keep_pages_small(t->F2, bytes);
        kept->bytes = bytes;
    }
    kept->squares = *t;
    return NB_OK;
}

/** True if the kept squares belong to these tables and runs. Tables that were not
 * measured have no hash and never match. */
static int is_kept(const nb_kept_squares *kept, const nb_factor_squares *t,
                   const nb_factor_table *sf, const filled_rows *rows, size_t n_runs)
{
    const nb_factor_squares *was = &kept->squares;
    const nb_factor_table *from = &kept->from;
    return was->F2 && sf->measured && from->measured && was->kind == t->kind &&
           was->unit == t->unit && was->offset == t->offset && was->mask == t->mask &&
           memcmp(&was->box, &t->box, sizeof t->box) == 0 &&
           memcmp(was->shift, t->shift, sizeof t->shift) == 0 && from->hash == sf->hash &&
           from->n_tables == sf->n_tables && from->default_F == sf->default_F &&
           from->hmin == sf->hmin && from->kmin == sf->kmin && from->lmin == sf->lmin &&
           from->nh == sf->nh && from->nk == sf->nk && from->nl == sf->nl &&
           !kept->runs == !rows->runs &&
           (!rows->runs ||
            (kept->n_runs == n_runs &&
             memcmp(kept->runs, rows->runs, n_runs * sizeof *rows->runs) == 0));
}

/** Allocate and fill the tables. */
static nb_status make_tables(const nb_plan *plan, const filled_rows *rows,
                             nb_factor_squares *t, nb_kept_squares *kept, nb_error *err)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    cell_list list = {0};
    nb_status st;
    NB_FORWARD(take_memory(kept, t, err));
    kept->from.measured = 0; /* 0 until the tables are filled */
    st = list_cells(t, sf, rows, &list, err);
    if (!st)
        fill_tables(plan, t, &list);
    nb_free(list.cells);
    if (st)
        return st;
    kept->from = *sf;
    kept->made++;
    return NB_OK;
}

nb_status nb_factor_tables_build(const nb_plan *plan, const nb_index_box *visible,
                                 nb_kept_squares *kept, nb_error *err)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    const double unit = plan->largest * plan->largest;
    nb_factor_squares t = {.kind = NB_F_TABLES, .unit = unit},
                      clamped = {.kind = NB_F_TABLES_CLAMPED, .unit = unit};
    nb_index_box box = *visible;
    double seen;
    int longest;
    filled_rows rows = {NULL, nb_steepest_axis(plan->scene)};
    size_t n_runs =
        (size_t)visible->n[(rows.axis + 1) % 3] * (size_t)visible->n[(rows.axis + 2) % 3];
    nb_status st;
    NB_FORWARD(nb_visible_runs(plan, visible, rows.axis, &rows.runs, err));
    longest = longest_run(visible, &rows, &seen);
    set_tables(nb_table_count(sf), visible, rows.axis, longest, &t);
    nb_clamp_box(sf, &box);
    set_tables(nb_table_count(sf), &box, 0, box.n[0], &clamped);
    if (!t.mask || seen > 2 * nb_index_box_count(&box)) {
        t = clamped;
        nb_free(rows.runs);
        rows.runs = NULL;
    }
    if (!is_kept(kept, &t, sf, &rows, n_runs)) {
        st = make_tables(plan, &rows, &t, kept, err);
        kept->runs = rows.runs;
        kept->n_runs = n_runs;
        rows.runs = NULL;
    }
    nb_free(rows.runs);
    return st;
}

int nb_factor_tables_fit(const nb_factor_table *sf)
{
    return nb_log2_ceil((int64_t)sf->nh + 2) + nb_log2_ceil((int64_t)sf->nk + 2) +
               nb_log2_ceil((int64_t)sf->nl + 2) + nb_log2_ceil(nb_table_count(sf)) <=
           INDEX_BITS;
}
