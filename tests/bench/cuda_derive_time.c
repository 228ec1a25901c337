/* SPDX-License-Identifier: MIT */
/* Time of derivatives on CUDA beside the image alone: kernels by the device's clock, whole calls by the wall clock.
 *   cuda_derive_time [--repeats N] [--only TEXT]        TEXT: rows whose name has it
 * A markdown table of medians.  `skip` with the reason where there is no device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cuda/backend/timing.h"
#include "sim/derive.h"
#include "base/clock.h"
#include "median.h"

enum { MOST_REPEATS = 101 };

typedef struct time_case {
    const char *name, *list;
    int steps, pixels; /* steps: of each pixel; 1000, 50 or 1 */
    const char *N;
} time_case;

#define CRYSTAL "rot,cell,N"
#define ALL                                                                              \
    "rot,cell,N,mosaic,phi,osc,lambda,dispersion,distance,Xbeam,Ybeam,tilt,shift,polar," \
    "fluence"
static const time_case cases[] = {{"orientation", "rot", 1000, 2048, "20"},
                                  {"cell, orientation, N", CRYSTAL, 1000, 2048, "20"},
                                  {"the same, N not whole", CRYSTAL, 1000, 2048, "20.3"},
                                  {"and mosaic, geometry, beam", ALL, 1000, 2048, "20"},
                                  {"fifty steps a pixel", CRYSTAL, 50, 2048, "20"},
                                  {"fifty steps, all", ALL, 50, 2048, "20"},
                                  {"one step a pixel", CRYSTAL, 1, 4096, "5"},
                                  {"one step, all", ALL, 1, 2048, "5"}};

typedef struct lap {
    double kernel[MOST_REPEATS], wall[MOST_REPEATS];
} lap;

static void stop(const char *what)
{
    fprintf(stderr, "cuda_derive_time: %s\n", what);
    exit(1);
}

static void set(nb_config *cfg, const char *name, const char *text)
{
    nb_error err;
    if (nb_config_set(cfg, name, text, &err) != NB_OK)
        stop(err.message);
}

static nb_sim *simulation(const time_case *c, nb_error *err)
{
    static const char *const heavy[][2] = {{"cell", "70 80 90 75 85 95"},
                                           {"misset", "10 20 30"},
                                           {"mosaic", "0.5"},
                                           {"mosaic_domains", "100"},
                                           {"dispersion", "1"},
                                           {"dispsteps", "10"},
                                           {"lambda", "1"}};
    static const char *const light[][2] = {{"cell", "100 100 100 90 90 90"},
                                           {"lambda", "6.2"}};
    static const char *const both[][2] = {{"default_F", "100"},
                                          {"distance", "100"},
                                          {"pixel", "0.1"},
                                          {"oversample", "1"},
                                          {"device", "cuda"}};
    size_t n = c->steps > 1 ? sizeof heavy / sizeof *heavy : sizeof light / sizeof *light;
    char pixels[20];
    nb_config cfg;
    nb_sim *sim;
    nb_config_defaults(&cfg);
    for (size_t i = 0; i < n; i++)
        set(&cfg, (c->steps > 1 ? heavy : light)[i][0],
            (c->steps > 1 ? heavy : light)[i][1]);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        set(&cfg, both[i][0], both[i][1]);
    if (c->steps == 50)
        set(&cfg, "mosaic_domains", "5");
    snprintf(pixels, sizeof pixels, "%d", c->pixels);
    set(&cfg, "detpixels", pixels);
    set(&cfg, "N", c->N);
    return nb_sim_create(&cfg, NULL, &sim, err) == NB_OK ? sim : NULL;
}

static double median_ms(double *x, int n)
{
    return 1e3 * bench_median(x, n);
}

static void take(lap *to, int i, double start, const nb_sim *sim)
{
    to->wall[i] = nb_monotonic_seconds() - start;
    to->kernel[i] = nb_cuda_kernel_seconds(sim->state);
}

static void check(nb_status st, const nb_error *err)
{
    if (st != NB_OK)
        stop(err->message);
}

static void measure(const time_case *c, nb_sim *sim, int repeats)
{
    static lap image, planes, pull, fit;
    char(*names)[NB_VARIABLE_NAME];
    const char *list[NB_VARIABLES_MAX];
    const size_t pixels = (size_t)c->pixels * (size_t)c->pixels;
    float *out, *photons = malloc(pixels * sizeof *photons);
    const nb_observation seen = {.photons = photons};
    double gradient[NB_VARIABLES_MAX], loss, *matrix, base;
    nb_error err;
    int count;
    check(nb_sim_variables(sim, c->list, &names, &count, &err), &err);
    out = calloc(pixels * (size_t)count, sizeof *out);
    matrix = calloc((size_t)count * (size_t)count, sizeof *matrix);
    if (!photons || !out || !matrix)
        stop("not enough memory");
    for (int i = 0; i < count; i++)
        list[i] = names[i];
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        int k = i < 0 ? 0 : i;
        double t = nb_monotonic_seconds();
        check(nb_sim_render(sim, photons, NULL, &err), &err);
        take(&image, k, t, sim);
        t = nb_monotonic_seconds();
        check(nb_sim_derivatives(sim, list, count, NB_REAL_FLOAT32, out, NULL, &err),
              &err);
        take(&planes, k, t, sim);
        t = nb_monotonic_seconds();
        check(nb_sim_pullback(sim, list, count, NB_REAL_FLOAT32, photons, gradient, NULL,
                              &err),
              &err);
        take(&pull, k, t, sim);
        t = nb_monotonic_seconds();
        check(nb_sim_normal(sim, list, count, &seen, &loss, gradient, matrix, &err), &err);
        take(&fit, k, t, sim);
    }
    base = median_ms(image.kernel, repeats);
    printf(
        "| %s | %d | %d | %.3f | %.3f (%.2f) | %.3f (%.2f) | %.3f (%.2f) | %.2f | %.2f | "
        "%.2f | %.2f |\n",
        c->name, count, c->pixels, base, median_ms(planes.kernel, repeats),
        median_ms(planes.kernel, repeats) / base, median_ms(pull.kernel, repeats),
        median_ms(pull.kernel, repeats) / base, median_ms(fit.kernel, repeats),
        median_ms(fit.kernel, repeats) / base, median_ms(image.wall, repeats),
        median_ms(planes.wall, repeats), median_ms(pull.wall, repeats),
        median_ms(fit.wall, repeats));
    fflush(stdout);
    free(out);
    free(photons);
    free(matrix);
    nb_free(names);
}

/** One evaluation of a fit, as `nanobragg refine` makes them: new values, then the normal equations of the pixels that
 * are bright, and of one in twenty. */
static void evaluate(int repeats)
{
    enum { EDGE = 512 };
    static const char *const words[][2] = {{"cell", "79.1 79.1 37.9 90 90 90"},
                                           {"misset", "10 20 30"},
                                           {"Na", "12.3"},
                                           {"Nb", "11.2"},
                                           {"Nc", "18.4"},
                                           {"mosaic", "0.05"},
                                           {"mosaic_domains", "5"},
                                           {"default_F", "100"},
                                           {"fluence", "2e26"},
                                           {"lambda", "1"},
                                           {"distance", "113.7"},
                                           {"pixel", "0.2"},
                                           {"detpixels", "512"},
                                           {"oversample", "1"},
                                           {"water", "0.3"},
                                           {"device", "cuda"}};
    static const char *const names[] = {"rot_x",  "rot_y",  "rot_z",   "cell_a",
                                        "cell_b", "cell_c", "N_a",     "N_b",
                                        "N_c",    "mosaic", "fluence", "water"};
    enum { COUNT = sizeof names / sizeof *names };
    static float image[EDGE * EDGE], photons[EDGE * EDGE];
    static lap fit;
    nb_slope_pixels pixels;
    double gradient[COUNT], matrix[COUNT * COUNT], loss, mean = 0;
    const nb_observation seen = {.photons = photons};
    nb_config cfg;
    nb_sim *sim;
    nb_error err;
    int used = 0;
    nb_config_defaults(&cfg);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        set(&cfg, words[i][0], words[i][1]);
    check(nb_sim_create(&cfg, NULL, &sim, &err), &err);
    check(nb_sim_render(sim, image, NULL, &err), &err);
    for (int i = 0; i < EDGE * EDGE; i++)
        mean += (double)image[i] / (EDGE * EDGE);
    for (int i = 0; i < EDGE * EDGE; i++) {
        photons[i] = image[i] > mean || i % 20 == 0 ? image[i] : (float)NAN;
        used += !isnan(photons[i]);
    }
    check(nb_sim_observe(sim, &seen, &pixels, &err), &err);
    for (int i = -1; i < repeats; i++) {
        const double value = 1e-4 * (i + 2), t = nb_monotonic_seconds();
        check(nb_sim_set_parameters(sim, names, &value, 1, &err), &err);
        check(nb_sim_normal_at(sim, names, COUNT, &seen, &pixels, &loss, gradient, matrix,
                               &err),
              &err);
        take(&fit, i < 0 ? 0 : i, t, sim);
    }
    printf("one evaluation of a fit, %d parameters, %d of %d pixels: kernels %.3f ms, "
           "all %.3f ms\n",
           (int)COUNT, used, EDGE * EDGE, median_ms(fit.kernel, repeats),
           median_ms(fit.wall, repeats));
    nb_slope_pixels_free(&pixels);
    nb_sim_free(sim);
}

int main(int argc, char **argv)
{
    const char *only = "";
    int repeats = 11, first = 1;
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "--repeats"))
            repeats = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--only"))
            only = argv[i + 1];
    if (repeats < 1 || repeats > MOST_REPEATS)
        stop("usage: cuda_derive_time [--repeats N] [--only TEXT]");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_error err;
        nb_sim *sim;
        if (!strstr(cases[i].name, only))
            continue;
        sim = simulation(&cases[i], &err);
        if (!sim) {
            printf("skip cuda-derive-time # %s\n", err.message);
            return 0;
        }
        if (first)
            printf("Kernels, ms (ratio to the image's); whole calls, ms\n"
                   "| parameters | number | edge | image | planes | pullback | normal "
                   "equations | image, call | planes, call | pullback, call | normal "
                   "equations, call |\n| --- | --- | --- | --- | --- | --- | --- | --- | "
                   "--- "
                   "| --- | --- |\n");
        first = 0;
        measure(&cases[i], sim, repeats);
        nb_sim_free(sim);
    }
    evaluate(repeats);
    return 0;
}
