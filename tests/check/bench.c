/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../support/scenes.h"
#include "cases.h"
#include "base/threads.h"
#include "render/simd.h"
#include "render/request.h"
#include "../support/render.h"

enum { REPEATS = 7 };

typedef struct scene_kind {
    const char *name;
    nb_shape shape;
    int N, table, interpolate, dispersion, domains;
} scene_kind;

static const scene_kind kinds[] = {
    {"square, F const, 10 sources x 10 domains", NB_SHAPE_SQUARE, 20, 0, 0, 10, 10},
    {"square, F table, 10 sources x 10 domains", NB_SHAPE_SQUARE, 20, 1, 0, 10, 10},
    {"square, F const, 100 domains", NB_SHAPE_SQUARE, 20, 0, 0, 1, 100},
    {"square, F table, 100 domains", NB_SHAPE_SQUARE, 20, 1, 0, 1, 100},
    {"square, F const, 1 step", NB_SHAPE_SQUARE, 5, 0, 0, 1, 1},
    {"square, F interpolated, 10 domains", NB_SHAPE_SQUARE, 20, 1, 1, 1, 10},
    {"square, N 2000, F const, 100 domains", NB_SHAPE_SQUARE, 2000, 0, 0, 1, 100},
    {"round, 100 domains", NB_SHAPE_ROUND, 20, 0, 0, 1, 100},
    {"gauss, 100 domains", NB_SHAPE_GAUSS, 20, 0, 0, 1, 100},
    {"tophat, 100 domains", NB_SHAPE_TOPHAT, 20, 0, 0, 1, 100}};

static void make(check_case *c, const scene_kind *k)
{
    const int low[3] = {-64, -64, -64}, count[3] = {128, 128, 128};
    check_rng r = {1};
    memset(c, 0, sizeof *c);
    nb_config_defaults(&c->cfg);
    nb_words(&c->cfg, NB_TRICLINIC " -detpixels 256 -pixel 0.8");
    c->cfg.N[0] = c->cfg.N[1] = c->cfg.N[2] = k->N;
    c->cfg.shape = k->shape;
    if (k->domains > 1) {
        c->cfg.mosaic_spread_deg = 0.5;
        c->cfg.mosaic_domains = k->domains;
    }
    if (k->dispersion > 1) {
        c->cfg.dispersion_pct = 1;
        c->cfg.dispersion_steps = k->dispersion;
    }
    c->cfg.interpolate = k->interpolate ? NB_ON : NB_OFF;
    c->inputs.table.default_F = 100;
    if (k->table)
        check_fill_table(c, &r, low, count);
}

/** CPU time of this thread: other processes change it less than wall time. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Time of the fastest of some renders, ns per step; NaN if the scene does not render. */
static double time_steps(const nb_backend *backend, nb_isa isa, nb_precision precision,
                         const nb_scene *sc, int repeats)
{
    nb_render_options options = {
        .threads = 1, .isa = isa, .precision = precision, .device_index = -1};
    const nb_region roi = sc->raster.roi;
    double best = INFINITY, steps = (double)sc->samples * (roi.fmax - roi.fmin + 1) *
                                    (roi.smax - roi.smin + 1);
    float *image = malloc(sc->raster.pixels * sizeof *image);
    nb_backend_state *state;
    nb_error err;
    int i;
    if (!image || backend->open(&options, &state, &err) != NB_OK) {
        free(image);
        return NAN;
    }
    for (i = 0; i < repeats; i++) {
        double start = now();
        if (nb_render_scene(backend, state, sc, options.precision, image, &err) != NB_OK)
            best = NAN;
        best = fmin(best, now() - start);
    }
    backend->close(state);
    free(image);
    return best * 1e9 / steps;
}

static void one_kind(const scene_kind *kind, const char *only)
{
    static const nb_isa sets[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512};
    static const nb_precision precisions[] = {NB_PRECISION_MIXED, NB_PRECISION_DOUBLE};
    check_case c;
    nb_model model;
    nb_scene small;
    nb_error err;
    int i, p;
    make(&c, kind);
    if (nb_model_build(&c.cfg, &c.inputs, NULL, &model, &err) != NB_OK) {
        printf("%s: %s\n", kind->name, err.message);
        check_free_case(&c);
        return;
    }
    small = model.scene;
    small.raster.roi.smax = small.raster.roi.smin + 7;
    printf("| %s | %.1f |", kind->name,
           time_steps(&nb_backend_scalar, NB_ISA_SCALAR, NB_PRECISION_DOUBLE, &small, 2));
    for (i = 0; i < 3; i++)
        if (nb_cpu_runs(sets[i]) && (!only || strcmp(only, nb_isa_name(sets[i])) == 0))
            for (p = 0; p < 2; p++)
                printf(" %.2f |", time_steps(&nb_backend_simd, sets[i], precisions[p],
                                             &model.scene, REPEATS));
    printf("\n");
    fflush(stdout);
    nb_model_free(&model);
    check_free_case(&c);
}

void check_bench(const char *only)
{
    size_t i;
    printf("ns per step, one core: scalar, then mixed, double of %s\n",
           only ? only : "sse2, avx2, avx512 where they run");
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        one_kind(&kinds[i], only);
}
