/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"

/* Light from the edge of the cross-section falls at most so many pixels beside its place because a tile has the
 * taps of its middle. */
#define TILE_ERROR 0.05
enum { TILES_MOST = 64 }; /* along an edge */
#define SAME_MAP 1e-9     /* pixels */

/* --- tiles --- */

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

/** Pixels that light moves between the middle and the corners of a tile. */
static double tile_error(const nb_footprint *fp, const nb_panel *p,
                         const nb_footprint_tile *t)
{
    double M[4], C[4], most = 0;
    nb_footprint_map(p, t->F, t->S, fp->a, fp->b, M);
    for (int c = 0; c < 4; c++) {
        nb_footprint_map(p, (c & 1 ? t->fast_end : t->fast) * p->pixel_fast,
                         (c & 2 ? t->slow_end : t->slow) * p->pixel_slow, fp->a, fp->b, C);
        most = fmax(most, hypot(C[0] - M[0], C[1] - M[1]));
        most = fmax(most, hypot(C[2] - M[2], C[3] - M[3]));
    }
    return most;
}

/** As many tiles along both edges as keep the error small. */
static void divide(const nb_footprint *fp, const nb_panel *p, nb_footprint_panel *to)
{
    int most = p->columns < p->rows ? p->columns : p->rows, n = 1, enough = 0;
    for (most = most < TILES_MOST ? most : TILES_MOST; !enough && n <= most; n *= 2) {
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

/** Its taps, those of the tile before it if they are the same. */
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
            to->fast = taps->fast > to->fast ? taps->fast : to->fast;
            to->slow = taps->slow > to->slow ? taps->slow : to->slow;
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

/* --- where light comes from --- */

/** What of a row of a mask is lit, and `reach` pixels around it. */
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

/** The same of the columns of a panel, in place; last: room for a row. */
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
                    row[f] = 2; /* lit, but not by itself */
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
    int *last = nb_alloc((size_t)sc->raster.columns, sizeof *last, "mask", err);
    *out = mask;
    for (int k = 0; mask && last && k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        for (int s = 0; s < p->rows; s++) {
            const size_t at = nb_panel_pixel(p, 0, s);
            grow_row(sc->raster.mask + at, p->columns, plan->panels[k].fast, mask + at);
        }
        grow_columns(mask + p->first_pixel, p->columns, p->rows, plan->panels[k].slow,
                     last);
    }
    nb_free(last);
    return mask && last ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_footprint_sources(const nb_footprint_plan *plan, const nb_scene *sc,
                               nb_scene *sources, uint8_t **mask, nb_error *err)
{
    nb_region *roi = &sources->raster.roi;
    nb_status st = NB_OK;
    int fast = 0, slow = 0;
    *mask = NULL;
    *sources = *sc;
    for (int k = 0; k < sc->n_panels; k++) {
        fast = plan->panels[k].fast > fast ? plan->panels[k].fast : fast;
        slow = plan->panels[k].slow > slow ? plan->panels[k].slow : slow;
    }
    roi->fmin = roi->fmin > fast ? roi->fmin - fast : 0;
    roi->smin = roi->smin > slow ? roi->smin - slow : 0;
    roi->fmax =
        roi->fmax + fast < sc->raster.columns ? roi->fmax + fast : sc->raster.columns - 1;
    roi->smax =
        roi->smax + slow < sc->raster.rows ? roi->smax + slow : sc->raster.rows - 1;
    if (sc->raster.mask && !(st = grow_mask(plan, sc, mask, err)))
        sources->raster.mask = *mask;
    if (st) {
        nb_free(*mask);
        *mask = NULL;
    }
    return st;
}

/* --- floats, in place: bands of rows --- */

/** Taps as nb_spread_block has them. */
typedef struct float_taps {
    float *k; /* owned, as all; with the rows of 0 around */
    nb_spread_run *runs;
    int *first_run;
} float_taps;

/** The bands of a panel's rows.  Rows beyond a band's ends are kept before any is changed. */
typedef struct bands {
    const nb_footprint_plan *plan;
    const nb_scene *scene;
    const nb_image_kernels *kernels;
    float *image;
    int panel;
    nb_region to, from; /* of the panel: pixels that are wanted, and that have light */
    int rows, n;        /* of a band; bands */
    int step;           /* rows of a band that are made at once */
    int reach, side;    /* rows, columns of light around a band */
    float *kept;        /* [n][2 reach][columns of from] */
    const float_taps *weights; /* of each taps of the plan */
} bands;

static int width_of(nb_region r)
{
    return r.fmax - r.fmin + 1;
}

static float *pixel_of(const bands *b, int s, int f)
{
    const nb_panel *p = &b->scene->panels[b->panel];
    return b->image + nb_panel_pixel(p, f, s);
}

static void keep_rows(const bands *b, int band)
{
    const size_t width = (size_t)width_of(b->from);
    const int first = b->to.smin + band * b->rows;
    for (int i = 0; i < 2 * b->reach; i++) {
        const int s = i < b->reach ? first - b->reach + i : first + b->rows + i - b->reach;
        if (s >= b->from.smin && s <= b->from.smax)
            memcpy(b->kept + ((size_t)band * 2 * (size_t)b->reach + (size_t)i) * width,
                   pixel_of(b, s, b->from.fmin), width * sizeof(float));
    }
}

/** Room of one thread: rows of light around a step of a band, and of a tile there. */
typedef struct room {
    float *light,
        *tile; /* [step + 2 reach][stride]; `margin` numbers before each row, and more behind, are 0 */
    size_t stride, margin;
    int top; /* row of `light` that is the uppermost: the others follow, and the first one the last */
    uint8_t *lit;       /* [step + 2 reach]: of the rows of `light`; 0: all of it is 0 */
    const float **from; /* [step + 2 reach]: of a block */
} room;

enum {
    BEHIND = 2 * NB_SPREAD_CHUNK,
    STEP = 8 * NB_SPREAD_ROWS /* light that a processor has in its cache */
};

static int rows_around(const bands *b)
{
    return b->step + 2 * b->reach;
}

static int open_room(const bands *b, room *r)
{
    const size_t rows = (size_t)rows_around(b);
    r->margin = ((size_t)b->side + 15) / 16 * 16;
    r->stride =
        (r->margin + (size_t)width_of(b->from) + 2 * (size_t)b->side + BEHIND + 15) / 16 *
        16;
    r->light = nb_alloc(rows, r->stride * sizeof(float), "footprint", NULL);
    r->tile = nb_alloc(rows, r->stride * sizeof(float), "footprint", NULL);
    r->lit = nb_alloc(rows, 1, "footprint", NULL);
    r->from = nb_alloc(rows, sizeof *r->from, "footprint", NULL);
    return r->light && r->tile && r->lit && r->from;
}

static void close_room(room *r)
{
    nb_free(r->light);
    nb_free(r->tile);
    nb_free(r->lit);
    nb_free(r->from);
}

/** Row s of the light of a band, from the image. */
static const float *light_row(const bands *b, int band, int s)
{
    const size_t width = (size_t)width_of(b->from);
    const int first = b->to.smin + band * b->rows, i = s - first;
    if (i >= 0 && i < b->rows)
        return pixel_of(b, s, b->from.fmin);
    return b->kept + ((size_t)band * 2 * (size_t)b->reach +
                      (size_t)(i < 0 ? i + b->reach : i - b->rows + b->reach)) *
                         width;
}

static int any_light(const float *row, int n)
{
    int i = 0;
    while (i < n && row[i] == 0)
        i++;
    return i < n;
}

/** Row i of the light around a step, of `light` and `lit`. */
static int place_of(const bands *b, const room *r, int i)
{
    return (r->top + i) % rows_around(b);
}

static float *light_of(const bands *b, const room *r, int i)
{
    return r->light + (size_t)place_of(b, r, i) * r->stride + r->margin;
}

/** The light around `rows` rows of the step that begins `done` rows behind the band's first.  What the step before
 * had stays. */
static void fetch_light(const bands *b, int band, int done, int rows, room *r)
{
    const int width = width_of(b->from);
    const int top = b->to.smin + band * b->rows + done - b->reach;
    r->top = done ? place_of(b, r, b->step) : 0;
    for (int i = done ? 2 * b->reach : 0; i < rows + 2 * b->reach; i++) {
        float *to = light_of(b, r, i);
        const int s = top + i, there = s >= b->from.smin && s <= b->from.smax;
        if (there)
            memcpy(to, light_row(b, band, s), (size_t)width * sizeof *to);
        r->lit[place_of(b, r, i)] = (uint8_t)(there && any_light(to, width));
    }
}

/** The tile's part of the light around row `first`, alone; returns whether there is some. */
static int fetch_tile(const bands *b, int first, int rows, const nb_footprint_tile *t,
                      const room *r)
{
    const int low = t->fast > b->from.fmin ? t->fast : b->from.fmin,
              end = t->fast_end <= b->from.fmax ? t->fast_end : b->from.fmax + 1;
    const size_t around = 2 * (size_t)b->side; /* what a block may read beside it */
    const size_t at = r->margin + (size_t)(low - b->from.fmin),
                 left = at > around ? at - around : 0;
    int any = 0;
    for (int i = 0; i < rows + 2 * b->reach && end > low; i++) {
        const int s = first - b->reach + i;
        const float *from = light_of(b, r, i) + low - b->from.fmin;
        const size_t right = at + (size_t)(end - low) + around + BEHIND;
        float *row = r->tile + (size_t)i * r->stride;
        r->from[i] = NULL;
        if (s < t->slow || s >= t->slow_end || !r->lit[place_of(b, r, i)] ||
            !any_light(from, end - low))
            continue;
        memset(row + left, 0,
               ((right < r->stride ? right : r->stride) - left) * sizeof *row);
        memcpy(row + at, from, (size_t)(end - low) * sizeof *from);
        r->from[i] = row + r->margin;
        any = 1;
    }
    return any;
}

/** The light of a tile, r->from, to `rows` rows of the image. */
static void spread_tile(const bands *b, int first, int rows, const nb_footprint_tile *t,
                        const room *r, int fresh)
{
    const nb_taps *taps = &b->plan->taps[t->taps];
    const float_taps *weights = &b->weights[t->taps];
    const int off = b->reach - taps->slow, n = rows + 2 * taps->slow;
    int low = t->fast - taps->fast, end = t->fast_end + taps->fast;
    nb_spread_block block = {.from = r->from + off,
                             .k = weights->k + (NB_SPREAD_ROWS - 1) * (2 * taps->fast + 1),
                             .runs = weights->runs,
                             .first_run = weights->first_run,
                             .fresh = fresh,
                             .fast = taps->fast,
                             .slow = taps->slow,
                             .rows = rows,
                             .to_stride = (size_t)b->scene->panels[b->panel].columns};
    low = low > b->to.fmin ? low : b->to.fmin;
    end = end <= b->to.fmax ? end : b->to.fmax + 1;
    block.columns = end - low;
    block.to = pixel_of(b, first, low);
    for (int i = off; i < off + n; i++)
        if (r->from[i])
            r->from[i] += low - b->from.fmin;
    if (block.columns > 0)
        b->kernels->spread(&block);
}

/** Rows of a step, from several tiles. */
static void spread_tiles(const bands *b, int first, int rows, const room *r)
{
    const nb_footprint_panel *p = &b->plan->panels[b->panel];
    for (int s = first; s < first + rows; s++)
        memset(pixel_of(b, s, b->to.fmin), 0, (size_t)width_of(b->to) * sizeof(float));
    for (int i = 0; i < p->across * p->down; i++) {
        const nb_footprint_tile *t = &b->plan->tiles[p->tile + i];
        if (t->slow < first + rows + b->reach && t->slow_end > first - b->reach &&
            fetch_tile(b, first, rows, t, r))
            spread_tile(b, first, rows, t, r, 0);
    }
}

static void spread_band(const bands *b, int band, room *r)
{
    const nb_footprint_panel *p = &b->plan->panels[b->panel];
    for (int done = 0; done < b->rows; done += b->step) {
        const int first = b->to.smin + band * b->rows + done;
        const int left = b->to.smax + 1 - first, end = b->rows - done;
        int rows = b->step < end ? b->step : end;
        rows = rows < left ? rows : left;
        if (rows <= 0)
            return;
        fetch_light(b, band, done, rows, r);
        if (p->across * p->down > 1) {
            spread_tiles(b, first, rows, r);
            continue;
        }
        for (int i = 0; i < rows + 2 * b->reach; i++)
            r->from[i] = r->lit[place_of(b, r, i)] ? light_of(b, r, i) : NULL;
        spread_tile(b, first, rows, &b->plan->tiles[p->tile], r, 1);
    }
}

/** Called by every thread of a team, to share the bands out. */
static int spread_bands(const bands *b)
{
    room r = {0};
    const int ok = open_room(b, &r);
    int i;
#pragma omp for schedule(dynamic, 1) nowait
    for (i = 0; i < b->n; i++)
        if (ok)
            spread_band(b, i, &r);
    close_room(&r);
    return ok;
}

/** Clear what is not wanted: around the region, and in the mask. */
static void clear_rest(const bands *b, int s)
{
    const nb_panel *p = &b->scene->panels[b->panel];
    float *row = pixel_of(b, s, 0);
    const uint8_t *mask = b->scene->raster.mask;
    if (s < b->to.smin || s > b->to.smax) {
        memset(row, 0, (size_t)p->columns * sizeof *row);
        return;
    }
    memset(row, 0, (size_t)b->to.fmin * sizeof *row);
    memset(row + b->to.fmax + 1, 0, (size_t)(p->columns - 1 - b->to.fmax) * sizeof *row);
    for (int f = b->to.fmin; mask && f <= b->to.fmax; f++)
        if (!mask[row + f - b->image])
            row[f] = 0;
}

/** Bands of whole steps. */
static nb_status cut_bands(bands *b, int threads, nb_error *err)
{
    const nb_footprint_panel *p = &b->plan->panels[b->panel];
    const int wanted = b->to.smax - b->to.smin + 1;
    b->reach = p->slow;
    b->side = p->fast;
    b->step = STEP;
    b->rows = (wanted + threads - 1) / threads;
    b->rows = b->rows > 4 * b->reach ? b->rows : 4 * b->reach;
    b->rows = (b->rows + b->step - 1) / b->step * b->step;
    b->n = wanted > 0 && width_of(b->to) > 0 ? (wanted + b->rows - 1) / b->rows : 0;
    b->kept =
        nb_alloc_raw((size_t)b->n * 2 * (size_t)b->reach * (size_t)width_of(b->from) + 1,
                     sizeof(float), "footprint", err);
    return b->kept ? NB_OK : NB_ERR_NOMEM;
}

static nb_status spread_panel(bands *b, int threads, nb_error *err)
{
    const nb_panel *panel = &b->scene->panels[b->panel];
    int failed = 0, i;
    nb_status st;
    NB_FORWARD(cut_bands(b, threads, err));
    threads = threads < b->n ? threads : b->n > 0 ? b->n : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (i = 0; i < b->n; i++)
        keep_rows(b, i);
#pragma omp parallel num_threads(threads) reduction(| : failed)
    failed |= !spread_bands(b);
    for (i = b->from.smin; i <= b->from.smax; i++)
        if (b->scene->raster.mask || i < b->to.smin || i > b->to.smax ||
            width_of(b->to) < panel->columns)
            clear_rest(b, i);
    nb_free(b->kept);
    return failed ? nb_fail_memory(err, (size_t)panel->columns, "footprint") : NB_OK;
}

/** Of light row e and displacement d: the first and the last row of the image that it reaches; 0: none. */
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

/** The runs of light row e; returns how many. */
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
    const int team = nb_image_threads(work->threads, (int64_t)sc->raster.pixels);
    for (int k = 0; k < sc->n_panels && !st; k++) {
        bands b = {.plan = work->plan,
                   .scene = sc,
                   .kernels = work->kernels,
                   .image = image,
                   .panel = k,
                   .to = nb_panel_region(sc, &sc->panels[k]),
                   .from = nb_panel_region(work->sources, &sc->panels[k]),
                   .weights = weights};
        if (width_of(b.from) > 0 && b.from.smax >= b.from.smin)
            st = spread_panel(&b, team, err);
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

/** What pixels low ... end-1 of the tile in row `s` bring to row `s + d`, or (back) get from there. */
static void pass_part(const pass *p, const nb_footprint_tile *t, int s, int d)
{
    const nb_taps *taps = &p->plan->taps[t->taps];
    const double *k = (p->taps ? p->taps[t - p->plan->tiles] : taps->w) +
                      (size_t)(d + taps->slow) * (2 * (size_t)taps->fast + 1) + taps->fast;
    const size_t columns = (size_t)p->panel->columns;
    const double *from = p->from + (size_t)(p->back ? s + d : s) * columns;
    double *to = p->to + (size_t)(p->back ? s : s + d) * columns;
    for (int f = t->fast; f < t->fast_end; f++) {
        const int low = f >= taps->fast ? -taps->fast : -f;
        const int high =
            f + taps->fast < p->panel->columns ? taps->fast : p->panel->columns - 1 - f;
        if (p->back) {
            double sum = 0;
            for (int e = low; e <= high; e++)
                sum += k[e] * from[f + e];
            to[f] += sum;
        } else if (from[f] != 0) {
            for (int e = low; e <= high; e++)
                to[f + e] += k[e] * from[f];
        }
    }
}

/** Row s of the result. */
static void pass_row(const pass *p, int s)
{
    const int tiles = p->on->across * p->on->down;
    for (int d = -p->on->slow; d <= p->on->slow; d++) {
        const int from = p->back ? s + d : s - d; /* the row of the light, of the loss */
        const int of = p->back ? s : from;        /* that of the tile */
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
