/* SPDX-License-Identifier: MIT */
/* Pixels of a measured picture that the crystal does not explain: hot ones, the shadow of a beam stop, rings and spots of ice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/panels.h"
#include "../sim/sim.h"
#include "fit.h"

static void leave_out(nb_fit *fit, size_t at, nb_masked why)
{
    fit->photons[at] = fit->full[at] = NAN;
    fit->masked[at] = (uint8_t)why;
}

/* Hot pixels.  A point spread and the crystal's size give each spot light in several pixels. */

#define LEAST_SPREAD 0.05 /* median of a picture's spots; sharper ones hide hot pixels */
#define HOT_SPREAD 0.1    /* of that median */
#define HOT_SIGMA 20      /* above the background */
#define HOT_PHOTONS 50
#define FULL_AROUND 0.005 /* light around a saturated spot over its limit */
enum { ENOUGH_SPOTS = 20, LEAST_AROUND = 5 };

/** Mean light around a pixel over its own, without the brightest neighbour, whose light is *most; few neighbours: -1. */
static double spread_of(const nb_fit *fit, const nb_panel *panel, double level,
                        double own, const int at[2], double *most)
{
    const int f = at[0], s = at[1];
    double sum = 0;
    int n = 0;
    *most = 0;
    for (int y = s - 1; y <= s + 1; y++)
        for (int x = f - 1; x <= f + 1; x++) {
            double e;
            if (x < 0 || y < 0 || x >= panel->columns || y >= panel->rows ||
                (x == f && y == s) || isnan(fit->photons[nb_panel_pixel(panel, x, y)]))
                continue;
            e = fit->photons[nb_panel_pixel(panel, x, y)] - level;
            sum += e;
            *most = fmax(*most, e);
            n++;
        }
    return n < LEAST_AROUND ? -1 : (sum - *most) / (n - 1) / own;
}

/** A pixel far above its background. */
typedef struct bright {
    size_t at;
    double spread;
    int peak; /* no neighbour is brighter */
} bright;

/** Those of one panel into out unless that is NULL; how many. */
static size_t bright_of(const nb_fit *fit, const nb_panel *panel, const nb_radial *under,
                        bright *out)
{
    const double read = fit->sigma * fit->sigma;
    size_t n = 0, at = panel->first_pixel;
    for (int s = 0; s < panel->rows; s++)
        for (int f = 0; f < panel->columns; f++, at++) {
            double b, own, spread, most;
            if (isnan(fit->photons[at]))
                continue;
            b = nb_radial_at(under, fit->stol[at]);
            own = fit->photons[at] - b;
            if (!(own > HOT_PHOTONS + HOT_SIGMA * sqrt(b + read)) ||
                (spread = spread_of(fit, panel, b, own, (const int[2]){f, s}, &most)) == -1)
                continue;
            if (out)
                out[n] = (bright){at, spread, most <= own};
            n++;
        }
    return n;
}

/** The median of the peaks of a sorted list; 0: there are few. */
static double usual_spread(const bright *list, size_t n)
{
    size_t peaks = 0, seen = 0;
    for (size_t i = 0; i < n; i++)
        peaks += (size_t)list[i].peak;
    for (size_t i = 0; i < n && peaks >= ENOUGH_SPOTS; i++)
        if (list[i].peak && seen++ == peaks / 2)
            return list[i].spread;
    return 0;
}

static int by_spread(const void *a, const void *b)
{
    const bright *x = a, *y = b;
    return (x->spread > y->spread) - (x->spread < y->spread);
}

/** Bright pixels whose neighbours have far less than those of the picture's spots. */
static nb_status mask_hot(nb_fit *fit, const nb_radial *under, nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    bright *list = NULL;
    size_t n = 0;
    double median;
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        for (int k = 0; k < sc->n_panels; k++)
            n += bright_of(fit, &sc->panels[k], under, list ? list + n : NULL);
        if (!pass && !(list = nb_alloc(n + 1, sizeof *list, "hot pixels", err)))
            return NB_ERR_NOMEM;
    }
    qsort(list, n, sizeof *list, by_spread);
    median = usual_spread(list, n);
    for (size_t i = 0; i < n && median > LEAST_SPREAD; i++)
        if (list[i].spread < HOT_SPREAD * median)
            leave_out(fit, list[i].at, NB_MASKED_HOT);
    nb_free(list);
    return NB_OK;
}

/** A saturated pixel with dark ones around it is no spot. */
static void mask_hot_full(nb_fit *fit, const nb_panel *panel, const nb_radial *under)
{
    size_t at = panel->first_pixel;
    for (int s = 0; s < panel->rows; s++)
        for (int f = 0; f < panel->columns; f++, at++) {
            double spread, most;
            if (isnan(fit->full[at]))
                continue;
            spread = spread_of(fit, panel, nb_radial_at(under, fit->stol[at]),
                               fit->full[at], (const int[2]){f, s}, &most);
            if (spread != -1 && spread < FULL_AROUND)
                leave_out(fit, at, NB_MASKED_HOT);
        }
}

/* Shadows: tiles with far less light than their ring. */

#define SHADOW_PART 0.35 /* polarization leaves 0.5 and more */
#define SHADOW_SIGMA 8
enum { TILE = 8 };

/** Does the tile at (f, s) have so little light? */
static int is_dark(const nb_fit *fit, const nb_panel *panel, const nb_radial *under,
                   int f, int s)
{
    double seen = 0, expected = 0;
    int n = 0;
    for (int y = s; y < s + TILE && y < panel->rows; y++)
        for (int x = f; x < f + TILE && x < panel->columns; x++) {
            const size_t i = nb_panel_pixel(panel, x, y);
            if (isnan(fit->photons[i]))
                continue;
            n++;
            seen += fit->photons[i];
            expected += nb_radial_at(under, fit->stol[i]);
        }
    return seen < SHADOW_PART * expected &&
           expected - seen > SHADOW_SIGMA * sqrt(expected + n * fit->sigma * fit->sigma);
}

static nb_status mask_shadow(nb_fit *fit, const nb_panel *panel, const nb_radial *under,
                             nb_error *err)
{
    const int columns = (panel->columns + TILE - 1) / TILE,
              rows = (panel->rows + TILE - 1) / TILE;
    uint8_t *dark = nb_alloc((size_t)columns * (size_t)rows, 1, "shadows", err);
    if (!dark)
        return NB_ERR_NOMEM;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            if (is_dark(fit, panel, under, x * TILE, y * TILE))
                dark[y * columns + x] = 1;
    for (int s = 0; s < panel->rows; s++)
        for (int f = 0; f < panel->columns; f++) {
            const int far = TILE / 2; /* of the edge, whose tiles are half dark */
            const int x0 = (f > far ? f - far : 0) / TILE, x1 = (f + far) / TILE,
                      y0 = (s > far ? s - far : 0) / TILE, y1 = (s + far) / TILE;
            int any = 0;
            for (int y = y0; y <= y1 && y < rows; y++)
                for (int x = x0; x <= x1 && x < columns; x++)
                    any |= dark[y * columns + x];
            if (any && !isnan(fit->photons[nb_panel_pixel(panel, f, s)]))
                leave_out(fit, nb_panel_pixel(panel, f, s), NB_MASKED_SHADOW);
        }
    nb_free(dark);
    return NB_OK;
}

/* Rings of ice: narrow steps of the radial profile. */

enum { RINGS = 400, LEAST_PIXELS = 200, MOST_WINDOW = 60 };
#define CORE 0.02      /* of the radius: about a ring, no part of its base */
#define WINDOW 0.07    /* of the radius: the base, to each side */
#define WIDEST 0.04    /* of the radius; rings of liquids are wider */
#define RING_RISE 1.25 /* at its top, over the smooth background */
#define RING_EDGE 1.08 /* at its edges */
#define RING_SIGMA 8

typedef struct profile {
    double low, step; /* 1/A */
    double level[RINGS], base[RINGS];
    double n[RINGS]; /* pixels */
    uint8_t ring[RINGS];
} profile;

int nb_fit_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The median of the levels about ring k, without its core; 0: too few. */
static double base_at(const profile *p, int k)
{
    const double bins = p->low / p->step + k; /* of its radius */
    const int core = (int)fmax(2, ceil(CORE * bins));
    const int window = (int)fmin(MOST_WINDOW, fmax(core + 6, ceil(WINDOW * bins)));
    double v[2 * MOST_WINDOW + 1] = {0};
    int n = 0;
    for (int i = k - window; i <= k + window; i++)
        if (i >= 0 && i < RINGS && abs(i - k) > core && p->n[i] >= LEAST_PIXELS)
            v[n++] = p->level[i];
    qsort(v, (size_t)n, sizeof *v, nb_fit_by_value);
    return n >= window - core ? v[n / 2] : 0;
}

/** Mark the ring whose top is at k, unless it is as wide as those of liquids are. */
static void mark_ring(profile *p, int k)
{
    int from = k, to = k;
    while (from > 0 && p->level[from - 1] > RING_EDGE * p->base[from - 1])
        from--;
    while (to < RINGS - 1 && p->level[to + 1] > RING_EDGE * p->base[to + 1])
        to++;
    if (to - from < fmax(3, WIDEST * (p->low / p->step + k)))
        memset(p->ring + from, 1, (size_t)(to - from + 1));
}

static int ring_of(const profile *p, double stol)
{
    return (int)fmin(RINGS - 1, fmax(0, floor((stol - p->low) / p->step)));
}

static void find_rings(profile *p)
{
    for (int k = 0; k < RINGS; k++)
        p->base[k] = base_at(p, k);
    for (int k = 0; k < RINGS; k++) {
        const double over = p->level[k] - p->base[k];
        if (p->n[k] >= LEAST_PIXELS && p->base[k] > 0 &&
            p->level[k] > RING_RISE * p->base[k] &&
            over > RING_SIGMA * 1.25 * sqrt(p->level[k] / p->n[k]) + 0.5)
            mark_ring(p, k);
    }
}

static void note_rings(const profile *p, nb_refine_masked *out)
{
    for (int k = 0; k < RINGS && out->n_rings < NB_MASKED_RINGS_MAX; k++) {
        const int from = k;
        while (k < RINGS && p->ring[k])
            k++;
        if (k == from)
            continue;
        out->ring_d[out->n_rings][0] = 1 / (2 * (p->low + k * p->step));
        out->ring_d[out->n_rings++][1] = 1 / (2 * (p->low + from * p->step));
    }
}

/** Mean counts of each ring, without those of bright spots. */
static void take_profile(const nb_fit *fit, const nb_radial *under, profile *p)
{
    p->low = fit->low;
    p->step = fmax((fit->high - fit->low) / RINGS, 1e-12);
    for (size_t i = 0; i < fit->pixels; i++) {
        const double b = nb_radial_at(under, fit->stol[i]);
        const int k = ring_of(p, fit->stol[i]);
        if (isnan(fit->photons[i]) || fit->photons[i] > 2 * b + 3 * sqrt(b) + 1)
            continue;
        p->level[k] += fit->photons[i];
        p->n[k]++;
    }
    for (int k = 0; k < RINGS; k++)
        p->level[k] /= fmax(1, p->n[k]);
}

static nb_status mask_rings(nb_fit *fit, const nb_radial *under, nb_error *err)
{
    profile *p = nb_alloc(1, sizeof *p, "rings", err);
    if (!p)
        return NB_ERR_NOMEM;
    take_profile(fit, under, p);
    find_rings(p);
    note_rings(p, &fit->out->masks);
    for (size_t i = 0; i < fit->pixels; i++)
        if (!isnan(fit->photons[i]) && p->ring[ring_of(p, fit->stol[i])])
            leave_out(fit, i, NB_MASKED_RING);
    nb_free(p);
    return NB_OK;
}

/* Spots of ice or of another crystal. */

#define FOREIGN_INDEX 0.3   /* of an index: so far from every reflection */
#define FOREIGN_PART 0.1    /* of the indexed spots are stronger */
#define FOREIGN_MODEL 0.1   /* of its light is the model's, at most */
#define FOREIGN_SIGMA 2     /* its pixels, above the background */
enum { FOREIGN_HALF = 40 }; /* pixels that it reaches */

static int by_light(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/** *light: of the indexed peak that FOREIGN_PART of them are stronger than. */
static nb_status usual_light(const nb_fit *fit, double *light, nb_error *err)
{
    double *all = nb_alloc_raw((size_t)fit->n_peaks + 1, sizeof *all, "peaks", err);
    size_t n = 0;
    if (!all)
        return NB_ERR_NOMEM;
    for (int i = 0; i < fit->n_peaks; i++)
        if (nb_fit_index_error(fit, &fit->peaks[i]) < FOREIGN_INDEX)
            all[n++] = fit->peaks[i].light;
    qsort(all, n, sizeof *all, by_light);
    *light = n ? all[(size_t)(FOREIGN_PART * (double)n)] : INFINITY;
    nb_free(all);
    return NB_OK;
}

/** The model's light in the box of a peak over the peak's; fit->expected is the picture's model. */
static double explained(const nb_fit *fit, const nb_radial *under, const nb_fit_peak *peak)
{
    const nb_scene *sc = &fit->sim->model.scene;
    const nb_panel *p = &sc->panels[nb_panel_of_pixel(sc, peak->at)];
    const int f = (int)((peak->at - p->first_pixel) % (size_t)p->columns),
              s = (int)((peak->at - p->first_pixel) / (size_t)p->columns);
    double sum = 0;
    for (int y = s > 2 ? s - 2 : 0; y <= s + 2 && y < p->rows; y++)
        for (int x = f > 2 ? f - 2 : 0; x <= f + 2 && x < p->columns; x++) {
            const size_t i = nb_panel_pixel(p, x, y);
            const double below =
                fit->kind == NB_BACKGROUND_WATER ? nb_radial_at(under, fit->stol[i]) : 0;
            sum += fmax(0, fit->expected[i] - below);
        }
    return sum / peak->light;
}

/** Leave out the pixels around a peak that are joined to it and above the background, and their neighbours. */
static nb_status leave_spot_out(nb_fit *fit, const nb_radial *under, size_t peak,
                                nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    const nb_panel *p = &sc->panels[nb_panel_of_pixel(sc, peak)];
    const int side = 2 * FOREIGN_HALF + 1;
    const int f0 = (int)((peak - p->first_pixel) % (size_t)p->columns) - FOREIGN_HALF,
              s0 = (int)((peak - p->first_pixel) / (size_t)p->columns) - FOREIGN_HALF;
    uint8_t *of = nb_alloc((size_t)side * (size_t)side, 1, "foreign spots", err);
    int grown = 1;
    if (!of)
        return NB_ERR_NOMEM;
    of[FOREIGN_HALF * side + FOREIGN_HALF] = 1;
    while (grown) {
        grown = 0;
        for (int y = 1; y < side - 1; y++)
            for (int x = 1; x < side - 1; x++) {
                const int f = f0 + x, s = s0 + y, k = y * side + x;
                const int joins = of[k - 1] == 1 || of[k + 1] == 1 || of[k - side] == 1 ||
                                  of[k + side] == 1;
                double n, b;
                if (of[k] || !joins || f < 0 || s < 0 || f >= p->columns || s >= p->rows)
                    continue;
                n = fit->photons[nb_panel_pixel(p, f, s)];
                b = nb_radial_at(under, fit->stol[nb_panel_pixel(p, f, s)]);
                of[k] =
                    n > b + FOREIGN_SIGMA * sqrt(b + fit->sigma * fit->sigma) + 1 ? 1 : 2;
                grown |= of[k] == 1;
            }
    }
    for (int k = 0; k < side * side; k++) {
        const int f = f0 + k % side, s = s0 + k / side;
        if (of[k] && f >= 0 && s >= 0 && f < p->columns && s < p->rows &&
            !isnan(fit->photons[nb_panel_pixel(p, f, s)])) {
            leave_out(fit, nb_panel_pixel(p, f, s), NB_MASKED_FOREIGN);
            fit->out->masks.count[NB_MASKED_FOREIGN]++;
        }
    }
    nb_free(of);
    return NB_OK;
}

static void note_foreign(const nb_fit *fit, size_t at, nb_refine_masked *out)
{
    int fast, slow;
    nb_sim_size(fit->sim, &fast, &slow);
    if (out->n_foreign == NB_MASKED_FOREIGN_MAX)
        return;
    out->foreign[out->n_foreign][0] = (int)(at % (size_t)fast);
    out->foreign[out->n_foreign++][1] = (int)(at / (size_t)fast);
}

nb_status nb_fit_mask_foreign(nb_fit *fit, nb_error *err)
{
    nb_radial under;
    double least;
    int rendered = 0;
    nb_status st = fit->o->no_masks ? NB_OK : usual_light(fit, &least, err);
    if (st || fit->o->no_masks)
        return st;
    st = nb_radial_estimate(fit, fit->high, fit->o->knots, &under, err);
    for (int i = 0; i < fit->n_peaks && !st && fit->peaks[i].light > least; i++) {
        const nb_fit_peak *peak = &fit->peaks[i];
        if (isnan(fit->photons[peak->at]) || nb_fit_index_error(fit, peak) < FOREIGN_INDEX)
            continue;
        if (!rendered++)
            st = nb_fit_image(fit, fit->photons, err);
        if (st || explained(fit, &under, peak) > FOREIGN_MODEL)
            continue;
        st = leave_spot_out(fit, &under, peak->at, err);
        note_foreign(fit, peak->at, &fit->out->masks);
    }
    return st;
}

/* Where they are. */

static void note_pixel(const nb_fit *fit, size_t at, nb_refine_masked *out)
{
    int fast, slow, place[2];
    nb_sim_size(fit->sim, &fast, &slow);
    place[0] = (int)(at % (size_t)fast);
    place[1] = (int)(at / (size_t)fast);
    out->count[fit->masked[at]]++;
    if (fit->masked[at] == NB_MASKED_HOT && out->n_hot < NB_MASKED_HOT_MAX)
        memcpy(out->hot[out->n_hot++], place, sizeof place);
    if (fit->masked[at] != NB_MASKED_SHADOW)
        return;
    for (int i = 0; i < 2; i++) {
        const int first = out->count[NB_MASKED_SHADOW] == 1;
        out->shadow[i] = first || place[i] < out->shadow[i] ? place[i] : out->shadow[i];
        out->shadow[2 + i] =
            first || place[i] > out->shadow[2 + i] ? place[i] : out->shadow[2 + i];
    }
}

nb_status nb_fit_mask(nb_fit *fit, nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    nb_radial under;
    nb_status st = NB_OK;
    if (!fit->o->no_masks) {
        st = nb_radial_estimate(fit, fit->high, fit->o->knots, &under, err);
        for (int k = 0; k < sc->n_panels && !st; k++)
            mask_hot_full(fit, &sc->panels[k], &under);
        if (!st)
            st = mask_hot(fit, &under, err);
        for (int k = 0; k < sc->n_panels && !st; k++)
            st = mask_shadow(fit, &sc->panels[k], &under, err);
        if (!st && fit->kind !=
                       NB_BACKGROUND_WATER) /* a background of the scene may have rings */
            st = mask_rings(fit, &under, err);
    }
    for (size_t i = 0; i < fit->pixels; i++)
        if (fit->masked[i])
            note_pixel(fit, i, &fit->out->masks);
    return st;
}
