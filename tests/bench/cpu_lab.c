/* SPDX-License-Identifier: MIT */
/* The CPU kernel laboratory: the scalar reference and each version of the vector
 * renderer on the heavy and the simple case (plans: performance), checked first, then
 * timed.
 *
 *   cpu_lab [--repeats N] [--isa NAME]
 *   cpu_lab --errors 1      errors by the number of cells instead
 *   cpu_lab --sensor 1      layers at their mean depth beside layers at their front instead
 *
 * Heavy: -cell 70 80 90 75 85 95 -misset 10 20 30 -lambda 1 -distance 100 -pixel 0.1
 *   -detpixels 2048 -oversample 1 -N 20 -mosaic 0.5 -mosaic_domains 100 -dispersion 1
 *   -dispsteps 10 -default_F 100, 1000 steps a pixel; every 32nd row of it is rendered,
 *   the table's making (some 20 ms) included.
 * Simple: -cell 100 -N 5 -lambda 6.2 -default_F 100 -detpixels 1024 -oversample 1, one
 * step. Times are CPU time of one thread, repeats of all versions interleaved; a
 * markdown table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../golden/compare.h"
#include "model/scene_build.h"
#include "base/cpu.h"
#include "render/simd.h"
#include "render/request.h"
#include "median.h"

enum { MAX_REPEATS = 101, ROW_STRIDE = 32, TABLE = 180 };

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
    {NB_ISA_AVX2, NB_PRECISION_SINGLE, "degree 3 in the denominators"},
    {NB_ISA_AVX512, NB_PRECISION_DOUBLE, "all in double, 8 at once"},
    {NB_ISA_AVX512, NB_PRECISION_MIXED, "fixed point, degree 4, 16 at once"},
    {NB_ISA_AVX512, NB_PRECISION_SINGLE, "degree 3 in the denominators"}};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

typedef struct lab_case {
    const char *name;
    nb_model model;
    nb_model_inputs inputs;
    uint8_t *timed, *sampled; /* masks: rows that are timed, pixels that are compared */
    double timed_steps;       /* pixels x steps under `timed` */
    int all;                  /* every row: no mask when timed */
} lab_case;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what)
{
    fprintf(stderr, "cpu_lab: %s\n", what);
    exit(1);
}

static void heavy_config(nb_config *cfg, int N)
{
    static const double cell[6] = {70, 80, 90, 75, 85, 95};
    int i;
    nb_config_defaults(cfg);
    cfg->cell_count = 6;
    memcpy(cfg->cell, cell, sizeof cell);
    cfg->misset_mode = NB_MISSET_FIXED;
    for (i = 0; i < 3; i++) {
        cfg->misset_deg[i] = 10 * (i + 1);
        cfg->N[i] = N;
    }
    cfg->lambda_A = 1;
    cfg->distance_mm = 100;
    cfg->pixel_mm = 0.1;
    cfg->detpixels[0] = cfg->detpixels[1] = 2048;
    cfg->oversample = 1;
    cfg->mosaic_spread_deg = 0.5;
    cfg->mosaic_domains = 100;
    cfg->dispersion_pct = 1;
    cfg->dispersion_steps = 10;
    cfg->default_F = 100;
}

static void simple_config(nb_config *cfg)
{
    int i;
    nb_config_defaults(cfg);
    cfg->cell_count = 6;
    for (i = 0; i < 3; i++) {
        cfg->cell[i] = 100;
        cfg->cell[3 + i] = 90;
        cfg->N[i] = 5;
    }
    cfg->lambda_A = 6.2;
    cfg->distance_mm = 100;
    cfg->pixel_mm = 0.1;
    cfg->detpixels[0] = cfg->detpixels[1] = 1024;
    cfg->oversample = 1;
    cfg->default_F = 100;
}

/** Random amplitudes over all reflections that the heavy case can see. */
static const double *random_table(void)
{
    size_t n = (size_t)TABLE * TABLE * TABLE, i;
    double *F = malloc(n * sizeof *F);
    uint32_t x = 1;
    if (!F)
        stop("out of memory");
    for (i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        F[i] = 200.0 * (x >> 8) / 16777216.0;
    }
    return F;
}

/** Rows to time, pixels to compare with the reference. */
static void set_masks(lab_case *c, int stride)
{
    const nb_raster *raster = &c->model.scene.raster;
    size_t n = raster->pixels, i;
    c->timed = calloc(n, 1);
    c->sampled = calloc(n, 1);
    if (!c->timed || !c->sampled)
        stop("out of memory");
    c->timed_steps = 0;
    c->all = stride == 1;
    for (i = 0; i < n; i++) {
        c->timed[i] = i / (size_t)raster->columns % (size_t)stride == (size_t)stride / 2;
        c->sampled[i] = c->timed[i] && i % 47 == 0;
        c->timed_steps += c->timed[i];
    }
    c->timed_steps *= (double)c->model.scene.samples;
}

static void build(lab_case *c, const char *name, const nb_config *cfg, const double *F,
                  int stride)
{
    nb_error err;
    memset(c, 0, sizeof *c);
    c->name = name;
    c->inputs.table.default_F = cfg->default_F;
    if (F) {
        c->inputs.table.F = F;
        c->inputs.table.hmin = c->inputs.table.kmin = c->inputs.table.lmin = -TABLE / 2;
        c->inputs.table.nh = c->inputs.table.nk = c->inputs.table.nl = TABLE;
    }
    if (nb_model_build(cfg, &c->inputs, NULL, &c->model, &err) != NB_OK)
        stop(err.message);
    c->model.scene.factors.table.interpolate = 0;
    set_masks(c, stride);
}

/** One render; seconds of this thread's CPU time, or of wall time with several threads. */
static double render_with(const version *v, const lab_case *c, const uint8_t *mask,
                          float *image, int threads, clockid_t clock)
{
    const nb_render_options options = {
        .threads = threads, .isa = v->isa, .precision = v->precision, .device_index = -1};
    const nb_backend *backend =
        v->isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
    nb_scene scene = c->model.scene;
    nb_backend_state *state;
    nb_error err;
    double start;
    scene.raster.mask = mask;
    if (backend->open(&options, &state, &err) != NB_OK)
        stop(err.message);
    start = now(clock);
    if (nb_render_scene(backend, state, &scene, options.precision, image, &err) != NB_OK)
        stop(err.message);
    start = now(clock) - start;
    backend->close(state);
    return start;
}

static double render(const version *v, const lab_case *c, const uint8_t *mask,
                     float *image)
{
    return render_with(v, c, mask, image, 1, CLOCK_THREAD_CPUTIME_ID);
}

/** Compare on the sampled pixels, which are squeezed to the front. */
static nb_comparison errors(const version *v, const lab_case *c, double N)
{
    const nb_raster *raster = &c->model.scene.raster;
    size_t n = raster->pixels, i, m = 0;
    float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    nb_comparison k;
    if (!a || !b)
        stop("out of memory");
    render(v, c, c->sampled, a);
    render(&versions[0], c, c->sampled, b);
    for (i = 0; i < n; i++)
        if (c->sampled[i]) {
            a[m] = a[i];
            b[m++] = b[i];
        }
    k = nb_compare(a, b, m, N >= 300 ? 1e-4 : 1e-6);
    free(a);
    free(b);
    return k;
}

static const char *precision_name(nb_precision precision)
{
    return precision == NB_PRECISION_MIXED    ? "mixed"
           : precision == NB_PRECISION_SINGLE ? "single"
                                              : "double";
}

static int is_wanted(const version *v, const char *only)
{
    return nb_cpu_runs(v->isa) && (!only || strcmp(only, nb_isa_name(v->isa)) == 0);
}

static void run(lab_case *c, double N, int repeats, const char *only)
{
    static double t[VERSIONS][MAX_REPEATS];
    const nb_raster *raster = &c->model.scene.raster;
    float *image = malloc(raster->pixels * sizeof *image);
    int i, r;
    if (!image)
        stop("out of memory");
    for (r = 0; r < repeats; r++)
        for (i = 1; i < VERSIONS; i++)
            if (is_wanted(&versions[i], only))
                t[i][r] = render(&versions[i], c, c->all ? NULL : c->timed, image);
    for (i = 0; i < VERSIONS; i++) {
        const version *v = &versions[i];
        nb_comparison k;
        if (i > 0 && !is_wanted(v, only))
            continue;
        if (i == 0) {
            size_t j, m = 0, all = raster->pixels;
            double ns;
            for (j = 0; j < all; j++)
                m += c->sampled[j];
            ns = render(v, c, c->sampled, image) * 1e9 / (double)m /
                 (double)c->model.scene.samples;
            printf("| %s | scalar double | %.1f | %.1f | 0 | 0 | %s |\n", c->name, ns, ns,
                   v->intent);
            continue;
        }
        qsort(t[i], (size_t)repeats, sizeof t[i][0], bench_by_value);
        k = errors(v, c, N);
        printf("| %s | %s %s | %.3f | %.3f | %.1e | %.1e | %s |\n", c->name,
               nb_isa_name(v->isa), precision_name(v->precision),
               t[i][repeats / 2] * 1e9 / c->timed_steps, t[i][0] * 1e9 / c->timed_steps,
               k.maxrel, k.rel6, v->intent);
        fflush(stdout);
    }
    free(image);
}

/** Errors against the reference, by the number of cells. */
static void error_table(const double *F)
{
    static const int sizes[] = {1, 2, 5, 10, 20, 50, 100, 101, 300, 1000, 3000, 10000};
    static const version mixed = {NB_ISA_AUTO, NB_PRECISION_MIXED, ""},
                         single = {NB_ISA_AUTO, NB_PRECISION_SINGLE, ""};
    size_t i;
    printf("| N | mixed maxrel | rel6 | sum | 1-corr | single maxrel | rel6 | sum | "
           "1-corr |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        nb_config cfg;
        lab_case c;
        nb_comparison m, k;
        heavy_config(&cfg, sizes[i]);
        build(&c, "", &cfg, F, ROW_STRIDE);
        m = errors(&mixed, &c, sizes[i]);
        k = errors(&single, &c, sizes[i]);
        printf("| %d | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e |\n",
               sizes[i], m.maxrel, m.rel6, m.sum, m.corr, k.maxrel, k.rel6, k.sum, k.corr);
        fflush(stdout);
        free(c.timed);
        free(c.sampled);
        nb_model_free(&c.model);
    }
}

/** Wall time of one thread and of two, the fastest of interleaved repeats. */
static void run_threads(const lab_case *c, int repeats)
{
    static const version widest = {NB_ISA_AUTO, NB_PRECISION_MIXED, ""};
    const nb_raster *raster = &c->model.scene.raster;
    float *image = malloc(raster->pixels * sizeof *image);
    double best[2] = {INFINITY, INFINITY};
    int r, threads;
    if (!image)
        stop("out of memory");
    for (r = 0; r < repeats; r++)
        for (threads = 1; threads <= 2; threads++)
            best[threads - 1] =
                fmin(best[threads - 1],
                     render_with(&widest, c, c->timed, image, threads, CLOCK_MONOTONIC));
    printf("\nWall time, %s: 1 thread %.1f ms, 2 threads %.1f ms, ratio %.2f\n", c->name,
           best[0] * 1e3, best[1] * 1e3, best[0] / best[1]);
    free(image);
}

/** The heavy crystal in a thick sensor, with `domains` orientations and one wavelength. */
static void sensor_config(nb_config *cfg, int domains, nb_layer_depth depth)
{
    heavy_config(cfg, 20);
    cfg->mosaic_domains = domains;
    cfg->mosaic_spread_deg = domains > 1 ? 0.5 : NAN;
    cfg->dispersion_steps = 0;
    cfg->dispersion_pct = NAN;
    cfg->thick_um = 500;
    cfg->abs_um = 300;
    cfg->thick_steps = 4;
    cfg->layer_depth = depth;
}

/** The extra time of layers at the mean depth: both rules in turn, median times of a thread. */
static void run_sensor(int domains, int repeats, const char *only)
{
    static double t[2][MAX_REPEATS];
    static const nb_layer_depth depths[2] = {NB_LAYER_FRONT, NB_LAYER_MEAN};
    lab_case c[2];
    float *image = malloc((size_t)2048 * 2048 * sizeof *image);
    int i, r, k;
    if (!image)
        stop("out of memory");
    for (k = 0; k < 2; k++) {
        nb_config cfg;
        sensor_config(&cfg, domains, depths[k]);
        build(&c[k], "", &cfg, NULL, ROW_STRIDE);
    }
    for (i = 1; i < VERSIONS; i++) {
        double steps = 1e-9 * c[0].timed_steps * c[0].model.scene.sensors->layers;
        if (!is_wanted(&versions[i], only))
            continue;
        for (r = 0; r < repeats; r++)
            for (k = 0; k < 2; k++)
                t[k][r] = render(&versions[i], &c[k], c[k].timed, image);
        for (k = 0; k < 2; k++)
            qsort(t[k], (size_t)repeats, sizeof t[k][0], bench_by_value);
        printf("| %d | %s %s | %.3f | %.3f | %+.1f %% | %+.1f %% |\n", domains,
               nb_isa_name(versions[i].isa), precision_name(versions[i].precision),
               t[0][repeats / 2] / steps, t[1][repeats / 2] / steps,
               100 * (t[1][repeats / 2] / t[0][repeats / 2] - 1),
               100 * (t[1][0] / t[0][0] - 1));
        fflush(stdout);
    }
    for (k = 0; k < 2; k++) {
        free(c[k].timed);
        free(c[k].sampled);
        nb_model_free(&c[k].model);
    }
    free(image);
}

static void sensor_table(int repeats, const char *only)
{
    static const int domains[] = {1, 4, 20, 100};
    printf("| orientations | version | front, ns/step | mean depth | difference | of the "
           "fastest "
           "|\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        run_sensor(domains[i], repeats, only);
}

static void finish(lab_case *c)
{
    free(c->timed);
    free(c->sampled);
    nb_model_free(&c->model);
}

/** The machine: name of the processor, compiler, date. */
static void print_machine(int argc, char **argv)
{
    char line[256], date[32];
    time_t t = time(NULL);
    FILE *f = fopen("/proc/cpuinfo", "r");
    int i;
    printf("Command: `cpu_lab");
    for (i = 1; i < argc; i++)
        printf(" %s", argv[i]);
    printf("`\n");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0) {
            printf("Processor: %s", strchr(line, ':') ? strchr(line, ':') + 2 : line);
            break;
        }
    if (f)
        fclose(f);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&t));
    printf("Compiler: %s\nDate: %s\n\n", __VERSION__, date);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {5, 20, 1000};
    const double *F = random_table();
    const char *only = NULL;
    nb_config cfg;
    lab_case c;
    char name[64];
    int i, table, repeats = 7, errors_only = 0, sensor_only = 0;
    for (i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--repeats") == 0)
            repeats = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--isa") == 0)
            only = argv[i + 1];
        else if (strcmp(argv[i], "--errors") == 0)
            errors_only = 1;
        else if (strcmp(argv[i], "--sensor") == 0)
            sensor_only = 1;
    if (i < argc || repeats < 1 || repeats > MAX_REPEATS)
        stop("usage: cpu_lab [--repeats 1..101] [--isa NAME]");
    print_machine(argc, argv);
    if (errors_only || sensor_only) {
        if (errors_only)
            error_table(F);
        else
            sensor_table(repeats, only);
        free((void *)(uintptr_t)F);
        return 0;
    }
    printf("| case | version | ns/step median | fastest | maxrel | rel6 | intent |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (table = 0; table < 2; table++)
        for (i = 0; i < 3; i++) {
            heavy_config(&cfg, sizes[i]);
            snprintf(name, sizeof name, "heavy N %d, F %s", sizes[i],
                     table ? "table" : "const");
            build(&c, name, &cfg, table ? F : NULL, ROW_STRIDE);
            run(&c, sizes[i], repeats, only);
            finish(&c);
        }
    simple_config(&cfg);
    build(&c, "simple 1024", &cfg, NULL, 1);
    run(&c, 5, MAX_REPEATS, only); /* 2 ms each */
    finish(&c);
    heavy_config(&cfg, 20);
    build(&c, "heavy N 20, F const", &cfg, NULL, ROW_STRIDE);
    run_threads(&c, 3 * repeats);
    finish(&c);
    free((void *)(uintptr_t)F);
    return 0;
}
