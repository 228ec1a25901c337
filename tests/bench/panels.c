/* SPDX-License-Identifier: MIT */
/* Pairs of renders on the device, as a table in markdown: 16.8 Mpixel as 256 panels and
 * as one, with and without a material, tricubic F by its kernel and by the kernel in
 * double. Medians of kernels by device events, and of calls, which leave the image on the
 * device, by the wall clock. Word: tricubic, for this pair only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/compare.h"
#include "../support/picture.h"
#include "sim/sim.h"
#include "base/threads.h"
#include "lab.h"
#include "model/scene_build.h"
#include "physics/limits.h"
#include "render/request.h"
#include "../support/render.h"

enum { MAX_TIMES = 15 };

typedef struct figures {
    double kernel, call; /* times in s */
} figures;

static double ms(double seconds)
{
    return seconds * 1e3;
}

/** Render once, and wait until the image is complete on the device. */
static nb_status render(nb_backend_state *state, const nb_scene *sc, nb_error *err)
{
    float *pixels;
    int device;
    nb_status st =
        nb_render_scene(&nb_backend_cuda, state, sc, NB_PRECISION_MIXED, NULL, err);
    return st ? st : nb_backend_cuda.device->image.locate(state, &pixels, &device, err);
}

/** Median times of renders that leave the image on the device; two do not count. */
static nb_status measure(nb_backend_state *state, const nb_scene *sc, int repeats,
                         figures *out, nb_error *err)
{
    /* in s; longer than the host needs to queue a render */
    const double launching = 300e-6;
    double kernel[MAX_TIMES], call[MAX_TIMES];
    nb_status st = NB_OK;
    for (int i = -2; i < repeats && !st; i++) {
        double start = nb_monotonic_seconds();
        st = render(state, sc, err);
        if (i >= 0)
            call[i] = nb_monotonic_seconds() - start;
        if (!st) {
            nb_cuda_hold(state, launching);
            st = render(state, sc, err);
        }
        if (i >= 0)
            kernel[i] = nb_cuda_kernel_seconds(state);
    }
    if (!st) {
        out->kernel = lab_median(kernel, repeats);
        out->call = lab_median(call, repeats);
    }
    return st;
}

static void print_pair(const char *name, const figures f[2], const char *wanted)
{
    printf("| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %s |\n", name,
           ms(f[0].kernel), ms(f[1].kernel), f[1].kernel / f[0].kernel, ms(f[0].call),
           ms(f[1].call), f[1].call / f[0].call, wanted);
    fflush(stdout);
}

static nb_config config_of(int heavy)
{
    nb_config cfg = lab_config(heavy ? NB_HEAVY : NB_SIMPLE " -misset 10 20 30 -lambda 1");
    nb_words(&cfg, "-detpixels 4096 -pixel 0.075 -distance 120 -fluence 1e27");
    return cfg;
}

/** Time renders of two configurations, and print them with the wanted ratio. */
static int pair(nb_backend_state *state, const char *name, const nb_config cfg[2],
                const char *wanted)
{
    figures f[2];
    nb_error err = {0};
    nb_status st = NB_OK;
    for (int i = 0; i < 2 && !st; i++) {
        nb_sim *sim = NULL;
        st = nb_sim_create(&cfg[i], NULL, &sim, &err);
        if (!st)
            st = measure(state, &sim->model.scene, MAX_TIMES, &f[i], &err);
        nb_sim_free(sim);
    }
    if (st)
        printf("| %s | failed: %s |\n", name, err.message);
    else
        print_pair(name, f, wanted);
    return st != NB_OK;
}

static int panels(nb_backend_state *state, int heavy)
{
    nb_config cfg[2] = {config_of(heavy), config_of(heavy)};
    nb_put_golden(&cfg[1].geom_file, "detectors/geom/jf16m.geom");
    for (int i = 0; i < 2; i++)
        cfg[1].detpixels[i] = 0;
    cfg[1].pixel_mm = cfg[1].distance_mm = NAN;
    return pair(state,
                heavy ? "heavy, 16.8 Mpixel: one panel, 256"
                      : "simple, 16.8 Mpixel: one panel, 256",
                cfg, heavy ? "1.03" : "1.15");
}

/** Render the image by a path (NANOBRAGG_CUDA_PATH), and time it. */
static nb_status by_path(nb_backend_state *state, const nb_scene *sc, const char *path,
                         float *image, figures *f, nb_error *err)
{
    setenv("NANOBRAGG_CUDA_PATH", path, 1);
    nb_status st = measure(state, sc, 3, f, err);
    if (!st)
        st = nb_render_scene(&nb_backend_cuda, state, sc, NB_PRECISION_MIXED, image, err);
    unsetenv("NANOBRAGG_CUDA_PATH");
    return st;
}

static int tricubic(nb_backend_state *state)
{
    const size_t n = (size_t)2048 * 2048;
    float *images[2] = {malloc(n * sizeof(float)), malloc(n * sizeof(float))};
    nb_config cfg = config_of(1);
    nb_model_inputs inputs;
    nb_model model;
    nb_error err = {0};
    figures f[2];
    char line[300] = "";
    nb_status st;
    memset(&inputs, 0, sizeof inputs);
    inputs.table.default_F = 100;
    double *F = lab_random_F(&inputs.table, 100, 1);
    nb_set_pixels(&cfg, 2048, 2048);
    cfg.pixel_mm = 0.1;
    cfg.distance_mm = 100;
    cfg.interpolate = NB_ON;
    st = images[0] && images[1] ? nb_model_build(&cfg, &inputs, NULL, &model, &err)
                                : NB_ERR_NOMEM;
    if (!st) {
        st = by_path(state, &model.scene, "double", images[0], &f[0], &err);
        if (!st)
            st = by_path(state, &model.scene, "tricubic", images[1], &f[1], &err);
        nb_backend_cuda.describe(state, line, sizeof line);
        nb_model_free(&model);
    }
    if (st) {
        printf("| tricubic | failed: %s |\n", err.message);
    } else {
        const nb_comparison c = nb_compare(images[1], images[0], n, 1e-6);
        print_pair("heavy 2048 x 2048, `-interpolate`: double, tricubic kernel", f, "0.1");
        printf("\n%s; against double: maxrel %.1e, rel6 %.1e, sum %.1e, 1-corr %.1e\n",
               line, c.maxrel, c.rel6, c.sum, c.corr);
        st = c.maxrel <= 1e-6 && c.rel6 <= 1e-4 ? NB_OK : NB_ERR_INTERNAL;
    }
    free(images[0]);
    free(images[1]);
    free(F);
    return st != NB_OK;
}

int lab_panels(const lab *l)
{
    const int all = strcmp(lab_word(l, 0, ""), "tricubic") != 0;
    nb_backend_state *state = lab_open_cuda("panels");
    int failed = 0;
    if (!state)
        return 0;
    puts("| case: first, second | kernels, ms | kernels, ms | ratio | call, ms | call, "
         "ms | "
         "ratio | wanted |");
    puts("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (int heavy = 0; all && heavy < 2; heavy++)
        failed += panels(state, heavy);
    failed += tricubic(state);
    nb_backend_cuda.close(state);
    return failed;
}
