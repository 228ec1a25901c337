/* SPDX-License-Identifier: MIT */
/* Versions of the vector renderer on the heavy and the simple case: nanoseconds per step,
 * and errors against the scalar renderer. The heavy case renders every 32nd row, and its
 * time includes that of making tables (about 20 ms). Times are processor times of one
 * thread; repeats of all versions alternate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/compare.h"
#include "base/threads.h"
#include "lab.h"
#include "render/request.h"
#include "render/simd.h"
#include "../support/render.h"

enum { REPEATS = 101, ROW_STRIDE = 32, BOX = 90 };

typedef struct version {
    nb_isa isa;
    nb_precision precision;
    const char *intent;
} version;

static const version versions[] = {
    {NB_ISA_SCALAR, NB_PRECISION_DOUBLE, "the readable truth: libm, one pixel at a time"},
    {NB_ISA_SSE2, NB_PRECISION_DOUBLE, "all in double, 2 pixels at once"},
    {NB_ISA_SSE2, NB_PRECISION_MIXED, "fixed point, degree 4, without FMA or gather"},
    {NB_ISA_AVX2, NB_PRECISION_DOUBLE, "all in double, 4 at once, polynomials for libm"},
    {NB_ISA_AVX2, NB_PRECISION_MIXED, "fixed point through the low word, degree 4"},
    {NB_ISA_AVX512, NB_PRECISION_DOUBLE, "all in double, 8 at once"},
    {NB_ISA_AVX512, NB_PRECISION_MIXED, "fixed point, degree 4, 16 at once"},
    {NB_ISA_NEON, NB_PRECISION_DOUBLE, "all in double, 2 at once"},
    {NB_ISA_NEON, NB_PRECISION_MIXED, "fixed point, degree 4, 4 at once"}};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

static const char *const precisions[] = {
    [NB_PRECISION_MIXED] = "mixed", [NB_PRECISION_DOUBLE] = "double"};

typedef struct scene {
    nb_model model;
    /* masks: `timed` is 1 in rows to time, `sampled` is 1 in pixels to compare */
    uint8_t *timed, *sampled;
    size_t samples; /* number of pixels in `sampled` */
    double steps;   /* number of pixels in `timed` x steps per pixel */
    int all;        /* all rows are timed, so that no mask is needed */
} scene;

/** Sets the rows to time and the pixels to compare with the reference. */
static void set_masks(scene *c, int stride)
{
    const nb_raster *raster = &c->model.scene.raster;
    const size_t n = raster->pixels;
    c->timed = lab_memory(n);
    c->sampled = lab_memory(n);
    c->steps = 0;
    c->samples = 0;
    c->all = stride == 1;
    for (size_t i = 0; i < n; i++) {
        c->timed[i] = i / (size_t)raster->columns % (size_t)stride == (size_t)stride / 2;
        c->sampled[i] = c->timed[i] && i % 47 == 0;
        c->steps += c->timed[i];
        c->samples += c->sampled[i];
    }
    c->steps *= (double)c->model.scene.samples;
}

/** Build the scene of cfg with a table of F, or with a constant F if table is NULL. */
static void build(scene *c, const nb_config *cfg, const nb_factor_table *table, int stride)
{
    nb_model_inputs inputs;
    nb_error err;
    memset(&inputs, 0, sizeof inputs);
    if (table)
        inputs.table = *table;
    inputs.table.default_F = cfg->default_F;
    lab_need(nb_model_build(cfg, &inputs, NULL, &c->model, &err), &err);
    c->model.scene.factors.table.interpolate = 0;
    set_masks(c, stride);
}

static void finish(scene *c)
{
    free(c->timed);
    free(c->sampled);
    nb_model_free(&c->model);
}

/** Renders once; returns seconds. */
static double render(const version *v, const scene *c, const uint8_t *mask, float *image,
                     int threads)
{
    const nb_render_options options = {
        .threads = threads, .isa = v->isa, .precision = v->precision, .device_index = -1};
    const nb_backend *backend =
        v->isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
    double (*const now)(void) = threads > 1 ? nb_monotonic_seconds : lab_processor;
    nb_scene sc = c->model.scene;
    nb_backend_state *state;
    nb_error err;
    double start;
    sc.raster.mask = mask;
    lab_need(backend->open(&options, &state, &err), &err);
    start = now();
    lab_need(nb_render_scene(backend, state, &sc, options.precision, image, &err), &err);
    start = now() - start;
    backend->close(state);
    return start;
}

/** Errors of a version in the pixels of `sampled`, against the scalar renderer. */
static nb_comparison errors_of(const version *v, const scene *c, double N)
{
    const size_t n = c->model.scene.raster.pixels;
    float *a = lab_memory(n * sizeof *a), *b = lab_memory(n * sizeof *b);
    nb_comparison k;
    size_t m = 0;
    render(v, c, c->sampled, a, 1);
    render(&versions[0], c, c->sampled, b, 1);
    for (size_t i = 0; i < n; i++)
        if (c->sampled[i]) {
            a[m] = a[i];
            b[m++] = b[i];
        }
    k = nb_compare(a, b, m, N >= 300 ? 1e-4 : 1e-6);
    free(a);
    free(b);
    return k;
}

static int is_wanted(const version *v, const lab *l)
{
    return v->isa != NB_ISA_SCALAR && nb_cpu_runs(v->isa) &&
           (!l->isa || strcmp(l->isa, nb_isa_name(v->isa)) == 0);
}

static void run(const lab *l, const scene *c, const char *name, double N, int repeats)
{
    static double t[VERSIONS][REPEATS];
    float *image = lab_memory(c->model.scene.raster.pixels * sizeof *image);
    const double scalar = render(&versions[0], c, c->sampled, image, 1) * 1e9 /
                          (double)c->samples / (double)c->model.scene.samples;
    printf("| %s | scalar double | %.1f | %.1f | 0 | 0 | %s |\n", name, scalar, scalar,
           versions[0].intent);
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < VERSIONS; i++)
            if (is_wanted(&versions[i], l))
                t[i][r] = render(&versions[i], c, c->all ? NULL : c->timed, image, 1);
    for (int i = 0; i < VERSIONS; i++) {
        const version *v = &versions[i];
        if (!is_wanted(v, l))
            continue;
        const double median = lab_median(t[i], repeats);
        const nb_comparison k = errors_of(v, c, N);
        printf("| %s | %s %s | %.3f | %.3f | %.1e | %.1e | %s |\n", name,
               nb_isa_name(v->isa), precisions[v->precision], median * 1e9 / c->steps,
               t[i][0] * 1e9 / c->steps, k.maxrel, k.rel6, v->intent);
        fflush(stdout);
    }
    free(image);
}

static nb_config heavy_of(int N)
{
    nb_config cfg = lab_config(NB_HEAVY);
    cfg.N[0] = cfg.N[1] = cfg.N[2] = N;
    return cfg;
}

/** Print the least wall times of one thread and of two; the repeats alternate. */
static void run_threads(const scene *c, int repeats)
{
    static const version widest = {NB_ISA_AUTO, NB_PRECISION_MIXED, ""};
    float *image = lab_memory(c->model.scene.raster.pixels * sizeof *image);
    double best[2] = {INFINITY, INFINITY};
    for (int r = 0; r < repeats; r++)
        for (int threads = 1; threads <= 2; threads++) {
            double start = nb_monotonic_seconds();
            render(&widest, c, c->timed, image, threads);
            best[threads - 1] = fmin(best[threads - 1], nb_monotonic_seconds() - start);
        }
    printf("\nWall time, heavy N 20, F const: 1 thread %.1f ms, 2 threads %.1f ms, ratio "
           "%.2f\n",
           best[0] * 1e3, best[1] * 1e3, best[0] / best[1]);
    free(image);
}

int lab_kernels(const lab *l)
{
    static const int sizes[] = {5, 20, 1000};
    const int repeats = lab_repeats(l, 7) < REPEATS ? lab_repeats(l, 7) : REPEATS;
    nb_factor_table random = {0};
    double *F = lab_random_F(&random, BOX, 1);
    nb_config simple = lab_config(NB_SIMPLE);
    scene c;
    printf("| case | version | ns/step median | fastest | maxrel | rel6 | intent |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int table = 0; table < 2; table++)
        for (int i = 0; i < 3; i++) {
            nb_config cfg = heavy_of(sizes[i]);
            char name[64];
            snprintf(name, sizeof name, "heavy N %d, F %s", sizes[i],
                     table ? "table" : "const");
            build(&c, &cfg, table ? &random : NULL, ROW_STRIDE);
            run(l, &c, name, sizes[i], repeats);
            if (!table && sizes[i] == 20)
                run_threads(&c, repeats);
            finish(&c);
        }
    build(&c, &simple, NULL, 1);
    run(l, &c, "simple 1024", 5, REPEATS); /* each run takes 2 ms */
    finish(&c);
    free(F);
    return 0;
}

int lab_errors(const lab *l)
{
    static const int sizes[] = {1, 2, 5, 10, 20, 50, 100, 101, 300, 1000, 3000, 10000};
    static const version mixed = {NB_ISA_AUTO, NB_PRECISION_MIXED, ""};
    nb_factor_table random = {0};
    double *F = lab_random_F(&random, BOX, 1);
    (void)l;
    printf("| N | mixed maxrel | rel6 | sum | 1-corr |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        nb_config cfg = heavy_of(sizes[i]);
        scene c;
        build(&c, &cfg, &random, ROW_STRIDE);
        printf("| %d |", sizes[i]);
        const nb_comparison m = errors_of(&mixed, &c, sizes[i]);
        printf(" %.1e | %.1e | %.1e | %.1e |\n", m.maxrel, m.rel6, m.sum, m.corr);
        fflush(stdout);
        finish(&c);
    }
    free(F);
    return 0;
}

/** The heavy crystal with `domains` orientations, one wavelength, and a thick sensor. */
static nb_config sensor_of(int domains, nb_layer_depth depth)
{
    nb_config cfg = lab_config(
        NB_TRICLINIC " -detector_thick 500 -detector_abs 300 -detector_thicksteps 4");
    cfg.mosaic_domains = domains;
    cfg.mosaic_spread_deg = domains > 1 ? 0.5 : NAN;
    cfg.layer_depth = depth;
    return cfg;
}

/** Compare the times with layers at their front and at their mean depth: medians of one
 * thread; the repeats alternate. */
static void run_sensor(const lab *l, int domains, int repeats)
{
    static double t[2][REPEATS];
    static const nb_layer_depth depths[2] = {NB_LAYER_FRONT, NB_LAYER_MEAN};
    scene c[2];
    float *image = lab_memory((size_t)2048 * 2048 * sizeof *image);
    for (int k = 0; k < 2; k++) {
        nb_config cfg = sensor_of(domains, depths[k]);
        build(&c[k], &cfg, NULL, ROW_STRIDE);
    }
    for (int i = 0; i < VERSIONS; i++) {
        const double steps = 1e-9 * c[0].steps * c[0].model.scene.sensors->layers;
        double median[2];
        if (!is_wanted(&versions[i], l))
            continue;
        for (int r = 0; r < repeats; r++)
            for (int k = 0; k < 2; k++)
                t[k][r] = render(&versions[i], &c[k], c[k].timed, image, 1);
        for (int k = 0; k < 2; k++)
            median[k] = lab_median(t[k], repeats);
        printf("| %d | %s %s | %.3f | %.3f | %+.1f %% | %+.1f %% |\n", domains,
               nb_isa_name(versions[i].isa), precisions[versions[i].precision],
               median[0] / steps, median[1] / steps, 100 * (median[1] / median[0] - 1),
               100 * (t[1][0] / t[0][0] - 1));
        fflush(stdout);
    }
    finish(&c[0]);
    finish(&c[1]);
    free(image);
}

int lab_sensor(const lab *l)
{
    static const int domains[] = {1, 4, 20, 100};
    const int repeats = lab_repeats(l, 7) < REPEATS ? lab_repeats(l, 7) : REPEATS;
    printf("| orientations | version | front, ns/step | mean depth | difference | of the "
           "fastest |\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        run_sensor(l, domains[i], repeats);
    return 0;
}
