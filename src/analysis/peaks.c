/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"

/* Optimal pairing of peaks: shortest augmenting paths (Jonker & Volgenant, Computing 38, 325
 * (1987)) on the sparse graph of pairs within the gate. A row may also stay without a pair, at a
 * cost above that of all pairs together, so that the number of pairs has priority. A path never
 * leaves its cluster of neighbours, so the search is short. */

typedef struct edge {
    int column;
    double cost;
} edge;

typedef struct graph {
    int rows, columns;
    size_t *start; /* [rows + 1] into edges */
    edge *edges;
    int *owner;   /* [columns] row, or -1 */
    int *partner; /* [rows] column or -1; the caller's */
    double *own;  /* [rows] cost of the current pair */
    double alone;
    /* of one search */
    double *distance;
    int *from, *queue, *touched;
    char *queued;
} graph;

typedef struct entry {
    double x;
    int index;
} entry;

static int by_x(const void *a, const void *b)
{
    double x = ((const entry *)a)->x, y = ((const entry *)b)->x;
    return x < y ? -1 : x > y;
}

/** The first entry with x >= low. */
static int first_from(const entry *sorted, int n, double low)
{
    int from = 0, to = n;
    while (from < to) {
        int middle = from + (to - from) / 2;
        if (sorted[middle].x < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/** Write the edges of one spot to out (NULL: only count them). */
static size_t neighbours(const nb_spot *a, const nb_spot_list *b, const entry *sorted,
                         double gate, edge *out)
{
    size_t n = 0;
    /* slightly too wide: the distance is checked below */
    for (int k = first_from(sorted, b->count, a->x - 1.001 * gate);
         k < b->count && sorted[k].x <= a->x + 1.001 * gate; k++) {
        const nb_spot *other = &b->spots[sorted[k].index];
        double dx = a->x - other->x, dy = a->y - other->y, cost = dx * dx + dy * dy;
        if (!(cost <= gate * gate))
            continue;
        if (out)
            out[n] = (edge){sorted[k].index, cost};
        n++;
    }
    return n;
}

static nb_status connect(const nb_spot_list *a, const nb_spot_list *b, double gate,
                         graph *g, nb_error *err)
{
    entry *sorted = nb_alloc((size_t)b->count, sizeof *sorted, "peak pairs", err);
    nb_status st = sorted ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0; !st && k < b->count; k++)
        sorted[k] = (entry){b->spots[k].x, k};
    if (!st && b->count)
        qsort(sorted, (size_t)b->count, sizeof *sorted, by_x);
    for (int i = 0; !st && i < a->count; i++)
        g->start[i + 1] = g->start[i] + neighbours(&a->spots[i], b, sorted, gate, NULL);
    if (!st &&
        !(g->edges = nb_alloc(g->start[a->count], sizeof *g->edges, "peak pairs", err)))
        st = NB_ERR_NOMEM;
    for (int i = 0; !st && i < a->count; i++)
        neighbours(&a->spots[i], b, sorted, gate, g->edges + g->start[i]);
    nb_free(sorted);
    return st;
}

static nb_status prepare(graph *g, int rows, int columns, nb_error *err)
{
    size_t n = (size_t)rows, m = (size_t)columns;
    g->rows = rows;
    g->columns = columns;
    if (!(g->start = nb_alloc(n + 1, sizeof *g->start, "peak pairs", err)) ||
        !(g->owner = nb_alloc(m, sizeof *g->owner, "peak pairs", err)) ||
        !(g->own = nb_alloc(n, sizeof *g->own, "peak pairs", err)) ||
        !(g->distance = nb_alloc(n, sizeof *g->distance, "peak pairs", err)) ||
        !(g->from = nb_alloc(n, sizeof *g->from, "peak pairs", err)) ||
        !(g->queue = nb_alloc(n + 1, sizeof *g->queue, "peak pairs", err)) ||
        !(g->touched = nb_alloc(n, sizeof *g->touched, "peak pairs", err)) ||
        !(g->queued = nb_alloc(n, 1, "peak pairs", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < columns; i++)
        g->owner[i] = -1;
    for (int i = 0; i < rows; i++) {
        g->partner[i] = -1;
        g->distance[i] = INFINITY;
    }
    return NB_OK;
}

static void release(graph *g)
{
    nb_free(g->start);
    nb_free(g->edges);
    nb_free(g->owner);
    nb_free(g->own);
    nb_free(g->distance);
    nb_free(g->from);
    nb_free(g->queue);
    nb_free(g->touched);
    nb_free(g->queued);
}

/** The cheapest end of a path: row takes column (-1: no pair). */
typedef struct path_end {
    double total, cost;
    int row, column;
} path_end;

static void offer(path_end *best, double total, int row, const edge *e)
{
    if (!(total < best->total))
        return;
    best->total = total;
    best->row = row;
    best->column = e ? e->column : -1;
    best->cost = e ? e->cost : 0;
}

/** The shortest path from a new row, each step displacing one row from its column. */
static path_end search(graph *g, int start, double tiny)
{
    path_end best = {INFINITY, 0, start, -1};
    int head = 0, tail = 0, touched = 0;
    g->distance[start] = 0;
    g->from[start] = -1;
    g->queue[tail++] = g->touched[touched++] = start;
    while (head != tail) {
        int u = g->queue[head];
        head = head == g->rows ? 0 : head + 1;
        g->queued[u] = 0;
        offer(&best, g->distance[u] + g->alone, u, NULL);
        for (size_t k = g->start[u]; k < g->start[u + 1]; k++) {
            const edge *e = &g->edges[k];
            double reach = g->distance[u] + e->cost;
            int v = g->owner[e->column];
            if (v < 0) {
                offer(&best, reach, u, e);
                continue;
            }
            reach -= g->own[v];
            if (!(reach < g->distance[v] - tiny))
                continue;
            if (isinf(g->distance[v]))
                g->touched[touched++] = v;
            g->distance[v] = reach;
            g->from[v] = u;
            if (!g->queued[v]) {
                g->queued[v] = 1;
                g->queue[tail] = v;
                tail = tail == g->rows ? 0 : tail + 1;
            }
        }
    }
    while (touched > 0)
        g->distance[g->touched[--touched]] = INFINITY;
    return best;
}

static double cost_of(const graph *g, int row, int column)
{
    size_t k = g->start[row];
    while (g->edges[k].column != column)
        k++;
    return g->edges[k].cost;
}

/** Every row of the path takes the column of its successor. */
static void augment(graph *g, path_end end)
{
    int row = end.row, column = end.column;
    double cost = end.cost;
    while (row >= 0) {
        int held = g->partner[row], before = g->from[row];
        g->partner[row] = column;
        g->own[row] = cost;
        if (column >= 0)
            g->owner[column] = row;
        if (before >= 0)
            cost = cost_of(g, before, held);
        column = held;
        row = before;
    }
}

nb_status nb_spots_match(const nb_spot_list *a, const nb_spot_list *b, double gate,
                         int *partner, nb_error *err)
{
    graph g;
    nb_status st;
    memset(&g, 0, sizeof g);
    g.partner = partner;
    g.alone = 2 * gate * gate * (a->count + 1.0) + 1;
    st = prepare(&g, a->count, b->count, err);
    NB_TRY(connect(a, b, gate, &g, err));
    for (int i = 0; !st && i < a->count; i++)
        augment(&g, search(&g, i, 1e-12 * (gate * gate + 1)));
    release(&g);
    return st;
}

/** The part of an image in which peaks are searched. */
typedef struct field {
    const float *image;
    const nb_pair *pair; /* its left-out pixels; NULL: none */
    int fast;
    const int *roi;
    int reach;
} field;

static int is_out(const field *w, int f, int s)
{
    return w->pair && nb_pair_leaves_out(w->pair, (size_t)s * (size_t)w->fast + (size_t)f);
}

static float pixel(const field *w, int f, int s)
{
    return w->image[(size_t)s * (size_t)w->fast + (size_t)f];
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static int is_peak(const field *w, int f, int s)
{
    float v = pixel(w, f, s);
    int last_s = least(s + w->reach, w->roi[3]), last_f = least(f + w->reach, w->roi[1]);
    for (int y = most(s - w->reach, w->roi[2]); y <= last_s; y++)
        for (int x = most(f - w->reach, w->roi[0]); x <= last_f; x++) {
            float other = pixel(w, x, y);
            if (is_out(w, x, y))
                continue;
            if (other > v || (other == v && (y < s || (y == s && x < f))))
                return 0;
        }
    return 1;
}

/** Is the pixel left out, or one of the four for its parabolas? Then it is no peak, as on the
 * edge. */
static int is_beside_out(const field *w, int f, int s)
{
    return w->pair && (is_out(w, f, s) || is_out(w, f - 1, s) || is_out(w, f + 1, s) ||
                       is_out(w, f, s - 1) || is_out(w, f, s + 1));
}

/** Position of the maximum of the parabola through three values; 0 is the middle one. */
static double top(double left, double middle, double right)
{
    double curvature = left - 2 * middle + right;
    return curvature < 0 ? 0.5 * (left - right) / curvature : 0;
}

static nb_spot spot_at(const field *w, int f, int s)
{
    float v = pixel(w, f, s);
    nb_spot spot = {f, s, v, f + top(pixel(w, f - 1, s), v, pixel(w, f + 1, s)),
                    s + top(pixel(w, f, s - 1), v, pixel(w, f, s + 1))};
    return spot;
}

static int brightest_first(const void *a, const void *b)
{
    const nb_spot *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    if (x->slow != y->slow)
        return x->slow < y->slow ? -1 : 1;
    return x->fast < y->fast ? -1 : x->fast > y->fast;
}

/** The percentile of the rectangle's values. */
static nb_status level(const field *w, double percent, double *out, nb_error *err)
{
    size_t width = (size_t)(w->roi[1] - w->roi[0] + 1), n = 0;
    double *values = nb_alloc_raw(width * (size_t)(w->roi[3] - w->roi[2] + 1),
                                  sizeof *values, "peak threshold", err);
    if (!values)
        return NB_ERR_NOMEM;
    for (int s = w->roi[2]; s <= w->roi[3]; s++)
        for (int f = w->roi[0]; f <= w->roi[1]; f++)
            if (!is_out(w, f, s))
                values[n++] = pixel(w, f, s);
    *out = nb_percentile_of(values, n, percent);
    nb_free(values);
    return NB_OK;
}

static nb_status append(nb_spot_list *list, int *room, nb_spot spot, nb_error *err)
{
    if (list->count == *room) {
        const int more = *room * 2 + 64;
        if (nb_grow(&list->spots, (size_t)list->count, (size_t)more, sizeof spot, "peaks",
                    err))
            return NB_ERR_NOMEM;
        *room = more;
    }
    list->spots[list->count++] = spot;
    return NB_OK;
}

static void keep_brightest(nb_spot_list *list, int wanted)
{
    float last;
    if (wanted <= 0 || list->count <= wanted)
        return;
    last = list->spots[wanted - 1].value;
    while (wanted < list->count && list->spots[wanted].value >= last - 1e-3f * fabsf(last))
        wanted++;
    list->count = wanted;
}

static nb_status find(field w, const nb_compare_options *options, nb_spot_list *out,
                      nb_error *err)
{
    const int *roi = w.roi;
    double threshold;
    int room = 0;
    nb_status st = level(&w, options->peak_percentile, &threshold, err);
    memset(out, 0, sizeof *out);
    for (int s = roi[2] + 1; s < roi[3] && !st; s++)
        for (int f = roi[0] + 1; f < roi[1] && !st; f++)
            if (pixel(&w, f, s) > threshold && !is_beside_out(&w, f, s) &&
                is_peak(&w, f, s))
                st = append(out, &room, spot_at(&w, f, s), err);
    if (st) {
        nb_free(out->spots);
        memset(out, 0, sizeof *out);
        return st;
    }
    if (out->count)
        qsort(out->spots, (size_t)out->count, sizeof *out->spots, brightest_first);
    keep_brightest(out, options->peak_count);
    return NB_OK;
}

nb_status nb_spots_find(const float *image, int fast, const int roi[4],
                        const nb_compare_options *options, nb_spot_list *out,
                        nb_error *err)
{
    const field w = {image, NULL, fast, roi, options->peak_exclusion};
    return find(w, options, out, err);
}

/** Count, fraction and shifts of a pairing. */
static void measure(const nb_spot_list *a, const nb_spot_list *b, const int *partner,
                    nb_difference *d)
{
    double squares = 0, x = 0, y = 0, n;
    for (int i = 0; i < a->count; i++) {
        double dx, dy;
        if (partner[i] < 0)
            continue;
        dx = a->spots[i].x - b->spots[partner[i]].x;
        dy = a->spots[i].y - b->spots[partner[i]].y;
        squares += dx * dx + dy * dy;
        x += dx;
        y += dy;
        d->peaks_matched++;
    }
    n = d->peaks_matched;
    if (a->count || b->count)
        d->peaks_fraction = n / most(a->count, b->count);
    else
        d->peaks_fraction = 1;
    d->peaks_rms_shift = n > 0 ? sqrt(squares / n) : a->count || b->count ? NAN : 0;
    d->peaks_mean_shift[0] = n > 0 ? x / n : d->peaks_rms_shift;
    d->peaks_mean_shift[1] = n > 0 ? y / n : d->peaks_rms_shift;
}

nb_status nb_compare_peaks(const nb_pair *p, const nb_compare_options *options,
                           nb_difference *d, nb_error *err)
{
    nb_spot_list a = {0}, b = {0};
    int *partner = NULL;
    const field of_a = {p->a, p, p->fast, p->roi, options->peak_exclusion};
    const field of_b = {p->b, p, p->fast, p->roi, options->peak_exclusion};
    nb_status st = find(of_a, options, &a, err);
    NB_TRY(find(of_b, options, &b, err));
    if (!st && !(partner = nb_alloc((size_t)a.count, sizeof *partner, "peak pairs", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(nb_spots_match(&a, &b, options->gate_px, partner, err));
    d->peaks_a = a.count;
    d->peaks_b = b.count;
    if (!st)
        measure(&a, &b, partner, d);
    nb_free(partner);
    nb_free(a.spots);
    nb_free(b.spots);
    return st;
}
