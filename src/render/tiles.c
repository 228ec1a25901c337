/* SPDX-License-Identifier: MIT */
#include "vector_paths.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"
#include "../plan/dark.h"
#include "request.h"
#include "tile_rows.h"

enum {
    TILE = 64,
    PILOTS = 512
}; /* TILE: approximate sub-pixels along a tile's edge; PILOTS: blocks for an estimate */
/* factor of a budget, for rounding errors of numbers that come from the budget */
#define ROOM (1 - 1e-4)

/* Measured costs (reports/cpu); unit: a group of steps in the kernel of every step. */
typedef struct tile_costs {
    /* cost of one unit of each member of nb_tile_counts */
    double ray, block, group, steps, terms;
} tile_costs;
static const tile_costs fixed_costs = {1, 4, 0.5, 1.2, 1.35},
                        double_costs = {0.4, 1.5, 0.2, 0.4, 1.25};
#define GAIN 1.3 /* smallest gain for which blocks are used */

#define SUMMED (1 - 1e-6) /* factor that makes a sum of doubles a lower bound */
#define TERMS_MAX 1e8     /* limit of the terms of a pixel that is summed: some seconds */

/** One panel's tiles. */
typedef struct tile_grid {
    nb_lit_panel lit;
    int edge, block;      /* edge of a tile, pixels; edge of first blocks, sub-pixels */
    int across, first[2]; /* tiles in a row; column and row of the first tile */
    size_t start;         /* number of the panel's first tile */
} tile_grid;

typedef struct tile_pass {
    const nb_render *job;
    const nb_scene *scene;
    const nb_tiles *steps;
    const nb_span_rows *rows;
    double bound; /* limit of the photons left out of a pixel */
    tile_grid *grids;
    size_t tiles;
    nb_ray_tile *of; /* one per thread */
    double *brightest;
    int pilot; /* 1: only count the work of some blocks of the whole detector */
    atomic_size_t done;
    atomic_int stop;
} tile_pass;

/* ------------------------------------------------------------------ a tile */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static const tile_grid *grid_of(const tile_pass *pass, size_t tile, int *panel)
{
    *panel = 0;
    while (*panel + 1 < pass->scene->n_panels && pass->grids[*panel + 1].start <= tile)
        ++*panel;
    return &pass->grids[*panel];
}

/** Photons of a pixel if each of its rays has a sum of terms of 1 (relative to unit) at a
 * solid angle of 1. */
static double brightness_of(const tile_pass *pass, const nb_sensor *sensor)
{
    const nb_scene *sc = pass->scene;
    return sc->intensity_scale * sc->oversample * sc->oversample *
           (sensor->absorb ? 1 : sensor->layers) * pass->steps->unit;
}

/** Set a thread's tile to number `tile`. Tiles end at the panel's edges, not at the
 * region's edges, so that the bytes do not depend on the region. */
static nb_ray_tile *place_tile(const tile_pass *pass, size_t tile, int thread)
{
    int k;
    const tile_grid *grid = grid_of(pass, tile, &k);
    const nb_panel *panel = &pass->scene->panels[k];
    const int i = (int)(tile - grid->start), os = pass->scene->oversample;
    nb_ray_tile *t = &pass->of[thread];
    nb_spot_tile *r = &t->rays;
    const nb_sensor *sensor = &pass->scene->sensors[panel->sensor];
    const double brightness = brightness_of(pass, sensor);
    r->plan = &pass->job->plans[k];
    r->has_factor = sensor->absorb || pass->scene->oversample_omega;
    r->f0 = (grid->first[0] + i % grid->across) * grid->edge;
    r->s0 = (grid->first[1] + i / grid->across) * grid->edge;
    r->nf = least(grid->edge, panel->columns - r->f0);
    r->ns = least(grid->edge, panel->rows - r->s0);
    r->nu = r->nf * os;
    r->nv = r->ns * os;
    t->block = grid->block;
    t->only_count = pass->pilot;
    t->budget = brightness > 0 ? pass->bound / brightness * ROOM : 0;
    return t;
}

/** Mark the pixels in columns first .. end - 1 of the panel, in row s of the tile.
 * Returns 0 if no column is in the tile. */
static int want_columns(nb_ray_tile *t, int s, int first, int end)
{
    const nb_spot_tile *r = &t->rays;
    first = first > r->f0 ? first - r->f0 : 0;
    end = least(end - r->f0, r->nf);
    for (int f = first; f < end; f++)
        t->want[s * r->nf + f] = 1;
    return end > first;
}

/** Mark the pixels of the tile that are requested and may be lit. Returns 0 without such
 * pixels. */
static int want_pixels(const tile_pass *pass, nb_ray_tile *t, const nb_lit_panel *lit)
{
    const nb_spot_tile *r = &t->rays;
    const nb_span_rows *rows = pass->rows;
    int any = 0;
    memset(t->want, 0, (size_t)r->nf * (size_t)r->ns);
    for (int s = 0; s < r->ns; s++) {
        const size_t row = (size_t)(r->plan->panel.first_row + r->s0 + s);
        int first, last;
        nb_lit_columns(lit, r->s0 + s, &first, &last);
        for (size_t i = rows->first[row]; i < rows->first[row + 1]; i++) {
            const nb_span *span = &rows->spans[rows->order[i]];
            int from = span->fast > first ? span->fast : first;
            any |= want_columns(t, s, from, least(span->fast + span->n, last + 1));
        }
    }
    return any;
}

/** Mark one block of the tile, at a different place in each tile. Returns 0 if the block
 * is dark. */
static int want_block(nb_ray_tile *t, const nb_lit_panel *lit, size_t tile)
{
    const nb_spot_tile *r = &t->rays;
    const int os = t->rays.plan->scene.oversample, block = (t->block + os - 1) / os;
    const int across = r->nf / block > 0 ? r->nf / block : 1,
              down = r->ns / block > 0 ? r->ns / block : 1;
    const int f0 = r->f0 + (int)(tile * 7 % (size_t)across) * block,
              s0 = (int)(tile * 5 % (size_t)down) * block;
    int any = 0;
    memset(t->want, 0, (size_t)r->nf * (size_t)r->ns);
    for (int s = s0; s < s0 + block && s < r->ns; s++) {
        int first, last;
        nb_lit_columns(lit, r->s0 + s, &first, &last);
        first = f0 > first ? f0 : first;
        last = least(f0 + block, last + 1);
        t->counts.rays += fmax(0, least(last, r->f0 + r->nf) - first);
        any |= want_columns(t, s, first, last);
    }
    return any;
}

static void run_tile(tile_pass *pass, size_t tile, int thread)
{
    const nb_hooks *hooks = pass->job->hooks;
    nb_ray_tile *t;
    int panel;
    if (atomic_load_explicit(&pass->stop, memory_order_relaxed))
        return;
    const tile_grid *grid = grid_of(pass, tile, &panel);
    t = place_tile(pass, tile, thread);
    if (pass->pilot ? want_block(t, &grid->lit, tile) : want_pixels(pass, t, &grid->lit)) {
        pass->job->kernels.tile(t);
        if (!pass->pilot)
            pass->brightest[thread] = nb_tile_finish(
                &t->rays, pass->rows, pass->job->planes->image, pass->brightest[thread]);
    }
    size_t done = atomic_fetch_add_explicit(&pass->done, 1, memory_order_relaxed) + 1;
    if (thread == 0 && !pass->pilot && hooks->progress &&
        hooks->progress(hooks->user, (double)done / (double)pass->tiles))
        atomic_store(&pass->stop, 1);
}

static void run_tiles(tile_pass *pass)
{
    const size_t stride = pass->pilot ? (pass->tiles + PILOTS - 1) / PILOTS : 1,
                 first = stride / 2;
#pragma omp parallel for schedule(dynamic, 1) num_threads(pass->job->threads)
    for (size_t tile = first; tile < pass->tiles; tile += stride)
        run_tile(pass, tile, nb_thread_number());
}

/* ------------------------------------------------------------------ a pass */

static int tile_edge(const nb_render *job, int oversample)
{
    int edge = oversample < TILE ? TILE / oversample : 1;
    return job->edge > 0 ? job->edge * edge : edge;
}

/** Divide each panel's region into tiles, which are counted from the panel's corner. */
static nb_status make_grids(tile_pass *pass, const nb_plan *plan, nb_error *err)
{
    const nb_scene *sc = pass->scene;
    const nb_lit_cone cone = nb_lit_cone_of(plan);
    pass->grids = nb_alloc((size_t)sc->n_panels, sizeof *pass->grids, "tiles", err);
    pass->tiles = 0;
    for (int k = 0; k < sc->n_panels && pass->grids; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_region region = nb_panel_region(sc, panel);
        tile_grid *grid = &pass->grids[k];
        grid->lit = nb_lit_panel_of(&cone, panel, &sc->sensors[panel->sensor]);
        grid->lit.columns = panel->columns;
        grid->edge = tile_edge(pass->job, sc->oversample);
        grid->block = nb_tile_block(pass->steps, panel);
        grid->start = pass->tiles;
        grid->across = 1;
        if (nb_region_pixels(region) == 0)
            continue;
        grid->first[0] = region.fmin / grid->edge;
        grid->first[1] = region.smin / grid->edge;
        grid->across = region.fmax / grid->edge + 1 - grid->first[0];
        pass->tiles += (size_t)grid->across *
                       (size_t)(region.smax / grid->edge + 1 - grid->first[1]);
    }
    return pass->grids ? NB_OK : NB_ERR_NOMEM;
}

static nb_status alloc_tiles(tile_pass *pass, nb_error *err)
{
    const int os = pass->scene->oversample;
    const size_t n = (size_t)pass->job->threads;
    nb_status st = NB_OK;
    pass->of = nb_alloc(n, sizeof *pass->of, "tiles", err);
    pass->brightest = nb_alloc(n, sizeof *pass->brightest, "tiles", err);
    if (!pass->of || !pass->brightest)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++)
        st = nb_ray_tile_alloc(&pass->of[i], pass->steps, tile_edge(pass->job, os) * os,
                               err);
    return st;
}

static void free_pass(tile_pass *pass)
{
    for (int i = 0; i < pass->job->threads && pass->of; i++)
        nb_ray_tile_free(&pass->of[i]);
    nb_free(pass->of);
    nb_free(pass->brightest);
    nb_free(pass->grids);
}

static void add_counts(const tile_pass *pass, nb_tile_counts *to)
{
    for (int i = 0; i < pass->job->threads; i++) {
        const nb_tile_counts *c = &pass->of[i].counts;
        to->rays += c->rays;
        to->blocks += c->blocks;
        to->groups += c->groups;
        to->steps += c->steps;
        to->terms += c->terms;
    }
}

/** Upper bound of the photons that are left out of a pixel. */
static double largest_lack(const tile_pass *pass)
{
    double lack = 0, brightness = 0;
    for (int k = 0; k < pass->scene->n_panels; k++)
        brightness = fmax(
            brightness,
            brightness_of(pass, &pass->scene->sensors[pass->scene->panels[k].sensor]));
    for (int i = 0; i < pass->job->threads; i++)
        lack = fmax(lack, pass->of[i].lack);
    return fmin(pass->bound, lack * brightness);
}

/** Walk over the tiles of the plan's scene. */
static nb_status run_pass(tile_pass *pass, const nb_plan *plan, nb_spots_result *result,
                          nb_tile_counts *counts, nb_error *err)
{
    nb_status st;
    pass->scene = plan->scene;
    atomic_store(&pass->done, 0); /* the pilot pass also counted its tiles here */
    st = make_grids(pass, plan, err);
    NB_TRY(alloc_tiles(pass, err));
    if (!st)
        run_tiles(pass);
    if (!st && counts)
        add_counts(pass, counts);
    if (!st && !pass->pilot)
        result->bound = largest_lack(pass);
    for (int i = 0; i < pass->job->threads && !st; i++)
        result->brightest = fmax(result->brightest, pass->brightest[i]);
    if (!st && atomic_load(&pass->stop))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    free_pass(pass);
    return st;
}

/* ------------------------------------------------------------------ bound and choice */

/** Lower bound of the photons of a pixel from all its terms. */
static double terms_of(const nb_scene *sc, const nb_bright *at)
{
    const nb_panel *panel = &sc->panels[at->panel];
    return nb_pixel_intensity(sc, panel, &sc->sensors[panel->sensor], at->f, at->s) *
           SUMMED;
}

/** Like nb_spots_brightest, for any shape: near its middle a spot is a Gaussian up to a
 * factor (nb_tiles_like). The middles of the spots give a quarter to a half of the
 * pixel's photons. If the pixel does not have too many terms, a sum over all its terms
 * then gives all its photons. */
static nb_status find_brightest(const nb_render *job, double *brightest, nb_error *err)
{
    nb_scene like;
    const double part = nb_tiles_like(job->scene, &like);
    nb_render first = *job;
    nb_bright best;
    nb_status st;
    first.scene = &like;
    st = nb_spots_brightest(&first, NB_SPOTS_MIDDLES, &best, err);
    *brightest = best.photons * part;
    if (!st && *brightest > 0 && job->plan->terms <= TERMS_MAX)
        *brightest = fmax(*brightest, terms_of(job->scene, &best));
    return st;
}

/** Set the photons that may be left out of a pixel. */
static nb_status set_bound(const nb_render *job, nb_spots_result *result, nb_error *err)
{
    const nb_tolerance *tolerance = &job->plan->tolerance;
    nb_status st = NB_OK;
    if (tolerance->part > 0)
        st = find_brightest(job, &result->brightest, err);
    result->bound = nb_tolerance_photons(tolerance, result->brightest);
    if (!st && !(result->bound > 0))
        result->refused = "no reflection lights a pixel";
    return st;
}

/** Set result->refused if blocks are not quicker. The work for some blocks of the whole
 * detector decides, so that region and number of threads do not change the choice. */
static nb_status try_blocks(tile_pass *pass, nb_spots_result *result, nb_error *err)
{
    nb_scene whole = *pass->job->scene;
    nb_plan plan = *pass->job->plan;
    nb_tile_counts c = {0};
    const tile_costs *cost = pass->job->plans->fixed ? &fixed_costs : &double_costs;
    double tiles, every;
    nb_status st;
    whole.raster.mask = NULL;
    whole.raster.roi = (nb_region){0, whole.raster.columns - 1, 0, whole.raster.rows - 1};
    plan.scene = &whole;
    pass->pilot = 1;
    st = run_pass(pass, &plan, result, &c, err);
    pass->pilot = 0;
    c.rays *= whole.oversample * whole.oversample;
    tiles = cost->ray * c.rays + cost->block * c.blocks + cost->group * c.groups +
            cost->steps * c.steps + cost->terms * c.terms;
    every = c.rays * plan.steps / NB_TILE_STEPS;
    if (!st && !(GAIN * tiles < every))
        result->refused = "every step is as quick";
    return st;
}

/** Render a request that has a list of spans. */
static nb_status render_spans(tile_pass *pass, const nb_request *request,
                              nb_spots_result *result, nb_error *err)
{
    const nb_render *job = pass->job;
    nb_span_rows rows = {NULL, NULL, NULL};
    nb_status st = nb_clear_planes(job, request, err);
    if (!st && request->n > 0)
        st = nb_span_rows_build(job->scene, request->spans, request->n, &rows, err);
    pass->rows = &rows;
    if (!st && request->n > 0)
        st = run_pass(pass, job->plan, result, NULL, err);
    pass->rows = NULL;
    nb_span_rows_free(&rows);
    return st;
}

static nb_status render_steps(tile_pass *pass, nb_spots_result *result, nb_error *err)
{
    const nb_render *job = pass->job;
    nb_request request = *job->request;
    nb_span *built = NULL;
    nb_status st = NB_OK;
    pass->bound = result->bound;
    if (!job->always)
        st = try_blocks(pass, result, err);
    if (st || result->refused)
        return st;
    if (!request.spans && request.n > 0) {
        st = nb_spans_build(job->scene, &built, &request.n, err);
        request.spans = built;
    }
    NB_TRY(render_spans(pass, &request, result, err));
    nb_free(built);
    return st;
}

nb_status nb_tiles_render(const nb_render *job, nb_spots_result *result, nb_error *err)
{
    nb_tiles steps;
    tile_pass pass = {.job = job, .steps = &steps};
    nb_status st;
    memset(result, 0, sizeof *result);
    st = set_bound(job, result, err);
    if (st || result->refused)
        return st;
    NB_FORWARD(nb_tiles_build(job->plan, &steps, err));
    st = render_steps(&pass, result, err);
    nb_tiles_free(&steps);
    return st;
}

/* ------------------------------------------------------------------ the path */

/* Ratio of the path's seconds to the estimate by nb_tiles_gain (tests/bench/choose.c). */
#define LONGER 2.8
/* Seconds of a trial on one core, measured (reports/cpu): it searches the brightest pixel
 * and makes bounds for some blocks. If every step takes less time than FEW_TRIALS trials,
 * there is no trial. Otherwise the estimated gain must be at least SEEMS, or SEEMS times
 * MANY_TRIALS trials / (time of every step) if this is less. */
#define TRIAL 5e-3
#define TRIAL_OF_TABLE 7e-3
#define FEW_TRIALS 2.5
#define MANY_TRIALS 20
#define SEEMS 1.8

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_vectors_refuse(plan);
    double every, trial;
    if (!reason)
        reason = nb_tiles_refuse(plan);
    if (reason)
        return nb_path_refuse(why, reason);
    every = nb_spots_whole(plan, nb_path_every_step);
    trial = (plan->scene->factors.table.nh > 0 ? TRIAL_OF_TABLE : TRIAL) +
            nb_spots_look_seconds(plan);
    if (every < FEW_TRIALS * trial)
        return nb_path_refuse(why, "every step is quick");
    if (nb_tiles_gain(plan) < SEEMS * fmin(1, MANY_TRIALS * trial / every))
        return nb_path_refuse(why, "every step seems to be as quick");
    return 1;
}

/** Estimated seconds, always less than the time of every step: so a path that applies is
 * tried first, and the work of some blocks then decides. */
static double seconds(const nb_plan *plan)
{
    return nb_tiles_refuse(plan)
               ? INFINITY
               : nb_path_every_step(plan) / fmax(1.001, nb_tiles_gain(plan) / LONGER);
}

static nb_status prepare(nb_render *r, nb_error *err)
{
    const char *unused;
    const nb_vector_sums sums =
        nb_fixed_applies(r->plan, &unused) ? NB_SUMS_FIXED : NB_SUMS_DOUBLE;
    return nb_vector_plans_build(r->plan, sums, r->kept, &r->plans, err);
}

/** Run the path, or every step if the path refuses. */
static nb_status run(nb_render *r, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_tiles_render(r, &r->notes->left, err));
    return r->notes->left.refused ? nb_steps_run(r, err) : NB_OK;
}

static void describe(const nb_path_notes *notes, char *line, size_t size)
{
    if (!notes->left.refused)
        snprintf(line, size,
                 "in blocks of rays; no pixel is darker by more than %.2g of the "
                 "brightest",
                 nb_spots_part(&notes->left));
}

const nb_path nb_path_tiles = {.name = "tiles",
                               .applies = applies,
                               .seconds = seconds,
                               .skips = nb_tiles_suit,
                               .prepare = prepare,
                               .run = run,
                               .describe = describe};
