/* SPDX-License-Identifier: MIT */
/* The reference renderer: double precision, one pixel after the other, with the functions
 * of src/physics. */
#include <math.h>
#include <stdio.h>

#include "../base/memory.h"
#include "../physics/pixel.h"
#include "backend.h"
#include "request.h"
#include "vector_paths.h"

struct nb_backend_state {
    nb_render_options options;
    int threads;
};

/* Seconds of a step on one core, measured (reports/cpu). */
#define STEP 1e-7

static double seconds(const nb_plan *plan)
{
    return nb_steps_seconds(plan, STEP);
}

static double estimate(const nb_scene *sc, const nb_render_options *options, char *why,
                       size_t why_size)
{
    const nb_engine engine = {.threads = nb_thread_count(options->threads)};
    const nb_plan plan = nb_plan_of(sc, NB_PRECISION_DOUBLE, &engine);
    snprintf(why, why_size, "every operation in double");
    return seconds(&plan) * (options->images > 1 ? options->images : 1);
}

static nb_status open_scalar(const nb_render_options *options, nb_backend_state **state,
                             nb_error *err)
{
    *state = nb_alloc(1, sizeof **state, "renderer", err);
    if (!*state)
        return NB_ERR_NOMEM;
    (*state)->options = *options;
    (*state)->threads = nb_thread_count(options->threads);
    return NB_OK;
}

static void render_row(void *context, const nb_span *spans, size_t n, float *row)
{
    const nb_scene *sc = context;
    const nb_panel *panel = &sc->panels[spans->panel];
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    for (size_t i = 0; i < n; i++)
        for (int k = 0, f = spans[i].fast; k < spans[i].n; k++, f++)
            row[f - spans->fast] =
                (float)nb_pixel_intensity(sc, panel, sensor, f, spans->slow);
}

/** Number of pixels that together take some hundredths of a second, or 0 if a whole row
 * takes less. */
static int piece_of(const nb_scene *sc)
{
    const nb_engine engine = {.threads = 1};
    const double terms = nb_plan_of(sc, NB_PRECISION_DOUBLE, &engine).terms;
    const double of_a_piece = 2e5;
    double pixels = ceil(of_a_piece / terms);
    return pixels < sc->raster.columns ? (int)pixels : 0;
}

static nb_status run(nb_render *r, nb_error *err)
{
    nb_scene copy = *r->scene;
    const nb_row_job job = {r->scene,   r->request, r->planes, &copy,
                            render_row, r->threads, r->hooks};
    if (r->request->sums)
        return nb_slopes_walk(
            r->request,
            &(nb_slope_rows){.of = r->request->sums->job, .row = nb_slopes_reference},
            r->threads, r->hooks, err);
    return nb_render_pieces(&job, piece_of(r->scene), err);
}

static nb_status render(nb_backend_state *state, const nb_scene *sc,
                        const nb_request *request, const nb_planes *planes, nb_error *err)
{
    nb_render r = {.scene = sc,
                   .request = request,
                   .planes = planes,
                   .threads = state->threads,
                   .hooks = &state->options.hooks};
    nb_status st = nb_request_check(request, sc, planes->pixels, "scalar", err);
    return st ? st : run(&r, err);
}

static void describe(const nb_backend_state *state, char *line, size_t size)
{
    snprintf(line, size, "cpu, scalar double precision, %d thread%s", state->threads,
             state->threads == 1 ? "" : "s");
}

static void close_scalar(nb_backend_state *state)
{
    nb_free(state);
}

const nb_backend nb_backend_scalar = {.name = "scalar",
                                      .estimate = estimate,
                                      .open = open_scalar,
                                      .render = render,
                                      .describe = describe,
                                      .close = close_scalar};

/* ------------------------------------------------------------------ the path of the vector renderer */

static int applies(const nb_plan *plan, const char **why)
{
    (void)plan;
    (void)why;
    return 1;
}

static void describe_path(const nb_path_notes *notes, char *line, size_t size)
{
    snprintf(line, size, "reference renderer: %s", notes->why);
}

const nb_path nb_path_reference = {.name = "reference",
                                   .sums = 1,
                                   .applies = applies,
                                   .seconds = seconds,
                                   .run = run,
                                   .describe = describe_path};
