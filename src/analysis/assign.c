/* SPDX-License-Identifier: MIT */
/* Optimal pairing of peaks: shortest augmenting paths (Jonker & Volgenant, Computing 38,
 * 325 (1987)) on the sparse graph of pairs within the gate. Every row may also stay single,
 * at a cost above that of all pairs together, so that the number of pairs has priority. A
 * path never leaves its cluster of neighbours, so the search is short. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "peaks.h"

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
    double *own;  /* [rows] cost of the present pair */
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

/** The cheapest end of a path: row takes column (-1: stays alone). */
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
    if (!st)
        st = connect(a, b, gate, &g, err);
    for (int i = 0; !st && i < a->count; i++)
        augment(&g, search(&g, i, 1e-12 * (gate * gate + 1)));
    release(&g);
    return st;
}
