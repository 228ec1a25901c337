/* SPDX-License-Identifier: MIT */
/* Time of the stages of a detector's noise on the CPU, uint16 of 4096x4096 pixels as one panel and as 256:
 *   NAME first_s next_s
 * (the first image, with memory and transforms, and the median of the next ones).
 * noise_time [--pixels 4096] [--repeats 5] [--threads 0] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/products.h"
#include "image/fibre.h"
#include "base/clock.h"
#include "median.h"

enum { MOST = 100, SIDE = 16 };

typedef struct bench {
    int pixels, repeats, threads;
    float *photons;
    uint16_t *out;
    nb_fibres *fibres;
    nb_scene scene;
    nb_panel panels[SIDE * SIDE];
} bench;

/** n panels of equal size below each other, of pixels of 75 um. */
static void cut(bench *b, int n)
{
    const int columns = n == 1 ? b->pixels : b->pixels / SIDE, rows = columns;
    nb_raster *raster = &b->scene.raster;
    memset(&b->scene, 0, sizeof b->scene);
    for (int k = 0; k < n; k++)
        b->panels[k] =
            (nb_panel){.columns = columns,
                       .rows = rows,
                       .first_row = k * rows,
                       .first_pixel = (size_t)k * (size_t)rows * (size_t)columns,
                       .pixel_fast = 75e-6,
                       .pixel_slow = 75e-6};
    b->scene.panels = b->panels;
    b->scene.n_panels = n;
    raster->columns = columns;
    raster->rows = n * rows;
    raster->pixels = (size_t)n * (size_t)rows * (size_t)columns;
    raster->roi = (nb_region){0, columns - 1, 0, n * rows - 1};
}

static int time_one(bench *b, const char *name, const nb_stage *stages, int n)
{
    nb_photons photons = photons_of(b->photons, &b->scene, b->threads);
    double next[MOST] = {0}, first = 0;
    for (int i = -1; i < b->repeats; i++) {
        nb_product p = {.type = NB_PIXEL_U16,
                        .stages = n,
                        .scale = 1,
                        .adc_offset = 40,
                        .pixels = b->out};
        nb_error err = {0};
        double start = nb_monotonic_seconds();
        nb_status st = nb_image_make(&photons, stages, n, &p, 1, &err);
        nb_products_free(&p, 1);
        if (st) {
            printf("%-32s failed: %s\n", name, err.message);
            return 1;
        }
        if (i < 0)
            first = nb_monotonic_seconds() - start;
        else
            next[i] = nb_monotonic_seconds() - start;
    }
    qsort(next, (size_t)b->repeats, sizeof *next, bench_by_value);
    printf("%3d panels %-32s %8.3f %8.3f\n", b->scene.n_panels, name, first,
           next[b->repeats / 2]);
    fflush(stdout);
    return 0;
}

static int time_stages(bench *b)
{
    const nb_stage counts = {.kind = NB_STAGE_POISSON, .seed = 1};
    const nb_stage gauss = {
        .kind = NB_STAGE_SPREAD, .shape = NB_PSF_GAUSS, .amount = 46e-6};
    const nb_stage fibre = {.kind = NB_STAGE_SPREAD,
                            .shape = NB_PSF_FIBRE,
                            .amount = 46e-6,
                            .fibres = b->fibres};
    const nb_stage calibration = {.kind = NB_STAGE_CALIBRATION, .seed = 5, .amount = 0.03};
    const nb_stage gain = {.kind = NB_STAGE_GAIN, .amount = 1.7};
    const nb_stage readout = {.kind = NB_STAGE_READOUT, .seed = 1, .amount = 3};
    int failed = 0;
#define TIME(name, ...)                                                                  \
    do {                                                                                 \
        const nb_stage s[] = {__VA_ARGS__};                                              \
        failed += time_one(b, name, s, (int)(sizeof s / sizeof *s));                     \
    } while (0)
    TIME("counts", counts);
    TIME("gain, calibration, read-out", calibration, gain, readout);
    TIME("psf gauss", gauss, gain);
    TIME("psf fibre", fibre, gain);
    TIME("counts, gauss and the rest", counts, gauss, calibration, gain, readout);
#undef TIME
    return failed;
}

int main(int argc, char **argv)
{
    static bench b = {.pixels = 4096, .repeats = 5};
    size_t n;
    int failed;
    for (int i = 1; i + 1 < argc; i += 2) {
        int *to = !strcmp(argv[i], "--pixels")    ? &b.pixels
                  : !strcmp(argv[i], "--repeats") ? &b.repeats
                  : !strcmp(argv[i], "--threads") ? &b.threads
                                                  : NULL;
        if (!to) {
            fprintf(stderr,
                    "usage: noise_time [--pixels N] [--repeats N] [--threads N]\n");
            return 2;
        }
        *to = atoi(argv[i + 1]);
    }
    if (b.pixels < SIDE || b.repeats < 1 || b.repeats > MOST)
        return 2;
    n = (size_t)b.pixels * (size_t)b.pixels;
    b.photons = malloc(n * sizeof *b.photons);
    b.out = malloc(n * sizeof *b.out);
    if (!b.photons || !b.out || nb_fibres_new(&b.fibres, NULL) != NB_OK)
        return 1;
    for (size_t i = 0; i < n; i++) /* a dim image with bright pixels in it */
        b.photons[i] = i % 997 ? 0.5f + (float)(i % 7) : 900.0f;
    cut(&b, 1);
    failed = time_stages(&b);
    cut(&b, SIDE * SIDE);
    failed += time_stages(&b);
    nb_fibres_free(b.fibres);
    free(b.photons);
    free(b.out);
    return failed != 0;
}
