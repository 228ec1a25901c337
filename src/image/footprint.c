/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"

/* Limit of the error (pixels) of light from the edge of the cross-section. The error
 * arises because all pixels of a tile use the taps of the tile's middle. */
#define TILE_ERROR 0.05
enum { TILES_MAX = 64 }; /* limit of the number of tiles along an edge */
#define SAME_MAP 1e-9    /* maps that differ less, in pixels, are equal */

/* --- tiles --- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static nb_footprint_tile tile_at(const nb_panel *p, int n_fast, int n_slow, int i, int j)
{
    nb_footprint_tile t = {(int)((int64_t)p->columns * i / n_fast),
                           (int)((int64_t)p->columns * (i + 1) / n_fast),
                           (int)((int64_t)p->rows * j / n_slow),
                           (int)((int64_t)p->rows * (j + 1) / n_slow),
                           0,
                           0,
                           0};
    t.F = (t.fast + t.fast_end) * 0.5 * p->pixel_fast;
    t.S = (t.slow + t.slow_end) * 0.5 * p->pixel_slow;
    return t;
}

/** Largest difference of displacements between middle and corners of a tile, pixels. */
static double tile_error(const nb_footprint *fp, const nb_panel *p,
                         const nb_footprint_tile *t)
{
    double M[4], C[4], far = 0;
    nb_footprint_map(p, t->F, t->S, fp->a, fp->b, M);
    for (int c = 0; c < 4; c++) {
        nb_footprint_map(p, (c & 1 ? t->fast_end : t->fast) * p->pixel_fast,
                         (c & 2 ? t->slow_end : t->slow) * p->pixel_slow, fp->a, fp->b, C);
        far = fmax(far, hypot(C[0] - M[0], C[1] - M[1]));
        far = fmax(far, hypot(C[2] - M[2], C[3] - M[3]));
    }
    return far;
}

/** Choose the number of tiles along both edges that keeps the error small. */
static void divide(const nb_footprint *fp, const nb_panel *p, nb_footprint_panel *to)
{
    const int end = least(TILES_MAX, least(p->columns, p->rows));
    for (int n = 1, enough = 0; !enough && n <= end; n *= 2) {
        double error = 0;
        for (int i = 0; i < n * n; i++) {
            const nb_footprint_tile t = tile_at(p, n, n, i % n, i / n);
            error = fmax(error, tile_error(fp, p, &t));
        }
        enough = error <= TILE_ERROR;
        to->across = to->down = n;
    }
}

static nb_status too_wide(const nb_footprint *fp, const nb_panel *p, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_INPUT,
        "-footprint %s spreads light over more than %d pixels of %g mm: type a "
        "smaller one, or larger pixels",
        fp->box ? "box" : "gauss", NB_TAPS_FARTHEST, p->pixel_fast * 1e3);
}

/** Make the taps of a tile, or use the taps of the previous tile if its map is equal. */
static nb_status make_taps(const nb_footprint *fp, const nb_panel *p, int slopes,
                           nb_footprint_plan *plan, nb_footprint_tile *t, double last[4],
                           nb_error *err)
{
    double M[4], change = INFINITY;
    int fast, slow;
    nb_status st;
    nb_footprint_map(p, t->F, t->S, fp->a, fp->b, M);
    if (!nb_taps_reach(fp->box, M, &fast, &slow))
        return too_wide(fp, p, err);
    if (plan->n_taps > 0)
        change = fmax(fmax(fabs(M[0] - last[0]), fabs(M[1] - last[1])),
                      fmax(fabs(M[2] - last[2]), fabs(M[3] - last[3])));
    if (!(change <= SAME_MAP)) {
        NB_FORWARD(nb_taps_make(fp->box, M, slopes, &plan->taps[plan->n_taps], err));
        plan->n_taps++;
        memcpy(last, M, sizeof M);
    }
    t->taps = plan->n_taps - 1;
    return NB_OK;
}

static nb_status fill_panel(const nb_footprint *fp, const nb_panel *p, int slopes,
                            nb_footprint_plan *plan, int k, double last[4], nb_error *err)
{
    nb_footprint_panel *to = &plan->panels[k];
    const int n = to->across * to->down;
    nb_status st = NB_OK;
    for (int i = 0; i < n && !st; i++) {
        nb_footprint_tile *t = &plan->tiles[to->tile + i];
        *t = tile_at(p, to->across, to->down, i % to->across, i / to->across);
        st = make_taps(fp, p, slopes, plan, t, last, err);
        if (!st) {
            const nb_taps *taps = &plan->taps[t->taps];
            to->fast = larger(to->fast, taps->fast);
            to->slow = larger(to->slow, taps->slow);
        }
    }
    return st;
}

nb_status nb_footprint_plan_make(const nb_footprint *fp, const nb_scene *sc, int slopes,
                                 nb_footprint_plan *plan, nb_error *err)
{
    double last[4] = {0};
    nb_status st = NB_OK;
    memset(plan, 0, sizeof *plan);
    plan->n_panels = sc->n_panels;
    plan->panels = nb_alloc((size_t)sc->n_panels, sizeof *plan->panels, "footprint", err);
    if (!plan->panels)
        return NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels; k++) {
        divide(fp, &sc->panels[k], &plan->panels[k]);
        plan->panels[k].tile = plan->n_tiles;
        plan->n_tiles += plan->panels[k].across * plan->panels[k].down;
    }
    plan->tiles = nb_alloc((size_t)plan->n_tiles, sizeof *plan->tiles, "footprint", err);
    plan->taps = nb_alloc((size_t)plan->n_tiles, sizeof *plan->taps, "footprint", err);
    if (!plan->tiles || !plan->taps)
        return NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels && !st; k++)
        st = fill_panel(fp, &sc->panels[k], slopes, plan, k, last, err);
    return st;
}

void nb_footprint_plan_free(nb_footprint_plan *plan)
{
    for (int i = 0; i < plan->n_taps; i++)
        nb_taps_free(&plan->taps[i]);
    nb_free(plan->taps);
    nb_free(plan->tiles);
    nb_free(plan->panels);
    memset(plan, 0, sizeof *plan);
}

/* --- sources of light --- */

/** Mark the lit pixels of a row of a mask, and `reach` pixels around them. */
static void grow_row(const uint8_t *from, int n, int reach, uint8_t *to)
{
    int until = -1;
    for (int f = -reach; f < n; f++) {
        if (f + reach < n && from[f + reach])
            until = f + 2 * reach;
        if (f >= 0)
            to[f] = f <= until;
    }
}

/** grow_row for the columns of a panel, in place; last: work space for a row. */
static void grow_columns(uint8_t *mask, int columns, int rows, int reach, int *last)
{
    for (int way = 0; way < 2; way++) {
        for (int f = 0; f < columns; f++)
            last[f] = -1 - reach;
        for (int i = 0; i < rows; i++) {
            uint8_t *row = mask + (size_t)(way ? rows - 1 - i : i) * (size_t)columns;
            for (int f = 0; f < columns; f++) {
                if (row[f] & 1)
                    last[f] = i;
                else if (i - last[f] <= reach)
                    row[f] = 2; /* light of a neighbour reaches this pixel */
            }
        }
    }
    for (size_t i = 0; i < (size_t)columns * (size_t)rows; i++)
        mask[i] = mask[i] != 0;
}

static nb_status grow_mask(const nb_footprint_plan *plan, const nb_scene *sc,
                           uint8_t **out, nb_error *err)
{
    uint8_t *mask = nb_alloc_raw(sc->raster.pixels, 1, "mask", err);
    int *last =
        mask ? nb_alloc((size_t)sc->raster.columns, sizeof *last, "mask", err) : NULL;
    for (int k = 0; last && k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        for (int s = 0; s < p->rows; s++) {
            const size_t at = nb_panel_pixel(p, 0, s);
            grow_row(sc->raster.mask + at, p->columns, plan->panels[k].fast, mask + at);
        }
        grow_columns(mask + p->first_pixel, p->columns, p->rows, plan->panels[k].slow,
                     last);
    }
    if (!last)
        nb_free(mask);
    *out = last ? mask : NULL;
    nb_free(last);
    return *out ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_footprint_sources(const nb_footprint_plan *plan, const nb_scene *sc,
                               nb_scene *sources, uint8_t **mask, nb_error *err)
{
    nb_region *roi = &sources->raster.roi;
    nb_status st = NB_OK;
    int fast = 0, slow = 0;
    *mask = NULL;
    *sources = *sc;
    sources->background = 0; /* a footprint spreads the Bragg light alone */
    sources->amorphous = NULL;
    for (int k = 0; k < sc->n_panels; k++) {
        fast = larger(fast, plan->panels[k].fast);
        slow = larger(slow, plan->panels[k].slow);
    }
    roi->fmin = larger(roi->fmin - fast, 0);
    roi->smin = larger(roi->smin - slow, 0);
    roi->fmax = least(roi->fmax + fast, sc->raster.columns - 1);
    roi->smax = least(roi->smax + slow, sc->raster.rows - 1);
    if (sc->raster.mask)
        st = grow_mask(plan, sc, mask, err);
    if (!st && sc->raster.mask)
        sources->raster.mask = *mask;
    return st;
}

/* --- floats: tile by tile, from a copy of the light --- */

enum { STEP = 8 * NB_SPREAD_ROWS /* rows of the image that a thread makes at a time */ };

/** Taps for nb_spread_block. */
typedef struct float_taps {
    float *k; /* owned, as all arrays; with rows of 0 above and below */
    nb_spread_run *runs;
    int *first_run;
} float_taps;

/** A panel whose light is spread. */
typedef struct spreading {
    const nb_footprint_plan *plan;
    const nb_image_kernels *kernels;
    const float_taps *weights; /* [plan->n_taps] */
    int threads, columns, one; /* one: 1 if the panel has a single tile */
    nb_region to, from; /* regions of the panel: wanted pixels, and pixels with light */
    const float *light; /* light of the panel */
    float *image;       /* image of the panel */
} spreading;

/** The light of one tile. Each row has zeros on both sides. */
typedef struct tile_light {
    int fast, slow, wide, high; /* pixels of the tile */
    /* number of floats before the first pixel of a row, and in a row */
    size_t margin, stride;
    float *pixels; /* owned; [high][stride] */
    uint8_t *lit;  /* owned; [high]; 0: no light in the row */
} tile_light;

static uint8_t any_light(const float *row, int n)
{
    int i = 0;
    while (i < n && row[i] == 0)
        i++;
    return i < n;
}

static nb_status fetch_tile(const spreading *j, const nb_footprint_tile *t, tile_light *l,
                            nb_error *err)
{
    const size_t around =
        2 * (size_t)j->plan->taps[t->taps].fast; /* pixels read next to a block */
    *l = (tile_light){.fast = larger(t->fast, j->from.fmin),
                      .slow = larger(t->slow, j->from.smin)};
    l->wide = larger(0, least(t->fast_end, j->from.fmax + 1) - l->fast);
    l->high = larger(0, least(t->slow_end, j->from.smax + 1) - l->slow);
    l->margin = (around + 15) / 16 * 16;
    l->stride = (l->margin + (size_t)l->wide + around + NB_SPREAD_CHUNK + 15) / 16 * 16;
    l->pixels =
        nb_alloc_large((size_t)l->high * l->stride, sizeof *l->pixels, "footprint", err);
    l->lit = nb_alloc((size_t)l->high, 1, "footprint", err);
    if (!l->pixels || !l->lit)
        return NB_ERR_NOMEM;
#pragma omp parallel for schedule(static) num_threads(j->threads)
    for (int s = 0; s < l->high; s++) {
        const float *from =
            j->light + (size_t)(l->slow + s) * (size_t)j->columns + l->fast;
        float *row = l->pixels + (size_t)s * l->stride;
        if (!(l->lit[s] = any_light(from, l->wide)))
            continue;
        memset(row, 0, l->stride * sizeof *row);
        memcpy(row + l->margin, from, (size_t)l->wide * sizeof *row);
    }
    return NB_OK;
}

/** Spread the light of a tile over `rows` rows of the image. */
static void spread_rows(const spreading *j, const nb_footprint_tile *t,
                        const tile_light *l, int first, int rows)
{
    const nb_taps *taps = &j->plan->taps[t->taps];
    const float_taps *weights = &j->weights[t->taps];
    const int low = larger(t->fast - taps->fast, j->to.fmin),
              end = least(t->fast_end + taps->fast, j->to.fmax + 1);
    const float *from[STEP + 2 * NB_TAPS_FARTHEST];
    const nb_spread_block block = {
        .from = from,
        .k = weights->k + (NB_SPREAD_ROWS - 1) * (2 * taps->fast + 1),
        .runs = weights->runs,
        .first_run = weights->first_run,
        .fresh = j->one,
        .fast = taps->fast,
        .slow = taps->slow,
        .columns = end - low,
        .rows = rows,
        .to = j->image + (size_t)first * (size_t)j->columns + low,
        .to_stride = (size_t)j->columns};
    int any = j->one;
    for (int i = 0; i < rows + 2 * taps->slow; i++) {
        const int s = first - taps->slow + i - l->slow;
        const int lit = s >= 0 && s < l->high && l->lit[s];
        from[i] =
            lit ? l->pixels + (size_t)s * l->stride + l->margin + low - l->fast : NULL;
        any |= lit;
    }
    if (any && block.columns > 0)
        j->kernels->spread(&block);
}

static nb_status spread_tile(const spreading *j, const nb_footprint_tile *t, nb_error *err)
{
    const int reach = j->plan->taps[t->taps].slow;
    const int first = larger(t->slow - reach, j->to.smin),
              end = least(t->slow_end + reach, j->to.smax + 1);
    tile_light l;
    const nb_status st = fetch_tile(j, t, &l, err);
#pragma omp parallel for schedule(dynamic, 4) num_threads(j->threads)
    for (int s = first; s < (st ? first : end); s += STEP)
        spread_rows(j, t, &l, s, least(STEP, end - s));
    nb_free(l.pixels);
    nb_free(l.lit);
    return st;
}

/** Clear pixels of row s outside of the region or in the mask (of the panel, or NULL). */
static void clear_rest(const spreading *j, const uint8_t *mask, int s)
{
    const size_t at = (size_t)s * (size_t)j->columns;
    const int seen = s >= j->to.smin && s <= j->to.smax;
    for (int f = 0; f < j->columns; f++)
        if (!seen || f < j->to.fmin || f > j->to.fmax || (mask && !mask[at + (size_t)f]))
            j->image[at + (size_t)f] = 0;
}

static nb_status spread_panel(spreading *j, const nb_footprint_panel *on,
                              const nb_panel *panel, const uint8_t *mask, nb_error *err)
{
    const size_t pixels = (size_t)panel->rows * (size_t)panel->columns;
    float *copy = NULL;
    nb_status st = NB_OK;
    j->columns = panel->columns;
    j->one = on->across * on->down == 1;
    j->light = j->image;
    if (!j->one) {
        copy = nb_alloc_large(pixels, sizeof *copy, "footprint", err);
        if (!copy)
            return NB_ERR_NOMEM;
        memcpy(copy, j->image, pixels * sizeof *copy);
        memset(j->image, 0, pixels * sizeof *copy);
        j->light = copy;
    }
    for (int i = 0; i < on->across * on->down && !st; i++)
        st = spread_tile(j, &j->plan->tiles[on->tile + i], err);
#pragma omp parallel for schedule(static) num_threads(j->threads)
    for (int s = j->from.smin; s <= j->from.smax; s++)
        clear_rest(j, mask, s);
    nb_free(copy);
    return st;
}

/** Find the rows of the image that the light of row e reaches at displacement d along
 * fast. Returns 0 if no row is reached. */
static int rows_reached(const nb_spread_block *b, int e, int d, nb_spread_run *run)
{
    int any = 0;
    for (int i = 0; i < NB_SPREAD_ROWS; i++)
        if (b->k[(e - i) * (2 * b->fast + 1) + d] != 0) {
            run->first = any ? run->first : (short)i;
            run->last = (short)i;
            any = 1;
        }
    return any;
}

/** Find the runs of taps of row e of the light. Returns the number of runs. */
static int find_runs(const nb_spread_block *b, int e, nb_spread_run *runs)
{
    int n = 0;
    for (int d = 0; d <= 2 * b->fast; d++) {
        nb_spread_run run = {(short)d, (short)(d + 1), 0, 0};
        const nb_spread_run *last = n > 0 ? &runs[n - 1] : NULL;
        if (!rows_reached(b, e, d, &run))
            continue;
        if (last && last->end == d && last->first == run.first && last->last == run.last)
            runs[n - 1].end++;
        else
            runs[n++] = run;
    }
    return n;
}

static nb_status float_taps_of(const nb_taps *t, float_taps *to, nb_error *err)
{
    const size_t row = 2 * (size_t)t->fast + 1, n = nb_taps_count(t),
                 around = (NB_SPREAD_ROWS - 1) * row;
    const int rows = 2 * t->slow + NB_SPREAD_ROWS;
    nb_spread_block b = {.fast = t->fast, .slow = t->slow};
    to->k = nb_alloc(n + 2 * around, sizeof *to->k, "footprint", err);
    to->runs = nb_alloc((size_t)rows * row, sizeof *to->runs, "footprint", err);
    to->first_run = nb_alloc((size_t)rows + 1, sizeof *to->first_run, "footprint", err);
    if (!to->k || !to->runs || !to->first_run)
        return NB_ERR_NOMEM;
    nb_taps_floats(t, to->k + around);
    b.k = to->k + around;
    for (int e = 0; e < rows; e++)
        to->first_run[e + 1] =
            to->first_run[e] + find_runs(&b, e, to->runs + to->first_run[e]);
    return NB_OK;
}

static nb_status make_weights(const nb_footprint_plan *plan, float_taps **out,
                              nb_error *err)
{
    nb_status st = NB_OK;
    float_taps *all = *out = nb_alloc((size_t)plan->n_taps, sizeof *all, "footprint", err);
    for (int i = 0; all && i < plan->n_taps && !st; i++)
        st = float_taps_of(&plan->taps[i], &all[i], err);
    return all ? st : NB_ERR_NOMEM;
}

static void free_weights(float_taps *weights, int n)
{
    for (int i = 0; weights && i < n; i++) {
        nb_free(weights[i].k);
        nb_free(weights[i].runs);
        nb_free(weights[i].first_run);
    }
    nb_free(weights);
}

nb_status nb_footprint_spread(const nb_footprint_work *work, float *image, nb_error *err)
{
    const nb_scene *sc = work->scene;
    float_taps *weights;
    nb_status st = make_weights(work->plan, &weights, err);
    spreading j = {.plan = work->plan,
                   .kernels = work->kernels,
                   .weights = weights,
                   .threads = nb_image_threads(work->threads, (int64_t)sc->raster.pixels)};
    for (int k = 0; k < sc->n_panels && !st; k++) {
        const nb_panel *panel = &sc->panels[k];
        j.to = nb_panel_region(sc, panel);
        j.from = nb_panel_region(work->sources, panel);
        j.image = image + panel->first_pixel;
        if (nb_region_pixels(j.from) > 0)
            st = spread_panel(
                &j, &work->plan->panels[k], panel,
                sc->raster.mask ? sc->raster.mask + panel->first_pixel : NULL, err);
    }
    free_weights(weights, work->plan->n_taps);
    return st;
}

/* --- doubles --- */

typedef struct pass {
    const nb_footprint_plan *plan;
    const nb_panel *panel;
    const nb_footprint_panel *on;
    double *const *taps;
    const double *from;
    double *to;
    int back;
} pass;

/** to[f] += weight from[f], first <= f < end. */
static void add_shifted(double weight, const double *restrict from, int first, int end,
                        double *restrict to)
{
#pragma omp simd
    for (int f = first; f < end; f++)
        to[f] += weight * from[f];
}

/** Add the light of the tile's row s to row s + d, or with `back` the light of row s + d
 * to row s. */
static void pass_part(const pass *p, const nb_footprint_tile *t, int s, int d)
{
    const nb_taps *taps = &p->plan->taps[t->taps];
    const double *k = (p->taps ? p->taps[t - p->plan->tiles] : taps->w) +
                      (size_t)(d + taps->slow) * (2 * (size_t)taps->fast + 1) + taps->fast;
    const size_t columns = (size_t)p->panel->columns;
    const double *from = p->from + (size_t)(p->back ? s + d : s) * columns;
    double *to = p->to + (size_t)(p->back ? s : s + d) * columns;
    for (int first = t->fast, end; !p->back && first < t->fast_end; first = end + 1) {
        while (first < t->fast_end && from[first] == 0)
            first++;
        for (end = first; end < t->fast_end && from[end] != 0;)
            end++;
        for (int e = -taps->fast; e <= taps->fast; e++)
            add_shifted(k[e], from, larger(first, -e), least(end, p->panel->columns - e),
                        to + e);
    }
    for (int f = t->fast; p->back && f < t->fast_end; f++) {
        const int low = larger(-taps->fast, -f),
                  high = least(taps->fast, p->panel->columns - 1 - f);
        double sum = 0;
        for (int e = low; e <= high; e++)
            sum += k[e] * from[f + e];
        to[f] += sum;
    }
}

/** Make row s of the result. */
static void pass_row(const pass *p, int s)
{
    const int tiles = p->on->across * p->on->down;
    for (int d = -p->on->slow; d <= p->on->slow; d++) {
        /* row of the light; with `back`, of the loss */
        const int from = p->back ? s + d : s - d;
        const int of = p->back ? s : from; /* row of the tile */
        if (from < 0 || from >= p->panel->rows)
            continue;
        for (int i = 0; i < tiles; i++) {
            const nb_footprint_tile *t = &p->plan->tiles[p->on->tile + i];
            const int reach = p->plan->taps[t->taps].slow;
            if (of >= t->slow && of < t->slow_end && d >= -reach && d <= reach &&
                (!p->taps || p->taps[p->on->tile + i]))
                pass_part(p, t, of, d);
        }
    }
}

void nb_footprint_pass(const nb_footprint_plan *plan, const nb_scene *sc,
                       double *const *taps, int back, int threads, const double *from,
                       double *to)
{
    const int team = nb_image_threads(threads, (int64_t)sc->raster.pixels);
    (void)team;
    memset(to, 0, sc->raster.pixels * sizeof *to);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const pass p = {plan,
                        panel,
                        &plan->panels[k],
                        taps,
                        from + panel->first_pixel,
                        to + panel->first_pixel,
                        back};
        int s;
#pragma omp parallel for schedule(dynamic, 8) num_threads(team)
        for (s = 0; s < panel->rows; s++)
            pass_row(&p, s);
    }
}
