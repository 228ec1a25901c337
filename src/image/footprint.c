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
        if ((st = nb_taps_make(fp->box, M, slopes, &plan->taps[plan->n_taps], err)))
            return st;
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
            const size_t at = p->first_pixel + (size_t)s * (size_t)p->columns;
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

/** Taps as floats, and what of each row is not 0: nb_spread_block. */
typedef struct float_taps {
    float *k; /* owned, as the next; with a row of 0 before and behind */
    int (*ends)[2];
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
    return b->image + p->first_pixel + (size_t)s * (size_t)p->columns + (size_t)f;
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
    uint8_t *lit; /* [step + 2 reach]: of `tile` */
} room;

enum { BEHIND = 2 * NB_SPREAD_CHUNK };

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
    return r->light && r->tile && r->lit;
}

static void close_room(room *r)
{
    nb_free(r->light);
    nb_free(r->tile);
    nb_free(r->lit);
}

/** Row i of the light of a band, from `reach` rows above it on; NULL: there is none. */
static const float *light_row(const bands *b, int band, int i)
{
    const size_t width = (size_t)width_of(b->from);
    const int s = b->to.smin + band * b->rows - b->reach + i;
    int at = i;
    if (s < b->from.smin || s > b->from.smax)
        return NULL;
    if (i >= b->reach && i < b->reach + b->rows)
        return pixel_of(b, s, b->from.fmin);
    if (i >= b->reach)
        at = i - b->rows;
    return b->kept + ((size_t)band * 2 * (size_t)b->reach + (size_t)at) * width;
}

/** The light around the step that begins `done` rows behind the band's first.  What the step before had stays. */
static void fetch_light(const bands *b, int band, int done, const room *r)
{
    const size_t width = (size_t)width_of(b->from);
    const int old = done ? 2 * b->reach : 0;
    if (old)
        memmove(r->light, r->light + (size_t)b->step * r->stride,
                (size_t)old * r->stride * sizeof *r->light);
    for (int i = old; i < rows_around(b); i++) {
        float *to = r->light + (size_t)i * r->stride + r->margin;
        const float *from =
            done + i < b->rows + 2 * b->reach ? light_row(b, band, done + i) : NULL;
        if (from)
            memcpy(to, from, width * sizeof *to);
        else
            memset(to, 0, width * sizeof *to);
    }
}

static int any_light(const float *row, int n)
{
    int i = 0;
    while (i < n && row[i] == 0)
        i++;
    return i < n;
}

/** The tile's part of the light around row `first`, alone; returns whether there is some. */
static int fetch_tile(const bands *b, int first, const nb_footprint_tile *t, const room *r)
{
    const int low = t->fast > b->from.fmin ? t->fast : b->from.fmin,
              end = t->fast_end <= b->from.fmax ? t->fast_end : b->from.fmax + 1;
    const size_t around = 2 * (size_t)b->side; /* what a block may read beside it */
    int any = 0;
    for (int i = 0; i < rows_around(b) && end > low; i++) {
        const int s = first - b->reach + i;
        const size_t row = (size_t)i * r->stride,
                     at = r->margin + (size_t)(low - b->from.fmin);
        const float *from = r->light + row + at;
        const int there = s >= t->slow && s < t->slow_end;
        const size_t left = at > around ? at - around : 0,
                     right = at + (size_t)(end - low) + around + BEHIND;
        memset(r->tile + row + left, 0,
               ((right < r->stride ? right : r->stride) - left) * sizeof *r->tile);
        r->lit[i] = (uint8_t)(there && any_light(from, end - low));
        if (r->lit[i])
            memcpy(r->tile + row + at, from, (size_t)(end - low) * sizeof *from);
        any |= r->lit[i];
    }
    return any;
}

/** The light of a tile to `rows` rows of the image. */
static void spread_tile(const bands *b, int first, int rows, const nb_footprint_tile *t,
                        const room *r, int fresh)
{
    const nb_taps *taps = &b->plan->taps[t->taps];
    const float *light = fresh ? r->light : r->tile;
    int low = t->fast - taps->fast, end = t->fast_end + taps->fast;
    nb_spread_block block = {.stride = r->stride,
                             .k = b->weights[t->taps].k + 2 * taps->fast + 1,
                             .ends = (const int(*)[2])b->weights[t->taps].ends,
                             .fresh = fresh,
                             .fast = taps->fast,
                             .slow = taps->slow,
                             .rows = rows,
                             .lit = r->lit + b->reach,
                             .to_stride = (size_t)b->scene->panels[b->panel].columns};
    low = low > b->to.fmin ? low : b->to.fmin;
    end = end <= b->to.fmax ? end : b->to.fmax + 1;
    block.columns = end - low;
    block.from = light + (size_t)b->reach * r->stride + r->margin + (low - b->from.fmin);
    block.to = pixel_of(b, first, low);
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
            fetch_tile(b, first, t, r))
            spread_tile(b, first, rows, t, r, 0);
    }
}

static void spread_band(const bands *b, int band, const room *r)
{
    const nb_footprint_panel *p = &b->plan->panels[b->panel];
    for (int done = 0; done < b->rows; done += b->step) {
        const int first = b->to.smin + band * b->rows + done;
        const int left = b->to.smax + 1 - first, end = b->rows - done;
        int rows = b->step < end ? b->step : end;
        rows = rows < left ? rows : left;
        if (rows <= 0)
            return;
        fetch_light(b, band, done, r);
        if (p->across * p->down > 1) {
            spread_tiles(b, first, rows, r);
            continue;
        }
        for (int i = 0; i < rows_around(b); i++)
            r->lit[i] = (uint8_t)any_light(r->light + (size_t)i * r->stride + r->margin,
                                           width_of(b->from));
        spread_tile(b, first, rows, &b->plan->tiles[p->tile], r, 1);
    }
}

/** Bands thread, thread + step, ... */
static int spread_bands(const bands *b, int thread, int step)
{
    room r = {0};
    const int ok = open_room(b, &r);
    for (int i = thread; ok && i < b->n; i += step)
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

static nb_status spread_panel(bands *b, int threads, nb_error *err)
{
    const nb_footprint_panel *p = &b->plan->panels[b->panel];
    const nb_panel *panel = &b->scene->panels[b->panel];
    const int wanted = b->to.smax - b->to.smin + 1;
    int failed = 0, i;
    b->reach = p->slow;
    b->side = p->fast;
    b->step = 32;
    b->rows = (wanted + threads - 1) / threads;
    if (b->rows < 4 * b->reach + b->step)
        b->rows = 4 * b->reach + b->step;
    b->n = wanted > 0 && width_of(b->to) > 0 ? (wanted + b->rows - 1) / b->rows : 0;
    b->kept =
        nb_alloc_raw((size_t)b->n * 2 * (size_t)b->reach * (size_t)width_of(b->from) + 1,
                     sizeof(float), "footprint", err);
    if (!b->kept)
        return NB_ERR_NOMEM;
    threads = threads < b->n ? threads : b->n > 0 ? b->n : 1;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (i = 0; i < b->n; i++)
        keep_rows(b, i);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : failed)
#endif
    for (i = 0; i < threads; i++)
        failed |= !spread_bands(b, i, threads);
    for (i = b->from.smin; i <= b->from.smax && i < panel->rows; i++)
        if (b->scene->raster.mask || i < b->to.smin || i > b->to.smax ||
            width_of(b->to) < panel->columns)
            clear_rest(b, i);
    nb_free(b->kept);
    return failed ? nb_fail_memory(err, (size_t)panel->columns, "footprint") : NB_OK;
}

/** The ends of row e and the one before it, together. */
static void find_ends(const nb_taps *t, const float *k, int e, int ends[2])
{
    const int row = 2 * t->fast + 1;
    ends[0] = row;
    ends[1] = -1;
    for (int d = 0; d < row; d++)
        if (k[(e + 1) * row + d] != 0 || k[e * row + d] != 0) {
            ends[0] = d < ends[0] ? d : ends[0];
            ends[1] = d;
        }
}

static nb_status float_taps_of(const nb_taps *t, float_taps *to, nb_error *err)
{
    const size_t row = 2 * (size_t)t->fast + 1, n = nb_taps_count(t);
    const int rows = 2 * t->slow + 1;
    to->k = nb_alloc(n + 2 * row, sizeof *to->k, "footprint", err);
    to->ends = nb_alloc((size_t)rows + 1, sizeof *to->ends, "footprint", err);
    if (!to->k || !to->ends)
        return NB_ERR_NOMEM;
    nb_taps_floats(t, to->k + row);
    for (int e = 0; e <= rows; e++)
        find_ends(t, to->k, e, to->ends[e]);
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

nb_status nb_footprint_spread(const nb_footprint_plan *plan, const nb_scene *sc,
                              const nb_scene *sources, const nb_image_kernels *kernels,
                              int threads, float *image, nb_error *err)
{
    float_taps *weights;
    nb_status st = make_weights(plan, &weights, err);
    const int team = nb_image_threads(threads, (int64_t)sc->raster.pixels);
    for (int k = 0; k < sc->n_panels && !st; k++) {
        bands b = {.plan = plan,
                   .scene = sc,
                   .kernels = kernels,
                   .image = image,
                   .panel = k,
                   .to = nb_panel_region(sc, &sc->panels[k]),
                   .from = nb_panel_region(sources, &sc->panels[k]),
                   .weights = weights};
        if (width_of(b.from) > 0 && b.from.smax >= b.from.smin)
            st = spread_panel(&b, team, err);
    }
    for (int i = 0; weights && i < plan->n_taps; i++) {
        nb_free(weights[i].k);
        nb_free(weights[i].ends);
    }
    nb_free(weights);
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
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 8) num_threads(team)
#endif
        for (s = 0; s < panel->rows; s++)
            pass_row(&p, s);
    }
}
