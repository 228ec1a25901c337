/* SPDX-License-Identifier: MIT */
#include "simd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/cpu.h"
#include "dark_rows.h"
#include "request.h"
#include "rows.h"
#include "tiles.h"

struct nb_backend_state {
    nb_render_options options;
    nb_isa isa;
    int threads;
    nb_row_kernel *row;               /* NULL: none for isa */
    nb_spot_kernel *spot;             /* NULL: none for isa */
    nb_tile_kernel *tile;             /* NULL: none for isa */
    nb_background_kernel *background; /* NULL: none for isa */
    const char *reference;            /* why the last scene went to the reference; NULL */
    int asked;                        /* a tolerance, for the last scene */
    int by_spots,
        by_tiles; /* the last scene was rendered from its reflections, in blocks */
    nb_spots_result left; /* what was left out of it, or why nothing was */
    nb_kept_squares kept; /* of the last scene with several tables of F */
};

const nb_kernel_set nb_kernel_sets[] = {
#if defined(__x86_64__)
    {NB_ISA_SSE2, nb_row_sse2, nb_spots_sse2, nb_tiles_sse2, nb_background_sse2,
     nb_draw_sse2},
    {NB_ISA_AVX2, nb_row_avx2, nb_spots_avx2, nb_tiles_avx2, nb_background_avx2,
     nb_draw_avx2},
    {NB_ISA_AVX512, nb_row_avx512, nb_spots_avx512, nb_tiles_avx512, nb_background_avx512,
     nb_draw_avx512},
#elif defined(__aarch64__)
    {NB_ISA_NEON, nb_row_neon, nb_spots_neon, nb_tiles_neon, nb_background_neon,
     nb_draw_neon},
#endif
    {NB_ISA_SCALAR, NULL, NULL, NULL, NULL, NULL}};

static nb_kernel_set kernels_for(nb_isa isa)
{
    const nb_kernel_set *set = nb_kernel_sets;
    while (set->isa != isa && set->row)
        set++;
    return *set;
}

/** Seconds of a step of the fixed-point kernel on one core, about: measured, reports/cpu. */
static double step_seconds(nb_isa isa)
{
    return isa == NB_ISA_AVX512 ? 1.1e-9 : isa == NB_ISA_AVX2 ? 1.7e-9 : 8e-9;
}

static nb_engine engine_of(nb_isa isa, int threads)
{
    nb_engine engine = {.threads = threads, .step = step_seconds(isa)};
    if (!kernels_for(isa).row)
        engine.lacks = isa == NB_ISA_SCALAR
                           ? "no vector instructions were asked for, or are here"
                           : "this build has no kernel for the instruction set";
    return engine;
}

static double estimate(const nb_scene *sc, const nb_render_options *options, char *why,
                       size_t why_size)
{
    nb_vector_path path;
    const char *reason;
    nb_engine engine;
    nb_error err;
    nb_plan plan;
    nb_isa isa;
    if (nb_cpu_choose(options->isa, &isa, &err) != NB_OK) {
        snprintf(why, why_size, "%s", err.message);
        return -1;
    }
    engine = engine_of(isa, nb_thread_count(options->threads));
    plan = nb_plan_of(sc, options->precision, &engine);
    plan.tolerance = options->tolerance;
    path = nb_vector_choose(&plan, &reason);
    if (path == NB_VECTOR_REFERENCE)
        snprintf(why, why_size, "reference renderer: %s", reason);
    else
        snprintf(why, why_size, "vectors of %s", nb_isa_name(isa));
    return nb_vector_paths[path].seconds(&plan) *
           (options->images > 1 ? options->images : 1);
}

static nb_status open_simd(const nb_render_options *options, nb_backend_state **state,
                           nb_error *err)
{
    nb_isa isa;
    nb_status st = nb_cpu_choose(options->isa, &isa, err);
    *state = NULL;
    if (st != NB_OK)
        return st;
    *state = nb_alloc(1, sizeof **state, "renderer", err);
    if (!*state)
        return NB_ERR_NOMEM;
    (*state)->options = *options;
    (*state)->isa = isa;
    (*state)->threads = nb_thread_count(options->threads);
    (*state)->row = kernels_for(isa).row;
    (*state)->spot = kernels_for(isa).spot;
    (*state)->tile = kernels_for(isa).tile;
    (*state)->background = kernels_for(isa).background;
    nb_threads_start((*state)->threads);
    return NB_OK;
}

/** By the scalar backend, with the same options. */
static nb_status render_reference(const nb_render_options *options, const nb_scene *sc,
                                  const nb_request *request, const nb_planes *planes,
                                  nb_error *err)
{
    nb_backend_state *scalar;
    nb_status st = nb_backend_scalar.open(options, &scalar, err);
    if (st != NB_OK)
        return st;
    st = nb_backend_scalar.render(scalar, sc, request, planes, err);
    nb_backend_scalar.close(scalar);
    return st;
}

/** What a render works with. */
typedef struct vector_render {
    nb_backend_state *state;
    const nb_scene *scene;
    const nb_request *request;
    const nb_planes *planes;
    const nb_plan *plan; /* of the request's part of the scene */
    nb_vector_plan *vectors;
} vector_render;

/** Every step of the pixels that are not dark. */
static nb_status render_steps(const vector_render *r, nb_error *err)
{
    nb_dark_rows rows = {.kernel = r->state->row,
                         .background = r->state->background,
                         .threads = r->state->threads,
                         .plans = r->vectors};
    const nb_row_job job = {r->scene,
                            r->request,
                            r->planes,
                            &rows,
                            nb_dark_row,
                            r->state->threads,
                            &r->state->options.hooks};
    nb_status st = r->vectors ? nb_dark_rows_build(r->plan, &rows, err) : NB_OK;
    if (!st)
        st = nb_render_rows(&job, err);
    nb_dark_rows_free(&rows);
    return st;
}

/** Add the materials to what is there. */
static nb_status add_materials(const vector_render *r, nb_error *err)
{
    const nb_hooks quiet = {0};
    nb_background_rows rows = {.kernel = r->state->row, .smooth = r->state->background};
    const nb_row_job job = {r->scene,          r->request,        r->planes, &rows,
                            nb_background_row, r->state->threads, &quiet};
    nb_status st = nb_background_rows_build(r->plan->scene, r->vectors, r->state->threads,
                                            &rows, err);
    if (!st && rows.plans)
        st = nb_render_rows(&job, err);
    nb_background_rows_free(&rows);
    return st;
}

/** By a path that leaves steps out, if it does not refuse. */
static nb_status render_part(const vector_render *r, nb_vector_path path, nb_error *err)
{
    nb_backend_state *state = r->state;
    const nb_tiles_job job = {.as = {r->scene, r->plan, r->request, r->planes, r->vectors,
                                     state->row, state->spot, state->threads,
                                     &state->options.hooks},
                              .kernel = state->tile};
    nb_status st = path == NB_VECTOR_SPOTS ? nb_spots_render(&job.as, &state->left, err)
                                           : nb_tiles_render(&job, &state->left, err);
    state->by_spots = !st && !state->left.refused && path == NB_VECTOR_SPOTS;
    state->by_tiles = !st && !state->left.refused && path == NB_VECTOR_TILES;
    return state->by_spots || state->by_tiles ? add_materials(r, err) : st;
}

static nb_status render_by(vector_render *r, nb_vector_path path, nb_error *err)
{
    nb_status st = NB_OK;
    if (r->request->n > 0)
        st = nb_vector_plans_build(r->plan, path, &r->state->kept, &r->vectors, err);
    if (!st && (path == NB_VECTOR_SPOTS || path == NB_VECTOR_TILES) && r->request->n > 0)
        st = render_part(r, path, err);
    if (!st && !r->state->by_spots && !r->state->by_tiles)
        st = render_steps(r, err);
    nb_vector_plans_free(r->vectors);
    return st;
}

static nb_status render(nb_backend_state *state, const nb_scene *sc,
                        const nb_request *request, const nb_planes *planes, nb_error *err)
{
    const nb_engine engine = engine_of(state->isa, state->threads);
    vector_render r = {state, sc, request, planes, NULL, NULL};
    nb_vector_path path;
    const char *why;
    nb_scene part;
    nb_plan plan;
    nb_status st = nb_request_check(request, sc, planes->pixels, "vector", err);
    if (st)
        return st;
    state->options.precision = request->precision;
    part = nb_request_scene(request, sc, NULL);
    plan = nb_plan_of(&part, request->precision, &engine);
    plan.tolerance = request->tolerance;
    state->asked = request->tolerance.asked;
    state->left = (nb_spots_result){0};
    state->left.refused = nb_vector_refuses_tolerance(&plan);
    path = nb_vector_choose(&plan, &why);
    state->reference = path == NB_VECTOR_REFERENCE ? why : NULL;
    state->by_spots = state->by_tiles = 0;
    if (state->reference)
        return render_reference(&state->options, sc, request, planes, err);
    r.plan = &plan;
    return render_by(&r, path, err);
}

static nb_lack lack(const nb_backend_state *state)
{
    const nb_spots_result *left = &state->left;
    if (!(state->by_spots || state->by_tiles) || !(left->bound > 0))
        return (nb_lack){0, 0};
    return (nb_lack){left->bound, nb_spots_part(left)};
}

/** How the tolerance was used, if there is something to say. */
static void describe_tolerance(const nb_backend_state *state, char *line, size_t size)
{
    char spots[200];
    *line = 0;
    nb_spots_describe(&state->left, spots, sizeof spots);
    if (state->by_spots)
        snprintf(line, size, "; %s", spots);
    else if (state->by_tiles)
        snprintf(line, size,
                 "; in blocks of rays; no pixel is darker by more than %.2g of the "
                 "brightest",
                 nb_spots_part(&state->left));
    else if (state->asked && state->left.refused)
        snprintf(line, size, "; -tolerance has no effect: %s", state->left.refused);
}

static void describe(const nb_backend_state *state, char *line, size_t size)
{
    static const char *const precision[] = {"mixed", "single", "double"};
    char tolerance[240];
    describe_tolerance(state, tolerance, sizeof tolerance);
    snprintf(line, size, "cpu, %s, %s precision, %d thread%s%s%s%s",
             nb_isa_name(state->isa), precision[state->options.precision], state->threads,
             state->threads == 1 ? "" : "s",
             state->reference ? "; reference renderer: " : "",
             state->reference ? state->reference : "", tolerance);
}

static void close_simd(nb_backend_state *state)
{
    if (state)
        nb_kept_squares_free(&state->kept);
    nb_free(state);
}

static const char *const words[] = {"cpu", NULL};

static int parse(const char *word, nb_device *device)
{
    *device = (nb_device){-1, 0};
    return strcmp(word, words[0]) == 0;
}

const nb_backend nb_backend_simd = {.name = "simd",
                                    .words = words,
                                    .parse = parse,
                                    .estimate = estimate,
                                    .open = open_simd,
                                    .render = render,
                                    .lack = lack,
                                    .describe = describe,
                                    .close = close_simd};
