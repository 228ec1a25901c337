/* SPDX-License-Identifier: MIT */
/* Times of images made from reflections, from blocks of rays, and with every step
 * (docs/performance.md).  On a device: kernels by its events, warm calls by the wall
 * clock; one line per case:
 *   NAME kernel_ms wall_ms every_ms gain worst bound
 * worst: largest difference from the image with every step, divided by the brightest
 * pixel; bound: the promised limit.  On the CPU: processor seconds of one thread
 * (reports/cpu). Times of every step are measured on some rows of the detector.  Word:
 * run cases whose name contains this word. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/picture.h"
#include "base/threads.h"
#include "lab.h"
#include "params/params.h"
#include "physics/panels.h"
#include "render/simd.h"
#include "render/request.h"
#include "sim/sim.h"

enum { REPEATS = 9, TURNS = 3, ROWS = 16 };

typedef struct spot_case {
    char detector; /* A: 2048^2, B: 4096^2, C: A with 24 x 24 sub-pixels, S: 1024^2 stills */
    nb_shape shape;
    double tolerance;
    int N, domains, sources;
    int slow; /* 1: skipped on a CPU */
} spot_case;

static const spot_case cases[] = {{'B', NB_SHAPE_GAUSS, 1e-6, 100, 25, 10, 0},
                                  {'B', NB_SHAPE_GAUSS, 1e-6, 20, 100, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 1e-6, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 1e-6, 300, 100, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 1e-6, 20, 1000, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 1e-6, 100, 1000, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 1e-6, 300, 1000, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 0, 20, 100, 100, 0},
                                  {'B', NB_SHAPE_GAUSS, 0, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_TOPHAT, 0, 20, 100, 100, 0},
                                  {'B', NB_SHAPE_TOPHAT, 0, 100, 100, 100, 0},
                                  {'A', NB_SHAPE_GAUSS, 1e-6, 100, 25, 10, 0},
                                  {'A', NB_SHAPE_GAUSS, 1e-3, 100, 25, 10, 0},
                                  {'C', NB_SHAPE_GAUSS, 1e-6, 100, 1, 1, 0},
                                  {'S', NB_SHAPE_GAUSS, 1e-6, 100, 25, 100, 0},
                                  {'B', NB_SHAPE_SQUARE, 1e-3, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_SQUARE, 1e-4, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_SQUARE, 1e-6, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_SQUARE, 1e-3, 300, 1000, 100, 1},
                                  {'B', NB_SHAPE_ROUND, 1e-3, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_ROUND, 1e-4, 100, 100, 100, 0},
                                  {'B', NB_SHAPE_ROUND, 1e-6, 100, 100, 100, 0},
                                  {'A', NB_SHAPE_SQUARE, 1e-3, 20, 100, 100, 0},
                                  {'A', NB_SHAPE_SQUARE, 1e-4, 20, 100, 100, 0},
                                  {'A', NB_SHAPE_SQUARE, 1e-6, 20, 100, 100, 0},
                                  {'A', NB_SHAPE_SQUARE, 1e-3, 100, 25, 10, 0},
                                  {'A', NB_SHAPE_SQUARE, 1e-6, 100, 25, 1, 0},
                                  {'A', NB_SHAPE_ROUND, 1e-3, 20, 25, 10, 0},
                                  {'A', NB_SHAPE_ROUND, 1e-6, 20, 25, 10, 0},
                                  {'S', NB_SHAPE_SQUARE, 1e-4, 100, 25, 100, 0},
                                  {'A', NB_SHAPE_SQUARE, 1e-4, 300, 25, 10, 0}};

static nb_config config_of(const spot_case *c)
{
    nb_config cfg;
    const int far = c->detector == 'B';
    const int pixels = far ? 4096 : c->detector == 'S' ? 1024 : 2048;
    nb_config_defaults(&cfg);
    nb_put_golden(&cfg.hkl_file, "lysozyme_P1.hkl");
    nb_set_cell(&cfg, 79.1, 79.1, 37.9, 90, 90, 90);
    nb_set_misset(&cfg, 10, 20, 30);
    nb_set_N(&cfg, c->N);
    nb_set_pixels(&cfg, pixels, pixels);
    cfg.lambda_A = far ? 1.3 : 1;
    cfg.distance_mm = far ? 150 : 100;
    cfg.pixel_mm = far ? 0.075 : 204.8 / pixels;
    cfg.oversample = c->detector == 'C' ? 24 : 1;
    cfg.mosaic_spread_deg = c->domains > 1 ? 0.2 : 0;
    cfg.mosaic_domains = c->domains;
    cfg.dispersion_pct = c->sources > 1 ? 0.5 : 0;
    cfg.dispersion_steps = c->sources;
    cfg.shape = c->shape;
    cfg.tolerance = c->tolerance > 0 ? c->tolerance : NAN;
    cfg.write_dump = 0;
    return cfg;
}

/** Time a scene on the device; time: medians of kernel and wall times in s. */
static nb_status measure(nb_backend_state *state, const nb_scene *sc, const nb_request *as,
                         int repeats, float *image, double time[2], nb_error *err)
{
    double kernel[REPEATS], wall[REPEATS];
    nb_status st = NB_OK;
    for (int i = -1; i < repeats && !st; i++) {
        double start = nb_monotonic_seconds();
        st = nb_render_scene_as(&nb_backend_cuda, state, sc, as, image, err);
        if (i >= 0) {
            wall[i] = nb_monotonic_seconds() - start;
            kernel[i] = nb_cuda_kernel_seconds(state);
        }
    }
    if (!st) {
        time[0] = lab_median(kernel, repeats);
        time[1] = lab_median(wall, repeats);
    }
    return st;
}

/** Largest difference of two images in the region of interest. */
static double largest_difference(const nb_scene *sc, const float *a, const float *b)
{
    const nb_region *r = &sc->raster.roi;
    double max = 0;
    for (int s = r->smin; s <= r->smax; s++)
        for (int f = r->fmin; f <= r->fmax; f++) {
            size_t i = (size_t)s * (size_t)sc->raster.columns + (size_t)f;
            max = fmax(max, fabs((double)a[i] - b[i]));
        }
    return max;
}

static double brightest(const nb_scene *sc, const float *image)
{
    double max = 0;
    for (size_t i = 0; i < sc->raster.pixels; i++)
        max = fmax(max, image[i]);
    return max;
}

/** The scene with a region of rows that takes about a second with every step; *part:
 * fraction of the pixels that are in this region. */
static nb_scene band_of(const nb_scene *sc, double *part)
{
    nb_scene band = *sc;
    const double steps = (double)sc->samples * sc->raster.columns;
    int rows = (int)fmin(sc->raster.rows, fmax(16, 3e10 / steps));
    band.raster.roi.smin = (sc->raster.rows - rows) / 3;
    band.raster.roi.smax = band.raster.roi.smin + rows - 1;
    *part = (double)rows / sc->raster.rows;
    return band;
}

static nb_status run(nb_backend_state *state, const spot_case *c, const nb_sim *sim,
                     float *images[2], nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_request part = {.precision = NB_PRECISION_MIXED,
                             .tolerance = sim->engine.options.tolerance};
    const nb_request all = {.precision = NB_PRECISION_MIXED};
    double time[2], every[2], of;
    const nb_scene band = band_of(sc, &of);
    nb_spots_result left;
    char line[300];
    nb_status st = measure(state, sc, &part, REPEATS, images[0], time, err);
    left = *nb_cuda_left(state);
    nb_backend_cuda.describe(state, line, sizeof line);
    if (!st)
        st = measure(state, &band, &all, 1, images[1], every, err);
    if (!st)
        printf("%c-%s-%g-N%-4d %4d x %-3d %10.4f %10.4f %11.2f %8.0f %8.1e %8.1e  %s\n",
               c->detector, nb_param_choice("shape", (int)c->shape), c->tolerance, c->N,
               c->domains, c->sources, time[0] * 1e3, time[1] * 1e3, every[0] / of * 1e3,
               every[0] / of / time[0],
               largest_difference(&band, images[0], images[1]) /
                   fmax(1e-300, brightest(sc, images[0])),
               nb_spots_part(&left), line);
    return st;
}

static int run_case(nb_backend_state *state, const spot_case *c)
{
    nb_config cfg = config_of(c);
    nb_sim *sim = NULL;
    nb_error err = {0};
    float *images[2] = {NULL, NULL};
    nb_status st = nb_sim_create(&cfg, NULL, &sim, &err);
    for (int i = 0; i < 2 && !st; i++)
        images[i] = nb_cuda_pinned(sim->model.scene.raster.pixels * sizeof(float));
    if (!st && images[0] && images[1])
        st = run(state, c, sim, images, &err);
    if (st || !images[1])
        printf("%c N %d failed: %s\n", c->detector, c->N, err.message);
    fflush(stdout);
    nb_cuda_pinned_free(images[0]);
    nb_cuda_pinned_free(images[1]);
    nb_sim_free(sim);
    return !st;
}

/** Seconds of every step of an image, also in dark pixels, calculated from some rows. */
static double every_step(const nb_scene *sc, nb_row_kernel *kernel)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    const nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    const int count =
        (int)fmax(1, 2e8 / ((double)sc->raster.columns * (double)sc->samples));
    const int rows = count < ROWS ? count : ROWS;
    const nb_hooks quiet = {0};
    nb_span spans[ROWS];
    const nb_request request = {.spans = spans, .n = (size_t)rows};
    nb_dark_rows work = {.kernel = kernel};
    nb_vector_plan *plans;
    float *image = lab_memory(sc->raster.pixels * sizeof *image);
    const nb_planes planes = {image, sc->raster.pixels};
    const nb_row_job job = {sc, &request, &planes, &work, nb_dark_row, 1, &quiet};
    double start, seconds;
    for (int i = 0; i < rows; i++) {
        int row = (2 * i + 1) * sc->raster.rows / (2 * rows);
        spans[i] = (nb_span){0, 0, row, sc->raster.columns, nb_row_start(sc, row)};
    }
    if (nb_vector_plans_build(&plan,
                              nb_shape_law(sc->lattice.shape) == NB_LAW_FRINGES
                                  ? NB_SUMS_FIXED
                                  : NB_SUMS_DOUBLE,
                              NULL, &plans, NULL))
        lab_stop("not enough memory");
    work.plans = plans;
    start = lab_processor();
    nb_render_rows(&job, NULL);
    seconds = lab_processor() - start;
    nb_vector_plans_free(plans);
    free(image);
    return seconds * sc->raster.rows / rows;
}

/** Least processor time (s) of an image from reflections. */
static double from_reflections(const nb_sim *sim, float *image)
{
    nb_backend_state *state;
    nb_error err;
    const nb_request as = {.precision = NB_PRECISION_MIXED,
                           .tolerance = sim->engine.options.tolerance};
    double least = INFINITY;
    lab_need(nb_backend_simd.open(&sim->engine.options, &state, &err), &err);
    for (int turn = 0; turn < TURNS; turn++) {
        double start = lab_processor();
        lab_need(nb_render_scene_as(&nb_backend_simd, state, &sim->model.scene, &as,
                                    image, &err),
                 &err);
        least = fmin(least, lab_processor() - start);
    }
    nb_backend_simd.close(state);
    return least;
}

static nb_row_kernel *widest(void)
{
#if defined(__x86_64__)
    return nb_cpu_runs(NB_ISA_AVX512) ? nb_row_avx512
           : nb_cpu_runs(NB_ISA_AVX2) ? nb_row_avx2
                                      : nb_row_sse2;
#elif defined(__aarch64__)
    return nb_row_neon;
#else
    return NULL;
#endif
}

static void run_on_cpu(const char *name, const spot_case *c)
{
    nb_config cfg = config_of(c);
    nb_sim *sim;
    float *image;
    double every, spots;
    cfg.threads = 1;
    sim = lab_sim(&cfg);
    image = lab_memory(sim->model.scene.raster.pixels * sizeof *image);
    every = every_step(&sim->model.scene, widest());
    spots = from_reflections(sim, image);
    printf("| %s | %d x %d | %.1f | %.4f | %.0f |\n", name, c->domains, c->sources, every,
           spots, every / spots);
    fflush(stdout);
    free(image);
    nb_sim_free(sim);
}

int lab_spots(const lab *l)
{
    const int cuda = lab_is_cuda(l);
    nb_backend_state *state = cuda ? lab_open_cuda("spots") : NULL;
    int failed = 0;
    char name[64];
    if (cuda && !state)
        return 0;
    puts(cuda ? "# detector-shape-tolerance-N, domains x sources, kernels ms, call ms, "
                "every "
                "step ms, gain, worst error, bound"
              : "| detector-shape-tolerance-N | domains x sources | every step, s | "
                "s | gain |\n| --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "%c-%s-%g-N%d", cases[i].detector,
                 nb_param_choice("shape", (int)cases[i].shape), cases[i].tolerance,
                 cases[i].N);
        if (!strstr(name, lab_word(l, 0, "")))
            continue;
        if (cuda)
            failed += !run_case(state, &cases[i]);
        else if (!cases[i].slow)
            run_on_cpu(name, &cases[i]);
    }
    if (cuda)
        nb_backend_cuda.close(state);
    return failed;
}
