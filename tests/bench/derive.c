/* SPDX-License-Identifier: MIT */
/* Times of the image and of derivatives, by public calls that alternate. On the CPU:
 * least processor times of one thread, and the median of the ratios. On a device: medians
 * of kernels by the device's clock and of whole calls by the wall clock, for pullbacks,
 * normal equations and an evaluation of a fit too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "lab.h"
#include "sim/derive.h"
#include "sim/sim.h"

enum { REPEATS = 101, CALLS = 4 };

typedef struct derive_case {
    const char *name, *list;
    /* steps per pixel; pixels along an edge on the CPU and on the GPU (0: skipped
     * there) */
    int steps, cpu, cuda;
    const char *N;
} derive_case;

#define CRYSTAL "rot,cell,N"
#define ALL                                                                              \
    "rot,cell,N,mosaic,phi,osc,lambda,dispersion,distance,Xbeam,Ybeam,tilt,shift,polar," \
    "fluence"
static const derive_case cases[] = {
    {"orientation", "rot", 1000, 256, 2048, "20"},
    {"cell, orientation, N", CRYSTAL, 1000, 256, 2048, "20"},
    {"the same, N not whole", CRYSTAL, 1000, 256, 2048, "20.3"},
    {"and mosaic, geometry, beam", ALL, 1000, 256, 2048, "20"},
    {"fifty steps a pixel", CRYSTAL, 50, 0, 2048, "20"},
    {"fifty steps, all", ALL, 50, 0, 2048, "20"},
    {"one step a pixel", CRYSTAL, 1, 1024, 4096, "5"},
    {"one step, all", ALL, 1, 512, 2048, "5"}};

/** Arguments of the timed calls: image, derivatives, pullback, normal equations. */
typedef struct work {
    nb_sim *sim;
    int count;
    size_t pixels;
    const char *list[NB_VARIABLES_MAX];
    float *photons, *planes;
    double gradient[NB_VARIABLES_MAX], *matrix;
    nb_slope_pixels *only; /* pixels of the normal equations, or NULL for all pixels */
} work;

static nb_status call(work *w, int what, nb_error *err)
{
    const nb_observation seen = {.photons = w->photons};
    double loss;
    switch (what) {
    case 0:
        return nb_sim_render(w->sim, w->photons, NULL, err);
    case 1:
        return nb_sim_derivatives(w->sim, w->list, w->count, NB_REAL_FLOAT32, w->planes,
                                  NULL, err);
    case 2:
        return nb_sim_pullback(w->sim, w->list, w->count, NB_REAL_FLOAT32, w->photons,
                               w->gradient, NULL, err);
    default:
        return nb_sim_normal(w->sim, w->list, w->count, &seen, &loss, w->gradient,
                             w->matrix, err);
    }
}

static nb_sim *simulation(const lab *l, const derive_case *c)
{
    const int pixels = l->pixels ? l->pixels : lab_is_cuda(l) ? c->cuda : c->cpu;
    nb_error err;
    nb_config cfg = lab_config(c->steps > 1 ? NB_HEAVY : NB_SIMPLE);
    char words[100];
    if (c->steps == 50)
        nb_words(&cfg, "-mosaic_domains 5");
    snprintf(words, sizeof words, "-detpixels %d -N %s -device %s", pixels, c->N,
             l->device);
    nb_words(&cfg, words);
    if (l->threads || !lab_is_cuda(l)) /* the host of a device uses all threads */
        cfg.threads = l->threads ? l->threads : 1;
    if (l->isa && nb_config_set(&cfg, "isa", l->isa, &err) != NB_OK)
        lab_stop("-isa: no such instruction set");
    return lab_sim(&cfg);
}

static void row_of_cpu(const derive_case *c, double t[2][REPEATS], const work *w, int n)
{
    double ratio[REPEATS], middle;
    for (int i = 0; i < n; i++)
        ratio[i] = t[1][i] / t[0][i];
    middle = lab_median(ratio, n);
    lab_median(t[0], n); /* sorts t[0] */
    lab_median(t[1], n);
    printf("| %s | %d | %.0f | %.2f | %.2f | %.2f |\n", c->name, w->count,
           sqrt((double)w->pixels), 1e3 * t[0][0], 1e3 * t[1][0], middle);
}

static void row_of_cuda(const derive_case *c, double kernel[CALLS][REPEATS],
                        double wall[CALLS][REPEATS], const work *w, int n)
{
    const double base = lab_median(kernel[0], n);
    printf("| %s | %d | %.0f | %.3f |", c->name, w->count, sqrt((double)w->pixels),
           1e3 * base);
    for (int k = 1; k < CALLS; k++) {
        const double t = lab_median(kernel[k], n);
        printf(" %.3f (%.2f) |", 1e3 * t, t / base);
    }
    for (int k = 0; k < CALLS; k++)
        printf(" %.2f |", 1e3 * lab_median(wall[k], n));
    puts("");
}

static void measure(const lab *l, const derive_case *c, nb_sim *sim, int repeats)
{
    static double kernel[CALLS][REPEATS], wall[CALLS][REPEATS], used[2][REPEATS];
    const int cuda = lab_is_cuda(l);
    char(*names)[NB_VARIABLE_NAME];
    work w = {.sim = sim};
    nb_error err;
    int fast, slow;
    nb_sim_size(sim, &fast, &slow);
    w.pixels = (size_t)fast * (size_t)slow;
    lab_need(nb_sim_variables(sim, c->list, &names, &w.count, &err), &err);
    w.photons = lab_memory(w.pixels * sizeof *w.photons);
    w.planes = lab_memory(w.pixels * (size_t)w.count * sizeof *w.planes);
    w.matrix = lab_memory((size_t)w.count * (size_t)w.count * sizeof *w.matrix);
    memset(w.planes, 0, w.pixels * (size_t)w.count * sizeof *w.planes);
    for (int i = 0; i < w.count; i++)
        w.list[i] = names[i];
    for (int i = cuda ? -1 : 0; i < repeats; i++) /* round -1 is not counted */
        for (int what = 0; what < (cuda ? CALLS : 2); what++) {
            const int k = i < 0 ? 0 : i;
            const double start = nb_monotonic_seconds(), before = lab_processor();
            lab_need(call(&w, what, &err), &err);
            wall[what][k] = nb_monotonic_seconds() - start;
            if (cuda)
                kernel[what][k] = nb_cuda_kernel_seconds(sim->engine.state);
            else
                used[what][k] = lab_processor() - before;
        }
    if (cuda)
        row_of_cuda(c, kernel, wall, &w, repeats);
    else
        row_of_cpu(c, used, &w, repeats);
    fflush(stdout);
    free(w.planes);
    free(w.photons);
    free(w.matrix);
    nb_free(names);
}

/** Time one evaluation of a fit as in `nanobragg refine`: set new values, then make the
 * normal equations of the bright pixels, and of one pixel in twenty. */
static void evaluate(int repeats)
{
    enum { EDGE = 512 };
    static const char *const names[] = {"rot_x",  "rot_y",  "rot_z",   "cell_a",
                                        "cell_b", "cell_c", "N_a",     "N_b",
                                        "N_c",    "mosaic", "fluence", "water"};
    enum { COUNT = sizeof names / sizeof *names };
    static float image[EDGE * EDGE], photons[EDGE * EDGE];
    static double kernel[REPEATS], wall[REPEATS];
    const nb_config cfg = lab_config(
        "-cell 79.1 79.1 37.9 90 90 90 -misset 10 20 30 -Na 12.3 -Nb 11.2 -Nc 18.4 "
        "-mosaic "
        "0.05 -mosaic_domains 5 -default_F 100 -fluence 2e26 -lambda 1 -distance 113.7 "
        "-pixel 0.2 -detpixels 512 -oversample 1 -water 0.3 -device cuda");
    nb_slope_pixels pixels;
    double gradient[COUNT], matrix[COUNT * COUNT], loss, mean = 0;
    const nb_observation seen = {.photons = photons};
    nb_sim *sim = lab_sim(&cfg);
    nb_error err;
    int used = 0;
    lab_need(nb_sim_render(sim, image, NULL, &err), &err);
    for (int i = 0; i < EDGE * EDGE; i++)
        mean += (double)image[i] / (EDGE * EDGE);
    for (int i = 0; i < EDGE * EDGE; i++) {
        photons[i] = image[i] > mean || i % 20 == 0 ? image[i] : (float)NAN;
        used += !isnan(photons[i]);
    }
    lab_need(nb_slope_observed(&(nb_slope_job){.scene = &sim->model.scene}, &seen,
                               &pixels, &err),
             &err);
    pixels.number = 1;
    for (int i = -1; i < repeats; i++) {
        const double value = 1e-4 * (i + 2), t = nb_monotonic_seconds();
        lab_need(nb_sim_set_parameters(sim, names, &value, 1, &err), &err);
        lab_need(nb_sim_normal_at(sim, names, COUNT, &seen, &pixels, &loss, gradient,
                                  matrix, &err),
                 &err);
        wall[i < 0 ? 0 : i] = nb_monotonic_seconds() - t;
        kernel[i < 0 ? 0 : i] = nb_cuda_kernel_seconds(sim->engine.state);
    }
    printf("one evaluation of a fit, %d parameters, %d of %d pixels: kernels %.3f ms, "
           "all %.3f ms\n",
           (int)COUNT, used, EDGE * EDGE, 1e3 * lab_median(kernel, repeats),
           1e3 * lab_median(wall, repeats));
    nb_slope_pixels_free(&pixels);
    nb_sim_free(sim);
}

int lab_derive(const lab *l)
{
    const int cuda = lab_is_cuda(l), typed = lab_repeats(l, 11);
    const int repeats = typed < REPEATS ? typed : REPEATS;
    nb_backend_state *state = cuda ? lab_open_cuda("derive") : NULL;
    if (cuda && !state)
        return 0;
    if (cuda)
        nb_backend_cuda.close(state);
    puts(
        cuda
            ? "Kernels, ms (ratio to the image's); whole calls, ms\n"
              "| parameters | number | edge | image | planes | pullback | normal "
              "equations "
              "| image, call | planes, call | pullback, call | normal equations, call |\n"
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
            : "| parameters | number | pixels along an edge | image, ms | derivatives, "
              "ms | "
              "ratio |\n| --- | --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_sim *sim;
        if (!strstr(cases[i].name, lab_word(l, 0, "")) || (!cuda && !cases[i].cpu))
            continue;
        sim = simulation(l, &cases[i]);
        measure(l, &cases[i], sim, repeats);
        nb_sim_free(sim);
    }
    if (cuda)
        evaluate(repeats);
    return 0;
}
