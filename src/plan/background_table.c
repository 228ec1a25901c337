/* SPDX-License-Identifier: MIT */
/* Each bucket is halved until a cubic through four points of a cell is right at three others. */
#include "background_table.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/panels.h"
#include "../physics/ray.h"

enum {
    MOST_CELLS = 4096, /* of a bucket */
    DEEPEST = 20,      /* halvings */
    POINTS =
        7, /* points of a cell, at t = i/6: four for the cubic and three for its test */
    AROUND = NB_BACKGROUND_BUCKETS / NB_BACKGROUND_AROUND + 1,
    FIRST_ROOM = 8
};

/* Least number of rays for each bucket of the materials' tables: making the table takes about as
 * many sums. */
#define PAYS 32
/* Part of the largest sum that is neglected. */
#define FLOOR 1e-13
/* Largest angle under which a tile of the smooth part is seen, rad. */
#define TILE_ANGLE 0.025

int nb_background_edge(const nb_panel *panel)
{
    const double pixel = fmax(panel->pixel_fast, panel->pixel_slow);
    int edge = 64;
    while (edge > 8 && edge * pixel > TILE_ANGLE * panel->close_distance)
        edge /= 2;
    return edge;
}

/* ------------------------------------------------------------------ groups */

/** Finds the group of each source. Returns the number of groups, 0 if there are too many. */
static int find_groups(const nb_beam *beam, int *group, nb_background_group *groups)
{
    int n = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        const nb_vec3 incident = beam->sources[i].incident;
        int g = 0;
        while (g < n && nb_norm(nb_sub(groups[g].incident, incident)) > 0)
            g++;
        if (g == NB_BACKGROUND_GROUPS)
            return 0;
        if (g == n) {
            groups[n].incident = incident;
            groups[n++].source = i;
        }
        groups[g].n++;
        group[i] = g;
    }
    return n;
}

/** Sorts the sources by group. */
static void sort_sources(const nb_beam *beam, const int *group, nb_background_table *t)
{
    int next = 0;
    for (int g = 0; g < t->n; g++) {
        t->groups[g].first = next;
        for (int i = 0; i < beam->n_sources; i++)
            if (group[i] == g)
                t->sources[next++] = beam->sources[i];
    }
}

/* ------------------------------------------------------------------ range */

/** The region of a panel, up to the borders of its tiles. */
static nb_region tiled_region(const nb_scene *sc, const nb_panel *panel)
{
    const int edge = nb_background_edge(panel);
    nb_region r = nb_panel_region(sc, panel);
    r.fmin = r.fmin / edge * edge;
    r.smin = r.smin / edge * edge;
    r.fmax = (r.fmax / edge + 1) * edge - 1;
    r.smax = (r.smax / edge + 1) * edge - 1;
    return r;
}

/** The directions to a flat region's corners, at both faces of its sensor. */
static void aim_corners(const nb_scene *sc, const nb_panel *panel, nb_vec3 at[8])
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const nb_region r = tiled_region(sc, panel);
    for (int i = 0; i < 8; i++) {
        const double F = panel->pixel_fast * (i & 1 ? r.fmax + 1 : r.fmin),
                     S = panel->pixel_slow * (i & 2 ? r.smax + 1 : r.smin);
        at[i] = nb_unit(
            nb_panel_point(panel, F, S, i & 4 ? sensor->layers * sensor->layer_step : 0));
    }
}

/** Widen low..high to the sines of a panel's region.  Directions within an angle below 90 degrees are a convex
 * cone, so that of the corners holds all. */
static void widen(const nb_scene *sc, const nb_panel *panel, const nb_background_group *g,
                  double *low, double *high)
{
    const double half_right = 0.7; /* below sin 45 degrees */
    nb_vec3 at[8], sum = {0, 0, 0};
    double chord = 0, most = 0;
    if (nb_region_pixels(nb_panel_region(sc, panel)) == 0)
        return;
    aim_corners(sc, panel, at);
    for (int i = 0; i < 8; i++) {
        most = fmax(most, nb_background_sine(g, at[i]));
        sum = nb_add(sum, at[i]);
    }
    sum = nb_unit(sum);
    for (int i = 0; i < 8; i++)
        chord = fmax(chord, nb_norm(nb_sub(at[i], sum)));
    if (panel->curved || !(most < half_right) || !(chord < half_right)) {
        *low = 0;
        *high = 1;
        return;
    }
    *low = fmin(*low, nb_background_sine(g, sum) - 0.5 * chord);
    *high = fmax(*high, most);
}

/** The buckets of the region's rays, and some on both sides for the tests of the smooth part. */
static void find_range(const nb_scene *sc, nb_background_group *g)
{
    double low = 1, high = 0;
    for (int k = 0; k < sc->n_panels; k++)
        widen(sc, &sc->panels[k], g, &low, &high);
    g->low = (int)fmax(0, floor(low * NB_BACKGROUND_BUCKETS) - AROUND);
    g->high = (int)fmin(NB_BACKGROUND_BUCKETS - 1,
                        floor(high * NB_BACKGROUND_BUCKETS) + AROUND);
    if (g->high < g->low)
        g->low = g->high = 0;
}

/* ------------------------------------------------------------------ cells */

/** The sum that a table approximates. */
typedef struct sum_of {
    const nb_scene *scene;
    const nb_source *sources;
    int n;
    double floor;
} sum_of;

/** The cells of a bucket. */
typedef struct bucket_cells {
    nb_background_cell *list; /* owned */
    int n, room;
    int failed, crowded; /* memory is exhausted; there are too many */
} bucket_cells;

static double exact_at(const sum_of *of, double sine)
{
    double sum = 0;
    for (int i = 0; i < of->n; i++)
        sum += of->sources[i].weight *
               nb_amorphous_at(of->scene->amorphous, sine / of->sources[i].lambda);
    return sum * of->scene->lattice.n_orientations;
}

/** Is the cubic through y[0], y[2], y[4], y[6] right at the other points? */
static int is_right(const sum_of *of, const double y[POINTS])
{
    const double at[3] = {(5 * (y[0] - y[4]) + 15 * y[2] + y[6]) / 16,
                          (9 * (y[2] + y[4]) - y[0] - y[6]) / 16,
                          (5 * (y[6] - y[2]) + 15 * y[4] + y[0]) / 16};
    for (int i = 0; i < 3; i++)
        if (!(fabs(at[i] - y[2 * i + 1]) <=
              fmax(0.5 * NB_BACKGROUND_ERROR * fabs(y[2 * i + 1]), of->floor)))
            return 0;
    return 1;
}

static void add_cell(bucket_cells *to, double x, double width, const double y[POINTS])
{
    /* Newton's differences over thirds of the cell */
    const double d1 = y[2] - y[0], d2 = y[4] - 2 * y[2] + y[0],
                 d3 = y[6] - 3 * y[4] + 3 * y[2] - y[0];
    if (to->n == to->room) {
        const int room = to->room ? 2 * to->room : FIRST_ROOM;
        to->crowded = room > MOST_CELLS;
        to->failed = to->crowded || nb_grow(&to->list, (size_t)to->n, (size_t)room,
                                            sizeof *to->list, "cells", NULL);
        if (to->failed)
            return;
        to->room = room;
    }
    to->list[to->n++] = (nb_background_cell){
        x,
        1 / width,
        {y[0], 3 * (d1 - d2 / 2 + d3 / 3), 9 * (d2 / 2 - d3 / 2), 27 * (d3 / 6)},
        {0, 0}};
}

/** Adds the cells from x on; y: the sums at the points of the first. */
static void add_cells(const sum_of *of, double x, double width, const double y[POINTS],
                      int depth, bucket_cells *to)
{
    if (to->failed)
        return;
    if (depth == DEEPEST || is_right(of, y)) {
        add_cell(to, x, width, y);
        return;
    }
    for (int half = 0; half < 2; half++) {
        const double start = x + half * width / 2;
        double points[POINTS];
        for (int i = 0; i < POINTS; i++)
            points[i] = i % 2 ? exact_at(of, start + width * i / (2 * (POINTS - 1)))
                              : y[half * (POINTS - 1) / 2 + i / 2];
        add_cells(of, start, width / 2, points, depth + 1, to);
    }
}

static void fill_bucket(const sum_of *of, int bucket, bucket_cells *to)
{
    const double width = 1.0 / NB_BACKGROUND_BUCKETS, x = bucket * width;
    double y[POINTS];
    for (int i = 0; i < POINTS; i++)
        y[i] = exact_at(of, x + width * i / (POINTS - 1));
    add_cells(of, x, width, y, 0, to);
}

/** Joins the cells of all buckets. Returns 0 if memory is exhausted. */
static int join(nb_background_group *g, const bucket_cells *from)
{
    int n = 0;
    g->buckets = nb_alloc(NB_BACKGROUND_BUCKETS + 1, sizeof *g->buckets, "buckets", NULL);
    for (int b = g->low; b <= g->high; b++)
        n += from[b].n;
    g->cells = nb_alloc_raw((size_t)n, sizeof *g->cells, "cells", NULL);
    if (!g->buckets || !g->cells)
        return 0;
    n = 0;
    for (int b = 0; b <= NB_BACKGROUND_BUCKETS; b++) {
        g->buckets[b] = n;
        if (b == NB_BACKGROUND_BUCKETS || b < g->low || b > g->high)
            continue;
        memcpy(g->cells + n, from[b].list, (size_t)from[b].n * sizeof *g->cells);
        n += from[b].n;
    }
    return 1;
}

/** Makes the cells of a group; *crowded: there would be too many. */
static nb_status fill_group(const sum_of *of, nb_background_group *g, int threads,
                            int *crowded, nb_error *err)
{
    bucket_cells *cells = nb_alloc(NB_BACKGROUND_BUCKETS, sizeof *cells, "buckets", err);
    int failed = 0;
    (void)threads;
    if (!cells)
        return NB_ERR_NOMEM;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int b = g->low; b <= g->high; b++)
        fill_bucket(of, b, &cells[b]);
    for (int b = g->low; b <= g->high; b++) {
        *crowded |= cells[b].crowded;
        failed |= cells[b].failed && !cells[b].crowded;
    }
    if (!failed && !*crowded)
        failed = !join(g, cells);
    for (int b = g->low; b <= g->high; b++)
        nb_free(cells[b].list);
    nb_free(cells);
    return failed ? nb_fail_memory(err, 0, "table of the background") : NB_OK;
}

/* ------------------------------------------------------------------ table */

/** Is the table quicker than the sums of all rays? The answer is the same for each region of a
 * detector. */
static int pays(const nb_scene *sc)
{
    double rays = 0, sums = NB_BACKGROUND_BUCKETS;
    for (int k = 0; k < sc->n_panels; k++)
        rays += (double)sc->panels[k].columns * sc->panels[k].rows *
                sc->sensors[sc->panels[k].sensor].layers * sc->oversample * sc->oversample;
    for (int i = 0; i < sc->amorphous->n; i++)
        sums += sc->amorphous->materials[i].n_buckets;
    return rays >= PAYS * sums;
}

static nb_status fill(const nb_scene *sc, nb_background_table *t, int threads,
                      int *crowded, nb_error *err)
{
    double weights = 0;
    nb_status st = NB_OK;
    for (int i = 0; i < sc->beam.n_sources; i++)
        weights += fabs(sc->beam.sources[i].weight);
    for (int g = 0; g < t->n && !st && !*crowded; g++) {
        const sum_of of = {sc, t->sources + t->groups[g].first, t->groups[g].n,
                           FLOOR * weights * nb_largest_amorphous(sc->amorphous) *
                               sc->lattice.n_orientations};
        find_range(sc, &t->groups[g]);
        st = fill_group(&of, &t->groups[g], threads, crowded, err);
    }
    return st;
}

nb_status nb_background_table_build(const nb_scene *sc, int threads,
                                    nb_background_table **table, nb_error *err)
{
    const size_t n = (size_t)sc->beam.n_sources;
    int *group, crowded = 0;
    nb_background_table *t;
    nb_status st = NB_OK;
    *table = NULL;
    if (!pays(sc))
        return NB_OK;
    t = nb_alloc(1, sizeof *t, "table of the background", err);
    group = nb_alloc(n, sizeof *group, "table of the background", err);
    if (t) {
        t->groups = nb_alloc(NB_BACKGROUND_GROUPS, sizeof *t->groups,
                             "table of the background", err);
        t->sources = nb_alloc(n, sizeof *t->sources, "table of the background", err);
    }
    if (!t || !group || !t->groups || !t->sources)
        st = NB_ERR_NOMEM;
    if (!st && (t->n = find_groups(&sc->beam, group, t->groups)) > 0) {
        sort_sources(&sc->beam, group, t);
        st = fill(sc, t, threads, &crowded, err);
    }
    nb_free(group);
    if (!st && t->n > 0 && !crowded) {
        *table = t;
        return NB_OK;
    }
    nb_background_table_free(t);
    return st;
}

void nb_background_table_free(nb_background_table *t)
{
    for (int g = 0; t && t->groups && g < NB_BACKGROUND_GROUPS; g++) {
        nb_free(t->groups[g].buckets);
        nb_free(t->groups[g].cells);
    }
    if (t) {
        nb_free(t->groups);
        nb_free(t->sources);
    }
    nb_free(t);
}
