/* SPDX-License-Identifier: MIT */
/* Derivatives with -footprint.  The image is K I + B: K spreads the light I of the
 * crystal, B is the background.  The slopes are K dI/dp + (dK/dp) I + dB/dp.  A loss goes
 * back through the adjoint of K. */
#include "footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"

/** A job, and the parts of its image: light to be spread, and background. */
typedef struct spreading {
    const nb_slope_job *job;
    const nb_scene *wanted;
    nb_footprint_parts parts;
    nb_slope_job light,
        rest; /* jobs of the crystal and of the background; tangents are owned */
    nb_slope_run light_run, rest_run;
    const nb_image_kernels *kernels;
    int threads;
} spreading;

static void close_spreading(spreading *s)
{
    nb_footprint_parts_free(&s->parts);
    nb_free(s->light.tangents);
    nb_free(s->rest.tangents);
}

/** Divide each tangent into a part of the light (crystal) and one of the background. */
static void divide_tangents(spreading *s)
{
    for (int i = 0; i < s->job->count; i++) {
        const nb_tangent *t = &s->job->tangents[i];
        s->light.tangents[i] = *t;
        s->light.tangents[i].background = 0;
        s->rest.tangents[i] = (nb_tangent){.wave = t->wave,
                                           .spectrum = t->spectrum,
                                           .beam = {t->beam[0], t->beam[1]},
                                           .image = t->image,
                                           .background = t->background,
                                           .polarization = t->polarization,
                                           .entry = -1,
                                           .panels = t->panels};
    }
    s->rest.sums &= NB_SLOPE_RAY | NB_SLOPE_WAVE | NB_SLOPE_POLAR | NB_SLOPE_BEAM;
    s->rest.n_entries = 0;
}

/** Open *s; close it with close_spreading, also after an error. */
static nb_status open_spreading(const nb_sim *sim, const nb_slope_run *run,
                                const nb_scene *wanted, spreading *s, nb_error *err)
{
    const nb_slope_job *job = run->job;
    const size_t n = (size_t)job->count;
    nb_status st;
    memset(s, 0, sizeof *s);
    s->job = job;
    s->wanted = wanted;
    s->threads = run->threads;
    s->kernels = sim->engine.kernels;
    st = nb_footprint_parts_of(&sim->model.footprint, wanted, n > 0, &s->parts, err);
    s->light = s->rest = *job;
    s->light.scene = &s->parts.bragg;
    s->rest.scene = &s->parts.rest;
    s->light.tangents = nb_alloc(n, sizeof *s->light.tangents, "parameters", err);
    s->rest.tangents = nb_alloc(n, sizeof *s->rest.tangents, "parameters", err);
    if (!s->light.tangents || !s->rest.tangents)
        return NB_ERR_NOMEM;
    divide_tangents(s);
    s->light_run = s->rest_run = *run;
    s->light_run.job = &s->light;
    s->rest_run.job = &s->rest;
    return st;
}

/* --- slopes of the taps, the parts of a pixel's light that its neighbours get --- */

static nb_panel moved(const nb_panel *p, const nb_panel_slope *by, double h)
{
    nb_panel to = *p;
    to.pix0 = nb_add(p->pix0, nb_scale(h, by->pix0));
    to.fast = nb_add(p->fast, nb_scale(h, by->fast));
    to.slow = nb_add(p->slow, nb_scale(h, by->slow));
    to.distance += h * by->distance;
    to.Fbeam += h * by->Fbeam;
    to.Sbeam += h * by->Sbeam;
    to.curved_fast = nb_add(p->curved_fast, nb_scale(h * by->roll, p->curved_slow));
    to.curved_slow = nb_sub(p->curved_slow, nb_scale(h * by->roll, p->curved_fast));
    return to;
}

/** Slope by a parameter of a tile's nb_footprint_map.  For a moving panel it is a central
 * difference: the map is a ratio of determinants, so a step of 1e-5 is accurate. */
static void map_slope(const nb_footprint *fp, const nb_panel *p,
                      const nb_footprint_tile *tile, const nb_tangent *t,
                      const nb_panel_slope *by, double slope[4])
{
    nb_footprint_map(p, tile->F, tile->S, t->footprint[0], t->footprint[1], slope);
    if (by) {
        const double R = nb_norm(nb_panel_point(p, tile->F, tile->S, 0));
        const double rate =
            nb_norm(by->fast) + nb_norm(by->slow) + fabs(by->roll) +
            (nb_norm(by->pix0) + fabs(by->distance) + fabs(by->Fbeam) + fabs(by->Sbeam)) /
                R;
        const double h = 1e-5 / rate;
        nb_panel up, down;
        double A[4], B[4];
        if (!(rate > 0))
            return;
        up = moved(p, by, h);
        down = moved(p, by, -h);
        nb_footprint_map(&up, tile->F, tile->S, fp->a, fp->b, A);
        nb_footprint_map(&down, tile->F, tile->S, fp->a, fp->b, B);
        for (int i = 0; i < 4; i++)
            slope[i] += (A[i] - B[i]) / (2 * h);
    }
}

/** Make the slopes of a tile's taps, *out (nb_free), or NULL if all are 0. */
static nb_status tile_slopes(const nb_taps *taps, const double slope[4], double **out,
                             nb_error *err)
{
    const size_t n = nb_taps_count(taps);
    *out = NULL;
    if (slope[0] == 0 && slope[1] == 0 && slope[2] == 0 && slope[3] == 0)
        return NB_OK;
    if (!(*out = nb_alloc(n, sizeof **out, "footprint", err)))
        return NB_ERR_NOMEM;
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < n; i++)
            (*out)[i] += slope[k] * taps->by[k][i];
    return NB_OK;
}

static void free_slopes(const spreading *s, double **slopes)
{
    for (int i = 0; slopes && i < s->parts.plan->n_tiles; i++)
        nb_free(slopes[i]);
    nb_free(slopes);
}

/** Make dK/dp, the slopes of each tile's taps: *out (free_slopes), or NULL if it is 0. */
static nb_status taps_slopes(const spreading *s, const nb_footprint *fp, int p,
                             double ***out, nb_error *err)
{
    const nb_footprint_plan *plan = s->parts.plan;
    const nb_tangent *t = &s->job->tangents[p];
    const double own = nb_norm(t->footprint[0]) + nb_norm(t->footprint[1]);
    nb_status st = NB_OK;
    *out = NULL;
    if (!t->panels && own == 0)
        return NB_OK;
    if (!(*out = nb_alloc((size_t)plan->n_tiles, sizeof **out, "footprint", err)))
        return NB_ERR_NOMEM;
    for (int k = 0; k < plan->n_panels; k++) {
        const nb_footprint_panel *on = &plan->panels[k];
        for (int i = 0; i < on->across * on->down && !st; i++) {
            const nb_footprint_tile *tile = &plan->tiles[on->tile + i];
            double slope[4];
            map_slope(fp, &s->wanted->panels[k], tile, t,
                      t->panels ? &t->panels[k] : NULL, slope);
            st = tile_slopes(&plan->taps[tile->taps], slope, &(*out)[on->tile + i], err);
        }
    }
    return st;
}

/* --- the pixels of a list --- */

enum {
    AHEAD = 64 /* pixels made at once; so 64 unused numbers follow each plane of light */
};
/* Leave out smaller taps (parts of a pixel's light); slopes may be 100 times a tap. */
#define LEAST_TAP 1e-15

/** Arguments for spreading the light of the pixels `from` over the pixels `to`. */
typedef struct gather {
    const spreading *s;
    const nb_slope_list *to, *from; /* from: the pixels with light */
    const double *light;            /* [1 + count][stride]: image and slopes of `from` */
    size_t stride;
    double ***slopes; /* [1 + count] results of taps_slopes, which may be NULL */
    double *values;   /* [1 + count][to->n]: image and slopes of `to` */
} gather;

/** Taps that bring light to some pixels of a row, for one thread. */
typedef struct gather_room {
    int n, limit;
    size_t *at;          /* owned, [limit]: place of the first pixel's light in a plane */
    int *tile, *tap;     /* owned, [limit]: tile and number of the tap */
    double *weight;      /* owned, [limit] */
    const double **rows; /* owned, [limit]: work */
} gather_room;

static void close_room(gather_room *r)
{
    nb_free(r->at);
    nb_free(r->tile);
    nb_free(r->tap);
    nb_free(r->weight);
    nb_free(r->rows);
}

static int open_room(const nb_footprint_plan *plan, gather_room *r)
{
    size_t limit = 0;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < plan->n_panels; i++) {
        const nb_footprint_panel *p = &plan->panels[i];
        const size_t n = (2 * (size_t)p->fast + 1) * (2 * (size_t)p->slow + 1);
        limit = n > limit ? n : limit;
    }
    r->limit = (int)limit;
    r->at = nb_alloc_raw(limit, sizeof *r->at, "footprint", NULL);
    r->tile = nb_alloc_raw(limit, sizeof *r->tile, "footprint", NULL);
    r->tap = nb_alloc_raw(limit, sizeof *r->tap, "footprint", NULL);
    r->weight = nb_alloc_raw(limit, sizeof *r->weight, "footprint", NULL);
    r->rows = nb_alloc_raw(limit, sizeof *r->rows, "footprint", NULL);
    return r->at && r->tile && r->tap && r->weight && r->rows;
}

/** Tile of pixel `place` along an edge; tile i of n begins at pixel columns * i / n. */
static int tile_along(int columns, int n, int place)
{
    int i = (int)((int64_t)place * n / columns);
    while ((int64_t)columns * (i + 1) / n <= place)
        i++;
    while ((int64_t)columns * i / n > place)
        i--;
    return i;
}

/** Number of pixels after the first `done` of a span that all have the same taps. */
static int pixels_at_once(const nb_panel *p, const nb_footprint_panel *on,
                          const nb_span *span, int done)
{
    const int first = span->fast + done, left = span->n - done;
    const int i = tile_along(p->columns, on->across, first);
    const int low = (int)((int64_t)p->columns * i / on->across) + on->fast;
    const int high = (int)((int64_t)p->columns * (i + 1) / on->across) - on->fast;
    int n = first >= low && first < high ? high - first : 1;
    n = n < left ? n : left;
    return n < AHEAD ? n : AHEAD;
}

/** Add the taps that bring light of row `from` to the first pixel of a span. */
static void add_taps(const gather *g, int panel, int from, const nb_span *span,
                     gather_room *r)
{
    const nb_footprint_plan *plan = g->s->parts.plan;
    const nb_footprint_panel *on = &plan->panels[panel];
    const nb_panel *p = &g->s->wanted->panels[panel];
    const size_t row = nb_panel_pixel(p, 0, from);
    const int down = tile_along(p->rows, on->down, from), d = span->slow - from;
    const int least = span->fast > on->fast ? span->fast - on->fast : 0;
    for (int f = least; f <= span->fast + on->fast && f < p->columns; f++) {
        const int tile =
            on->tile + down * on->across + tile_along(p->columns, on->across, f);
        const nb_taps *taps = &plan->taps[plan->tiles[tile].taps];
        const int e = span->fast - f;
        if (abs(e) > taps->fast || abs(d) > taps->slow)
            continue;
        r->at[r->n] = g->from->place[row + (size_t)f];
        r->tile[r->n] = tile;
        r->tap[r->n] = (d + taps->slow) * (2 * taps->fast + 1) + e + taps->fast;
        r->weight[r->n] = taps->w[r->tap[r->n]];
        r->n += fabs(r->weight[r->n]) > LEAST_TAP;
    }
}

/** For n pixels, sum plane `from` of the light times the weight of each tap in r. */
static void pass(const gather *g, const gather_room *r, const double *weight, size_t from,
                 int n, double *sum)
{
    for (int t = 0; t < r->n; t++)
        r->rows[t] = g->light + from * g->stride + r->at[t];
    g->s->kernels->taps(r->rows, weight, r->n, (n + 7) / 8 * 8, sum);
}

/** True if the plane is the slope by a parameter of the footprint: only taps change. */
static int only_taps(const spreading *s, size_t plane)
{
    const nb_tangent *t = plane > 0 ? &s->job->tangents[plane - 1] : NULL;
    return t && nb_norm(t->footprint[0]) + nb_norm(t->footprint[1]) > 0;
}

/** Make image and slopes of n pixels from place `at` on.  r has their taps. */
static void gather_pixels(const gather *g, gather_room *r, size_t at, int n)
{
    double sum[AHEAD], *weight = r->weight;
    for (size_t k = 0; k <= (size_t)g->s->job->count; k++) {
        double *to = g->values + k * g->to->n + at;
        memset(to, 0, (size_t)n * sizeof *to);
        if (!only_taps(g->s, k)) {
            pass(g, r, weight, k, n, sum);
            memcpy(to, sum, (size_t)n * sizeof *to);
        }
    }
    for (size_t k = 1; k <= (size_t)g->s->job->count; k++) {
        double *to = g->values + k * g->to->n + at;
        if (!g->slopes[k])
            continue;
        for (int t = 0; t < r->n; t++)
            weight[t] = g->slopes[k][r->tile[t]] ? g->slopes[k][r->tile[t]][r->tap[t]] : 0;
        pass(g, r, weight, 0, n, sum);
        for (int i = 0; i < n; i++)
            to[i] += sum[i];
    }
}

static void gather_span(const gather *g, const nb_span *span, gather_room *r)
{
    const nb_footprint_panel *on = &g->s->parts.plan->panels[span->panel];
    const nb_panel *p = &g->s->wanted->panels[span->panel];
    for (int done = 0, n; done < span->n; done += n) {
        const nb_span part = {span->panel, span->fast + done, span->slow, 1,
                              span->at + (size_t)done};
        const int first = part.slow > on->slow ? part.slow - on->slow : 0;
        n = pixels_at_once(p, on, span, done);
        r->n = 0;
        for (int s = first; s <= part.slow + on->slow && s < p->rows; s++)
            add_taps(g, span->panel, s, &part, r);
        gather_pixels(g, r, g->to->place[part.at], n);
    }
}

/** Make all pixels of g->to.  Errors: NB_ERR_NOMEM. */
static nb_status gather_all(const gather *g, nb_error *err)
{
    const nb_slope_pixels *pixels = g->to->pixels;
    const int team = nb_image_threads(g->s->threads, (int64_t)g->to->n * 64);
    int failed = 0;
    (void)team;
#pragma omp parallel num_threads(team) reduction(| : failed)
    {
        gather_room room;
        const int open = open_room(g->s->parts.plan, &room);
        long i;
        failed = !open;
#pragma omp for schedule(dynamic, 32)
        for (i = 0; i < (long)pixels->n; i++)
            if (open)
                gather_span(g, &pixels->spans[i], &room);
        close_room(&room);
    }
    return failed ? nb_fail(err, NB_ERR_NOMEM, "out of memory for the footprint") : NB_OK;
}

/** Render the light; the caller frees *from, *pixels, *light, also after an error. */
static nb_status render_light(const spreading *s, nb_slope_list *from,
                              nb_slope_pixels *pixels, double **light, nb_error *err)
{
    const size_t planes = (size_t)s->job->count + 1;
    nb_status st = nb_slope_scene_pixels(&s->parts.bragg, pixels, err);
    NB_TRY(nb_slope_list_open(&s->parts.bragg, pixels, from, err));
    if (!st && !(*light = nb_alloc_raw(planes * (from->n + AHEAD), sizeof **light,
                                       "derivatives", err)))
        st = NB_ERR_NOMEM;
    for (size_t k = 0; k < planes && !st; k++) /* clear the unused numbers (AHEAD) */
        memset(*light + k * (from->n + AHEAD) + from->n, 0, AHEAD * sizeof **light);
    return st ? st : nb_slope_list_fill(&s->light_run, from, from->n + AHEAD, *light, err);
}

/** Add image and slopes of the background. */
static nb_status add_rest_at(const spreading *s, const nb_slope_list *list,
                             double *values, nb_error *err)
{
    const size_t n = list->n * ((size_t)s->job->count + 1);
    double *rest;
    nb_status st;
    if (!s->parts.has_rest)
        return NB_OK;
    if (!(rest = nb_alloc_raw(n + 1, sizeof *rest, "derivatives", err)))
        return NB_ERR_NOMEM;
    st = nb_slope_list_fill(&s->rest_run, list, list->n, rest, err);
    for (size_t i = 0; i < n && !st; i++)
        values[i] += rest[i];
    nb_free(rest);
    return st;
}

/** Slopes of all taps in *out (free_all_slopes, also after an error). */
static nb_status all_slopes(const spreading *s, const nb_footprint *fp, double ****out,
                            nb_error *err)
{
    const int count = s->job->count;
    nb_status st = NB_OK;
    if (!(*out = nb_alloc((size_t)count + 1, sizeof **out, "footprint", err)))
        return NB_ERR_NOMEM;
    for (int p = 0; p < count && !st; p++)
        st = taps_slopes(s, fp, p, &(*out)[p + 1], err);
    return st;
}

static void free_all_slopes(const spreading *s, double ***slopes)
{
    for (int p = 0; slopes && p <= s->job->count; p++)
        free_slopes(s, slopes[p]);
    nb_free(slopes);
}

/** Copy the scene with a mask of only the listed pixels.  Free *mask with nb_free. */
static nb_status scene_of_list(const nb_scene *all, const nb_slope_list *list,
                               nb_scene *scene, uint8_t **mask, nb_error *err)
{
    *scene = *all;
    if (!(*mask = nb_alloc(scene->raster.pixels, 1, "mask", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < list->pixels->n; i++)
        memset(*mask + list->pixels->spans[i].at, 1, (size_t)list->pixels->spans[i].n);
    scene->raster.mask = *mask;
    return NB_OK;
}

nb_status nb_sim_footprint_at(const nb_sim *sim, const nb_slope_run *run,
                              const nb_slope_list *list, double *values, nb_error *err)
{
    nb_scene wanted;
    spreading s = {0};
    nb_slope_pixels pixels = {0};
    nb_slope_list from = {0};
    double *light = NULL, ***slopes = NULL;
    uint8_t *mask;
    nb_status st = scene_of_list(run->job->scene, list, &wanted, &mask, err);
    NB_TRY(open_spreading(sim, run, &wanted, &s, err));
    NB_TRY(render_light(&s, &from, &pixels, &light, err));
    NB_TRY(all_slopes(&s, &sim->model.footprint, &slopes, err));
    if (!st) {
        const gather g = {&s, list, &from, light, from.n + AHEAD, slopes, values};
        st = gather_all(&g, err);
    }
    NB_TRY(add_rest_at(&s, list, values, err));
    free_all_slopes(&s, slopes);
    close_spreading(&s);
    nb_slope_pixels_free(&pixels);
    nb_slope_list_free(&from);
    nb_free(light);
    nb_free(mask);
    return st;
}

/* --- pullback --- */

static void spread(const spreading *s, double *const *taps, int back, const double *from,
                   double *to)
{
    nb_footprint_pass(s->parts.plan, s->wanted, taps, back, s->threads, from, to);
}

/** Add the part of a gradient that comes from the taps: dloss times (dK/dp) I. */
static nb_status pull_taps(const spreading *s, const nb_footprint *fp,
                           const double *dloss, double *gradient, nb_error *err)
{
    const size_t pixels = s->wanted->raster.pixels;
    nb_slope_job image = s->light;
    nb_slope_run run = s->light_run;
    double *light = NULL, *more = NULL;
    nb_status st = NB_OK;
    image.count = 0;
    image.sums = 0;
    run.job = &image;
    for (int p = 0; p < s->job->count && !st; p++) {
        double **slopes;
        st = taps_slopes(s, fp, p, &slopes, err);
        if (!st && slopes && !light) {
            light = nb_alloc_raw(pixels, sizeof *light, "image", err);
            more = nb_alloc_raw(pixels, sizeof *more, "image", err);
            st = light && more ? nb_slope_image(&run, light, err) : NB_ERR_NOMEM;
        }
        if (!st && slopes) {
            spread(s, slopes, 0, light, more);
            for (size_t i = 0; i < pixels; i++)
                gradient[p] += dloss[i] * more[i];
        }
        free_slopes(s, slopes);
    }
    nb_free(light);
    nb_free(more);
    return st;
}

/** Add the gradient of the background. */
static nb_status pull_rest(const spreading *s, const double *dloss, double *gradient,
                           nb_error *err)
{
    double rest[NB_VARIABLES_MAX];
    nb_status st;
    if (!s->parts.has_rest || s->job->count == 0)
        return NB_OK;
    st = nb_slope_pullback(&s->rest_run, NB_REAL_FLOAT64, dloss, rest, err);
    for (int p = 0; p < s->job->count && !st; p++)
        gradient[p] += rest[p];
    return st;
}

nb_status nb_sim_footprint_pullback(const nb_sim *sim, const nb_slope_run *run,
                                    const double *dloss, double *gradient,
                                    nb_hkl_gradient *F, nb_error *err)
{
    const nb_scene *sc = run->job->scene;
    double *before = nb_alloc_raw(sc->raster.pixels, sizeof *before, "loss", err);
    spreading s;
    nb_status st = open_spreading(sim, run, sc, &s, err);
    if (!st && !before)
        st = NB_ERR_NOMEM;
    if (!st) {
        spread(&s, NULL, 1, dloss, before);
        st = nb_slope_pullback(&s.light_run, NB_REAL_FLOAT64, before, gradient, err);
    }
    NB_TRY(pull_taps(&s, &sim->model.footprint, dloss, gradient, err));
    NB_TRY(pull_rest(&s, dloss, gradient, err));
    if (!st && F)
        st = nb_slope_F(&s.light_run, NB_REAL_FLOAT64, before, F, err);
    close_spreading(&s);
    nb_free(before);
    return st;
}
