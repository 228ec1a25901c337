/* SPDX-License-Identifier: MIT */
#include "simd.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/pixel.h"
#include "../base/cpu.h"
#include "kernel.h"
#include "rows.h"

struct nb_backend_state {
    nb_render_options options;
    nb_isa isa;
    int threads;
    nb_row_kernel *row;       /* NULL: none for isa */
    const char *reference;    /* why the last scene went to the reference; NULL */
    nb_arithmetic arithmetic; /* of the last scene */
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

/** Why the scalar reference renders instead of a kernel, or NULL. */
static const char *reference_reason(nb_isa isa, const nb_scene *sc)
{
    if (!kernel_for(isa))
        return isa == NB_ISA_SCALAR ? "no vector instructions were asked for, or are here"
                                    : "this build has no kernel for the instruction set";
    return nb_simd_reference_reason(sc);
}

/** Seconds per step and core, about: measured, reports/cpu. */
static double step_seconds(const nb_scene *sc, nb_isa isa, nb_precision precision)
{
    double fixed = isa == NB_ISA_AVX512 ? 1.1e-9 : isa == NB_ISA_AVX2 ? 1.7e-9 : 8e-9;
    int in_double =
        precision == NB_PRECISION_DOUBLE || sc->lattice.shape != NB_LATTICE_SQUARE;
    return reference_reason(isa, sc)       ? 1e-7
           : sc->factors.table.interpolate ? 20 * fixed
           : in_double                     ? 3 * fixed
                                           : fixed;
}

static double estimate(const nb_scene *sc, const nb_render_options *options, char *why,
                       size_t why_size)
{
    double roi = (double)(sc->raster.roi.fmax - sc->raster.roi.fmin + 1) *
                 (sc->raster.roi.smax - sc->raster.roi.smin + 1);
    double steps = roi * (double)sc->samples * sc->sensors->layers;
    const char *reference;
    nb_error err;
    nb_isa isa;
    if (nb_cpu_choose(options->isa, &isa, &err) != NB_OK) {
        snprintf(why, why_size, "%s", err.message);
        return -1;
    }
    reference = reference_reason(isa, sc);
    if (reference)
        snprintf(why, why_size, "reference renderer: %s", reference);
    else
        snprintf(why, why_size, "vectors of %s", nb_isa_name(isa));
    return (steps * step_seconds(sc, isa, options->precision) + roi * 1e-9) /
           nb_thread_count(options->threads) * (options->images > 1 ? options->images : 1);
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

typedef struct row_task {
    const nb_plan *plan;
    nb_row_kernel *row; /* NULL: none for isa */
} row_task;

static void render_row(void *context, int s, float *row)
{
    const row_task *task = context;
    task->row(task->plan, s, row);
}

/** By the scalar backend, with the same options. */
static nb_status render_reference(const nb_render_options *options, const nb_scene *sc,
                                  float *image, nb_error *err)
{
    nb_backend_state *scalar;
    nb_status st = nb_backend_scalar.open(options, &scalar, err);
    if (st != NB_OK)
        return st;
    st = nb_backend_scalar.render(scalar, sc, image, err);
    nb_backend_scalar.close(scalar);
    return st;
}

static nb_status render(nb_backend_state *state, const nb_scene *sc, float *image,
                        nb_error *err)
{
    nb_plan plan;
    row_task task = {&plan, state->row};
    nb_row_job job = {&task, render_row, image, state->threads, &state->options.hooks};
    nb_status st;
    state->reference = reference_reason(state->isa, sc);
    if (state->reference)
        return render_reference(&state->options, sc, image, err);
    st = nb_plan_build(sc, state->options.precision, &plan, err);
    if (st != NB_OK)
        return st;
    state->arithmetic = plan.arithmetic;
    st = nb_render_rows(&job, &sc->raster, err);
    nb_plan_free(&plan);
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
