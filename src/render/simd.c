/* SPDX-License-Identifier: MIT */
#include "simd.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "request.h"
#include "vector_paths.h"
#include "vector_sums.h"

struct nb_backend_state {
    nb_render_options options;
    nb_isa isa;
    int threads;
    const nb_path *path;  /* path of the last scene; NULL: the scene had no pixels */
    nb_path_notes notes;  /* notes on the last image */
    int asked;            /* 1: the user set a tolerance for the last scene */
    nb_kept_squares kept; /* kept from the last scene with several tables of F */
};

const nb_kernel_set nb_kernel_sets[] = {
#if defined(__x86_64__)
    {NB_ISA_SSE2, nb_row_sse2, nb_spots_sse2, nb_tiles_sse2, nb_draw_sse2, nb_slopes_sse2,
     nb_slope_floats_sse2, nb_slope_dot_sse2},
    {NB_ISA_AVX2, nb_row_avx2, nb_spots_avx2, nb_tiles_avx2, nb_draw_avx2, nb_slopes_avx2,
     nb_slope_floats_avx2, nb_slope_dot_avx2},
    {NB_ISA_AVX512, nb_row_avx512, nb_spots_avx512, nb_tiles_avx512, nb_draw_avx512,
     nb_slopes_avx512, nb_slope_floats_avx512, nb_slope_dot_avx512},
#elif defined(__aarch64__)
    {NB_ISA_NEON, nb_row_neon, nb_spots_neon, nb_tiles_neon, nb_draw_neon, nb_slopes_neon,
     nb_slope_floats_neon, nb_slope_dot_neon},
#endif
    {.isa = NB_ISA_SCALAR}};

static nb_kernel_set kernels_for(nb_isa isa)
{
    const nb_kernel_set *set = nb_kernel_sets;
    while (set->isa != isa && set->row)
        set++;
    return *set;
}

/** Approximate seconds of a step of the fixed-point kernel on one core; measured,
 * reports/cpu. */
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
    const nb_path *path;
    nb_path_notes notes = {.left.refused = "there is no image yet"};
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
    plan.paths = nb_vector_paths;
    path = nb_path_choose(&plan, &notes.why);
    snprintf(why, why_size, "vectors of %s", nb_isa_name(isa));
    if (path->describe)
        path->describe(&notes, why, why_size);
    return path->seconds(&plan) * (options->images > 1 ? options->images : 1);
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
    nb_threads_start((*state)->threads);
    return NB_OK;
}

/** Calculate the slopes of a request. The bytes of a pixel's slopes do not depend on
 * other pixels of the request. state->notes still describe the last image. */
static nb_status render_sums(nb_render *r, const nb_engine *engine, nb_error *err)
{
    nb_plan plan = nb_plan_of(r->scene, r->request->precision, engine);
    const char *why;
    nb_status st = NB_OK;
    plan.paths = nb_vector_paths;
    plan.sums = r->request->sums->job;
    r->plan = &plan;
    if (r->request->n > 0)
        st = nb_path_choose(&plan, &why)->run(r, err);
    r->plan = NULL;
    return st;
}

static nb_status render(nb_backend_state *state, const nb_scene *sc,
                        const nb_request *request, const nb_planes *planes, nb_error *err)
{
    const nb_engine engine = engine_of(state->isa, state->threads);
    nb_scene part;
    nb_plan plan;
    nb_render r = {.scene = sc,
                   .plan = &plan,
                   .request = request,
                   .planes = planes,
                   .kernels = kernels_for(state->isa),
                   .threads = state->threads,
                   .hooks = &state->options.hooks,
                   .kept = &state->kept,
                   .notes = &state->notes};
    const nb_path *path;
    nb_status st;
    NB_FORWARD(nb_request_check(request, sc, planes->pixels, "vector", err));
    if (request->sums)
        return render_sums(&r, &engine, err);
    state->options.precision = request->precision;
    part = nb_request_scene(request, sc, NULL);
    plan = nb_plan_of(&part, request->precision, &engine);
    plan.tolerance = request->tolerance;
    plan.paths = nb_vector_paths;
    state->asked = request->tolerance.asked;
    state->notes = (nb_path_notes){.left.refused = nb_path_refuses_tolerance(&plan)};
    path = nb_path_choose(&plan, &state->notes.why);
    state->path = request->n > 0 ? path : NULL;
    if (!state->path)
        return nb_steps_run(&r, err);
    st = path->prepare ? path->prepare(&r, err) : NB_OK;
    NB_TRY(path->run(&r, err));
    if (st)
        state->notes.left = (nb_spots_result){0};
    nb_vector_plans_free(r.plans);
    return st;
}

static nb_lack lack(const nb_backend_state *state)
{
    const nb_spots_result *left = &state->notes.left;
    if (left->refused || !(left->bound > 0))
        return (nb_lack){0, 0};
    return (nb_lack){left->bound, nb_spots_part(left)};
}

static void describe(const nb_backend_state *state, char *line, size_t size)
{
    const nb_path_notes *notes = &state->notes;
    const int ineffective = state->asked && notes->left.refused;
    char how[240] = "";
    if (state->path && state->path->describe)
        state->path->describe(notes, how, sizeof how);
    snprintf(line, size, "cpu, %s, %s precision, %d thread%s%s%s%s%s",
             nb_isa_name(state->isa),
             state->options.precision == NB_PRECISION_DOUBLE ? "double" : "mixed",
             state->threads, state->threads == 1 ? "" : "s", *how ? "; " : "", how,
             ineffective ? "; -tolerance has no effect: " : "",
             ineffective ? notes->left.refused : "");
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
