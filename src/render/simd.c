/* SPDX-License-Identifier: MIT */
#include "simd.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/cpu.h"
#include "dark_rows.h"
#include "request.h"
#include "rows.h"

struct nb_backend_state {
    nb_render_options options;
    nb_isa isa;
    int threads;
    nb_row_kernel *row;    /* NULL: none for isa */
    const char *reference; /* why the last scene went to the reference; NULL */
};

static nb_row_kernel *kernel_for(nb_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case NB_ISA_SSE2:
        return nb_row_sse2;
    case NB_ISA_AVX2:
        return nb_row_avx2;
    case NB_ISA_AVX512:
        return nb_row_avx512;
#elif defined(__aarch64__)
    case NB_ISA_NEON:
        return nb_row_neon;
#endif
    default:
        return NULL;
    }
}

/** Seconds of a step of the fixed-point kernel on one core, about: measured, reports/cpu. */
static double step_seconds(nb_isa isa)
{
    return isa == NB_ISA_AVX512 ? 1.1e-9 : isa == NB_ISA_AVX2 ? 1.7e-9 : 8e-9;
}

static nb_engine engine_of(nb_isa isa, int threads)
{
    nb_engine engine = {.threads = threads, .step = step_seconds(isa)};
    if (!kernel_for(isa))
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
    (*state)->row = kernel_for(isa);
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

static nb_status render(nb_backend_state *state, const nb_scene *sc,
                        const nb_request *request, const nb_planes *planes, nb_error *err)
{
    const nb_engine engine = engine_of(state->isa, state->threads);
    nb_vector_plan *vectors = NULL;
    nb_dark_rows rows = {.kernel = state->row};
    nb_row_job job = {
        sc, request, planes, &rows, nb_dark_row, state->threads, &state->options.hooks};
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
    path = nb_vector_choose(&plan, &why);
    state->reference = path == NB_VECTOR_REFERENCE ? why : NULL;
    if (state->reference)
        return render_reference(&state->options, sc, request, planes, err);
    if (request->n > 0)
        st = nb_vector_plans_build(&plan, path, &vectors, err);
    rows.plans = vectors;
    if (!st && vectors)
        st = nb_dark_rows_build(&plan, &rows, err);
    if (!st)
        st = nb_render_rows(&job, err);
    nb_dark_rows_free(&rows);
    nb_vector_plans_free(vectors);
    return st;
}

static void describe(const nb_backend_state *state, char *line, size_t size)
{
    static const char *const precision[] = {"mixed", "single", "double"};
    snprintf(line, size, "cpu, %s, %s precision, %d thread%s%s%s",
             nb_isa_name(state->isa), precision[state->options.precision], state->threads,
             state->threads == 1 ? "" : "s",
             state->reference ? "; reference renderer: " : "",
             state->reference ? state->reference : "");
}

static void close_simd(nb_backend_state *state)
{
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
                                    .describe = describe,
                                    .close = close_simd};
