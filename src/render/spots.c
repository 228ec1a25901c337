/* SPDX-License-Identifier: MIT */
#include "vector_paths.h"

#include <stdatomic.h>
#include <string.h>
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/limits.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"
#include "simd.h"
#include "request.h"
#include "tile_rows.h"

enum { TILE = 64 };          /* approximate number of sub-pixels along an edge */
#define BRIGHTEST (1 - 1e-6) /* factor that makes a sum of doubles a lower bound */

/** Data of one pass over all tiles. */
typedef struct spot_pass {
    const nb_render *job;
    const nb_spots *spots;
    const nb_span_rows *rows; /* NULL: only the brightest pixel is wanted */
    nb_spot_list list;
    nb_spot_tile *tiles;  /* one per thread */
    nb_bright *brightest; /* one per thread */
    atomic_size_t done;
    atomic_int stop;
} spot_pass;

static void run_tile(spot_pass *pass, size_t tile, int thread)
{
    const nb_hooks *hooks = pass->job->hooks;
    const nb_spot_list *list = &pass->list;
    if (atomic_load_explicit(&pass->stop, memory_order_relaxed))
        return;
    if (list->first[tile] < list->first[tile + 1]) {
        nb_spot_tile *t = &pass->tiles[thread];
        const int panel = nb_spot_tile_place(t, pass->spots, list, pass->job->plans, tile);
        pass->job->kernels.spot(t);
        nb_bright *best = &pass->brightest[thread];
        if (pass->rows)
            best->photons =
                nb_tile_finish(t, pass->rows, pass->job->planes->image, best->photons);
        else
            *best = nb_tile_look(t, panel, *best);
    }
    size_t done = atomic_fetch_add_explicit(&pass->done, 1, memory_order_relaxed) + 1;
    if (thread == 0 && pass->rows && hooks->progress &&
        hooks->progress(hooks->user, (double)done / (double)list->tiles))
        atomic_store(&pass->stop, 1);
}

static void run_tiles(spot_pass *pass)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(pass->job->threads)
    for (size_t tile = 0; tile < pass->list.tiles; tile++)
        run_tile(pass, tile, nb_thread_number());
}

/* ------------------------------------------------------------------ passes */

static nb_status alloc_tiles(spot_pass *pass, int edge, nb_error *err)
{
    const size_t n = (size_t)pass->job->threads;
    nb_status st = NB_OK;
    pass->tiles = nb_alloc(n, sizeof *pass->tiles, "tiles", err);
    pass->brightest = nb_alloc(n, sizeof *pass->brightest, "tiles", err);
    if (!pass->tiles || !pass->brightest)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++)
        st = nb_spot_tile_alloc(&pass->tiles[i], edge, err);
    return st;
}

static void free_pass(spot_pass *pass)
{
    for (int i = 0; i < pass->job->threads && pass->tiles; i++)
        nb_spot_tile_free(&pass->tiles[i]);
    nb_free(pass->tiles);
    nb_free(pass->brightest);
    nb_spot_list_free(&pass->list);
}

/** The rendered region of each panel of a scene; the caller frees the array. */
static nb_region *regions_of(const nb_scene *sc, nb_error *err)
{
    nb_region *regions = nb_alloc((size_t)sc->n_panels, sizeof *regions, "panels", err);
    for (int k = 0; k < sc->n_panels && regions; k++)
        regions[k] = nb_panel_region(sc, &sc->panels[k]);
    return regions;
}

/** Sum the terms that `limits` allows in the rendered region. The sums are added to the
 * image of `rows`; if `rows` is NULL, only the brightest pixel is found. */
static nb_status run_pass(const nb_render *job, const nb_spots *spots,
                          const nb_spot_limits *limits, const nb_span_rows *rows,
                          nb_bright *brightest, nb_error *err)
{
    spot_pass pass = {.job = job, .spots = spots, .rows = rows};
    const int os = spots->scene->oversample, edge = os < TILE ? TILE / os : 1;
    nb_region *regions = regions_of(spots->scene, err);
    nb_status st = regions ? NB_OK : NB_ERR_NOMEM;
    NB_TRY(nb_spot_list_build(spots, limits, regions, edge, &pass.list, err));
    NB_TRY(alloc_tiles(&pass, edge * os, err));
    if (!st)
        run_tiles(&pass);
    *brightest = (nb_bright){0};
    for (int i = 0; i < job->threads && !st; i++)
        *brightest = nb_brighter(*brightest, pass.brightest[i]);
    if (!st && atomic_load(&pass.stop))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    free_pass(&pass);
    nb_free(regions);
    return st;
}

nb_status nb_spots_brightest(const nb_render *job, int tries, nb_bright *brightest,
                             nb_error *err)
{
    nb_scene whole = *job->scene;
    nb_plan plan = *job->plan;
    nb_spots spots;
    nb_status st;
    *brightest = (nb_bright){0};
    whole.raster.mask = NULL;
    whole.raster.roi = (nb_region){0, whole.raster.columns - 1, 0, whole.raster.rows - 1};
    plan.scene = &whole;
    NB_FORWARD(nb_spots_build(&plan, &spots, err));
    for (int i = 0; i < tries && !st && !(brightest->photons > 0); i++) {
        nb_spot_limits limits;
        if (nb_spots_repeats(&spots, i))
            continue;
        if (!nb_spots_try(&spots, i, &limits))
            break;
        st = run_pass(job, &spots, &limits, NULL, brightest, err);
    }
    brightest->photons *= BRIGHTEST;
    nb_spots_free(&spots);
    return st;
}

/** Set the photons that may be left out of a pixel, and the threshold of terms: the sum
 * of all terms below it is at most these photons. */
static nb_status set_bound(const nb_render *job, const nb_spots *spots,
                           nb_spot_limits *limits, nb_spots_result *result, nb_error *err)
{
    const nb_tolerance *tolerance = &job->plan->tolerance;
    nb_bright best = {0};
    nb_status st = NB_OK;
    if (spots->law != NB_LAW_EDGE && tolerance->part > 0)
        st = nb_spots_brightest(job, NB_SPOTS_TRIES, &best, err);
    result->brightest = best.photons;
    if (!st)
        nb_spots_limit(spots, tolerance, limits, result);
    return st;
}

/* ------------------------------------------------------------------ the picture */

static void clear_row(void *context, const nb_span *spans, size_t n, float *row)
{
    const nb_span *last = spans + n - 1;
    (void)context;
    memset(row, 0, (size_t)(last->fast + last->n - spans->fast) * sizeof *row);
}

nb_status nb_clear_planes(const nb_render *job, const nb_request *request, nb_error *err)
{
    const nb_hooks quiet = {0};
    const nb_row_job rows = {job->scene, request,      job->planes, NULL,
                             clear_row,  job->threads, &quiet};
    return nb_render_rows(&rows, err);
}

/** Render a request that has a list of spans. */
static nb_status render_spans(const nb_render *job, const nb_request *request,
                              const nb_spots *spots, const nb_spot_limits *limits,
                              nb_spots_result *result, nb_error *err)
{
    nb_span_rows rows = {NULL, NULL, NULL};
    nb_bright brightest;
    nb_status st = nb_clear_planes(job, request, err);
    if (!st && request->n > 0)
        st = nb_span_rows_build(job->scene, request->spans, request->n, &rows, err);
    if (!st && request->n > 0) {
        st = run_pass(job, spots, limits, &rows, &brightest, err);
        result->brightest = fmax(result->brightest, brightest.photons);
    }
    nb_span_rows_free(&rows);
    return st;
}

nb_status nb_spots_render(const nb_render *job, nb_spots_result *result, nb_error *err)
{
    nb_request request = *job->request;
    nb_spot_limits limits = {0};
    nb_span *built = NULL;
    nb_spots spots;
    nb_status st = nb_spots_build(job->plan, &spots, err);
    memset(result, 0, sizeof *result);
    if (st)
        return st;
    st = set_bound(job, &spots, &limits, result, err);
    if (!st && !result->refused) {
        if (!request.spans && request.n > 0) {
            st = nb_spans_build(job->scene, &built, &request.n, err);
            request.spans = built;
        }
        NB_TRY(render_spans(job, &request, &spots, &limits, result, err));
        nb_free(built);
    }
    nb_spots_free(&spots);
    return st;
}

/* ------------------------------------------------------------------ the path */

/* Ratio of the measured seconds of this path to nb_spots_seconds. `applies` compares
 * nb_spots_seconds with the time of every step, without this factor. */
#define LONGER 0.5

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_vectors_refuse(plan);
    if (!reason)
        reason = nb_spots_refuse(plan);
    if (!reason && !(nb_spots_seconds(plan) < nb_spots_whole(plan, nb_path_every_step)))
        reason = "every step is as quick";
    return reason ? nb_path_refuse(why, reason) : 1;
}

/** Estimated seconds. The result is always less than the time of every step, so that this
 * path is chosen if it applies, also for small regions. */
static double seconds(const nb_plan *plan)
{
    const double by_spots = plan->tolerance.skip
                                ? LONGER * nb_spots_seconds(plan) / plan->engine.threads
                                : INFINITY;
    return fmin(by_spots, 0.9 * nb_path_every_step(plan));
}

static nb_status prepare(nb_render *r, nb_error *err)
{
    return nb_vector_plans_build(r->plan, NB_SUMS_DOUBLE, r->kept, &r->plans, err);
}

/** Run the path, or every step if the path refuses. */
static nb_status run(nb_render *r, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_spots_render(r, &r->notes->left, err));
    return r->notes->left.refused ? nb_steps_run(r, err) : NB_OK;
}

static void describe(const nb_path_notes *notes, char *line, size_t size)
{
    if (!notes->left.refused)
        nb_spots_describe(&notes->left, line, size);
}

const nb_path nb_path_spots = {.name = "spots",
                               .applies = applies,
                               .seconds = seconds,
                               .skips = nb_spots_suit,
                               .prepare = prepare,
                               .run = run,
                               .describe = describe};
