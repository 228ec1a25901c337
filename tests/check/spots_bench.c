/* SPDX-License-Identifier: MIT */
/* Times of pictures from reflections beside those of every step: reports/cpu/spots.md. */
#include "spots_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../support/picture.h"
#include "sim/sim.h"
#include "base/cpu.h"
#include "physics/panels.h"
#include "render/dark_rows.h"
#include "render/request.h"
#include "render/rows.h"
#include "render/simd.h"

typedef struct bench_case {
    char detector; /* A, B, of reports/cpu/spots.md; C: one orientation, the default oversampling */
    nb_shape shape;
    double tolerance;
    int N, domains, sources;
} bench_case;

static const bench_case cases[] = {{'B', NB_SHAPE_GAUSS, 1e-6, 100, 25, 10},
                                   {'B', NB_SHAPE_GAUSS, 1e-6, 20, 100, 100},
                                   {'B', NB_SHAPE_GAUSS, 1e-6, 100, 100, 100},
                                   {'B', NB_SHAPE_GAUSS, 1e-6, 300, 100, 100},
                                   {'B', NB_SHAPE_GAUSS, 1e-6, 20, 1000, 100},
                                   {'B', NB_SHAPE_GAUSS, 1e-6, 100, 1000, 100},
                                   {'B', NB_SHAPE_GAUSS, 1e-6, 300, 1000, 100},
                                   {'B', NB_SHAPE_GAUSS, 0, 20, 100, 100},
                                   {'B', NB_SHAPE_GAUSS, 0, 100, 100, 100},
                                   {'B', NB_SHAPE_TOPHAT, 0, 20, 100, 100},
                                   {'B', NB_SHAPE_TOPHAT, 0, 100, 100, 100},
                                   {'A', NB_SHAPE_GAUSS, 1e-6, 100, 25, 10},
                                   {'A', NB_SHAPE_GAUSS, 1e-3, 100, 25, 10},
                                   {'C', NB_SHAPE_GAUSS, 1e-6, 100, 1, 1},
                                   {'B', NB_SHAPE_SQUARE, 1e-3, 100, 100, 100},
                                   {'B', NB_SHAPE_SQUARE, 1e-4, 100, 100, 100},
                                   {'B', NB_SHAPE_SQUARE, 1e-6, 100, 100, 100},
                                   {'B', NB_SHAPE_ROUND, 1e-3, 100, 100, 100},
                                   {'B', NB_SHAPE_ROUND, 1e-4, 100, 100, 100},
                                   {'B', NB_SHAPE_ROUND, 1e-6, 100, 100, 100},
                                   {'A', NB_SHAPE_SQUARE, 1e-3, 20, 100, 100},
                                   {'A', NB_SHAPE_SQUARE, 1e-4, 20, 100, 100},
                                   {'A', NB_SHAPE_SQUARE, 1e-3, 100, 25, 10},
                                   {'A', NB_SHAPE_SQUARE, 1e-4, 300, 25, 10},
                                   {'A', NB_SHAPE_ROUND, 1e-3, 20, 25, 10}};
enum { CASES = sizeof cases / sizeof *cases, TURNS = 3 };

/** Of the process: other work on the machine does not count. */
static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *const shape_names[] = {[NB_SHAPE_GAUSS] = "gauss",
                                          [NB_SHAPE_TOPHAT] = "tophat",
                                          [NB_SHAPE_SQUARE] = "square",
                                          [NB_SHAPE_ROUND] = "round"};

static nb_config config_of(const bench_case *c)
{
    nb_config cfg;
    const int far = c->detector == 'B';
    nb_config_defaults(&cfg);
    nb_golden_path(cfg.hkl_file, "lysozyme_P1.hkl");
    nb_set_cell(&cfg, 79.1, 79.1, 37.9, 90, 90, 90);
    nb_set_misset(&cfg, 10, 20, 30);
    nb_set_N(&cfg, c->N);
    nb_set_pixels(&cfg, far ? 4096 : 2048, far ? 4096 : 2048);
    cfg.lambda_A = far ? 1.3 : 1;
    cfg.distance_mm = far ? 150 : 100;
    cfg.pixel_mm = far ? 0.075 : 0.1;
    cfg.oversample = c->detector == 'C' ? 24 : 1;
    cfg.mosaic_spread_deg = c->domains > 1 ? 0.2 : 0;
    cfg.mosaic_domains = c->domains;
    cfg.dispersion_pct = c->sources > 1 ? 0.5 : 0;
    cfg.dispersion_steps = c->sources;
    cfg.shape = c->shape;
    cfg.threads = 1;
    cfg.write_dump = 0;
    return cfg;
}

/** Seconds of every step of the picture, from a few of its rows; no dark pixel is left out. */
static double every_step(const nb_scene *sc, nb_row_kernel *kernel)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    const nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    const int count =
        (int)fmax(1, 2e8 / ((double)sc->raster.columns * (double)sc->samples));
    const int rows = count < 16 ? count : 16;
    const nb_hooks quiet = {0};
    nb_span spans[16];
    const nb_request request = {.spans = spans, .n = (size_t)rows};
    nb_dark_rows work = {.kernel = kernel};
    nb_vector_plan *plans;
    float *image = malloc(sc->raster.pixels * sizeof *image);
    const nb_planes planes = {image, sc->raster.pixels};
    const nb_row_job job = {sc, &request, &planes, &work, nb_dark_row, 1, &quiet};
    double start, seconds;
    for (int i = 0; i < rows; i++) {
        int row = (2 * i + 1) * sc->raster.rows / (2 * rows);
        spans[i] = (nb_span){0, 0, row, sc->raster.columns, nb_row_start(sc, row)};
    }
    if (!image ||
        nb_vector_plans_build(
            &plan, sc->lattice.shape == NB_LATTICE_SQUARE ? NB_SUMS_FIXED : NB_SUMS_DOUBLE,
            NULL, &plans, NULL))
        return 0;
    work.plans = plans;
    start = processor_seconds();
    nb_render_rows(&job, NULL);
    seconds = processor_seconds() - start;
    nb_vector_plans_free(plans);
    free(image);
    return seconds * sc->raster.rows / rows;
}

/** The quickest of some turns. */
static double from_reflections(const nb_sim *sim, float *image)
{
    nb_backend_state *state;
    const nb_request as = {.precision = NB_PRECISION_MIXED,
                           .tolerance = sim->engine.options.tolerance};
    double least = INFINITY;
    if (nb_backend_simd.open(&sim->engine.options, &state, NULL))
        return 0;
    for (int turn = 0; turn < TURNS; turn++) {
        double start = processor_seconds();
        nb_render_scene_as(&nb_backend_simd, state, &sim->model.scene, &as, image, NULL);
        least = fmin(least, processor_seconds() - start);
    }
    nb_backend_simd.close(state);
    return least;
}

static void run(const bench_case *c, nb_row_kernel *kernel)
{
    nb_config cfg = config_of(c);
    nb_error err = {0};
    nb_sim *sim;
    float *image;
    double every, spots;
    if (c->tolerance > 0)
        cfg.tolerance = c->tolerance;
    if (nb_sim_create(&cfg, NULL, &sim, &err)) {
        printf("%s\n", err.message);
        return;
    }
    image = malloc(sim->model.scene.raster.pixels * sizeof *image);
    every = every_step(&sim->model.scene, kernel);
    spots = image ? from_reflections(sim, image) : 0;
    printf("| %c | %s | %g | %d | %d x %d | %.1f | %.4f | %.0f |\n", c->detector,
           shape_names[c->shape], c->tolerance, c->N, c->domains, c->sources, every,
           spots, every / spots);
    fflush(stdout);
    free(image);
    nb_sim_free(sim);
}

void check_spots_bench(int first)
{
    nb_row_kernel *kernel = NULL;
#if defined(__x86_64__)
    kernel = nb_cpu_runs(NB_ISA_AVX512) ? nb_row_avx512
             : nb_cpu_runs(NB_ISA_AVX2) ? nb_row_avx2
                                        : nb_row_sse2;
#elif defined(__aarch64__)
    kernel = nb_row_neon;
#endif
    printf("| detector | shape | tolerance (0: the default) | N | domains x sources | "
           "every step, s "
           "| from reflections, s | gain |\n| --- | --- | --- | --- | --- | --- | --- | "
           "--- |\n");
    for (int i = first; i < CASES; i++)
        run(&cases[i], kernel);
}
