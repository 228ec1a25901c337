/* SPDX-License-Identifier: MIT */
/* Times the stages of a detector's noise for uint16 images of 4096 x 4096 pixels: on the
 * CPU as one panel and as 256 panels, on a device as one panel. Prints milliseconds: the
 * first image, with new memory and transforms, and the median of the next images; on a
 * device also their median by its clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/products.h"
#include "base/threads.h"
#include "image/fibre.h"
#include "image/poisson.h"
#include "lab.h"
#include "render/request.h"
#include "../support/render.h"

enum { SIDE = 16, STAGES = 7, CHAINS = 8 };

typedef struct chain {
    const char *name;
    nb_stage stages[STAGES];
    int n;
} chain;

typedef struct stage_bench {
    int pixels, repeats, threads;
    float *photons; /* the image, in host memory */
    uint16_t *out;
    nb_backend_state *state; /* a device that has rendered the scene, or NULL */
    nb_scene scene;
    nb_panel panels[SIDE * SIDE];
} stage_bench;

static void make_chains(chain chains[CHAINS], nb_fibres *fibres)
{
    const nb_stage counts = {.kind = NB_STAGE_POISSON, .seed = 1};
    const nb_stage flicker = {.kind = NB_STAGE_FLICKER, .amount = 0.9};
    const nb_stage dead = {.kind = NB_STAGE_DEADTIME, .amount = 1e-6};
    const nb_stage gauss = {
        .kind = NB_STAGE_SPREAD, .shape = NB_PSF_GAUSS, .amount = 46e-6};
    const nb_stage wide = {.kind = NB_STAGE_SPREAD, .shape = NB_PSF_GAUSS, .amount = 1e-3};
    const nb_stage fibre = {
        .kind = NB_STAGE_SPREAD, .shape = NB_PSF_FIBRE, .amount = 46e-6, .fibres = fibres};
    const nb_stage calibration = {.kind = NB_STAGE_CALIBRATION, .seed = 5, .amount = 0.03};
    const nb_stage gain = {.kind = NB_STAGE_GAIN, .amount = 1.7};
    const nb_stage readout = {.kind = NB_STAGE_READOUT, .seed = 1, .amount = 3};
    const chain all[CHAINS] = {
        {"counts", {counts}, 1},
        {"gain, calibration, read-out", {calibration, gain, readout}, 3},
        {"flicker to read-out", {flicker, dead, counts, calibration, gain, readout}, 6},
        {"psf gauss", {gauss, gain}, 2},
        {"psf gauss, 1 mm", {wide, gain}, 2},
        {"psf fibre", {fibre, gain}, 2},
        {"all, gauss", {flicker, dead, counts, gauss, calibration, gain, readout}, 7},
        {"all, fibre", {flicker, dead, counts, fibre, calibration, gain, readout}, 7}};
    memcpy(chains, all, sizeof all);
}

/** Make the scene of n equal panels, one below the other, with pixels of 75 um. */
static void cut(stage_bench *b, int n)
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

static nb_status make(stage_bench *b, const chain *c, nb_error *err)
{
    nb_product product = {.type = NB_PIXEL_U16,
                          .stages = c->n,
                          .stage = c->stages[c->n - 1],
                          .scale = 1,
                          .adc_offset = 40};
    nb_product *const at[] = {&product};
    nb_photons photons;
    nb_status st;
    memcpy(product.chain, c->stages, (size_t)c->n * sizeof *c->stages);
    if (b->state)
        return nb_backend_cuda.device->image.make(b->state, &b->scene, at, 1, err);
    photons = photons_of(b->photons, &b->scene, b->threads);
    product.pixels = b->out;
    st = nb_image_make(&photons, c->stages, c->n, &product, 1, err);
    nb_products_free(&product, 1);
    return st;
}

static double device_seconds(const stage_bench *b)
{
    nb_device_times t = {0};
    if (b->state)
        nb_backend_cuda.device->times(b->state, &t);
    return t.effects;
}

static int time_chain(stage_bench *b, const chain *c)
{
    static double next[LAB_MAX_REPEATS], device[LAB_MAX_REPEATS];
    double first = 0;
    for (int i = -1; i < b->repeats; i++) {
        const double start = nb_monotonic_seconds(), before = device_seconds(b);
        nb_error err = {0};
        if (make(b, c, &err)) {
            printf("| %d | %s | failed: %s |\n", b->scene.n_panels, c->name, err.message);
            return 1;
        }
        if (i < 0)
            first = nb_monotonic_seconds() - start;
        else {
            next[i] = nb_monotonic_seconds() - start;
            device[i] = device_seconds(b) - before;
        }
    }
    printf("| %d | %s | %.3f | %.3f |", b->scene.n_panels, c->name, 1e3 * first,
           1e3 * lab_median(next, b->repeats));
    if (b->state)
        printf(" %.3f |", 1e3 * lab_median(device, b->repeats));
    puts("");
    fflush(stdout);
    return 0;
}

static int time_chains(stage_bench *b, const chain *chains)
{
    int failed = 0;
    for (int i = 0; i < CHAINS; i++)
        failed += time_chain(b, &chains[i]);
    return failed;
}

static int on_cpu(stage_bench *b, const chain *chains)
{
    const size_t n = (size_t)b->pixels * (size_t)b->pixels;
    int failed = 0;
    b->photons = lab_memory(n * sizeof *b->photons);
    b->out = lab_memory(n * sizeof *b->out);
    for (size_t i = 0; i < n; i++) /* a dim image with some bright pixels */
        b->photons[i] = i % 997 ? 0.5f + (float)(i % 7) : 900.0f;
    for (int panels = 1; panels <= SIDE * SIDE; panels *= SIDE * SIDE) {
        cut(b, panels);
        failed += time_chains(b, chains);
    }
    free(b->photons);
    free(b->out);
    return failed;
}

static int on_device(stage_bench *b, const chain *chains)
{
    nb_config cfg = lab_config(NB_SIMPLE " -fluence 1e31");
    nb_model_inputs inputs = {.table.default_F = 100};
    nb_model model;
    nb_error err;
    int failed;
    if (!(b->state = lab_open_cuda("noise")))
        return 0;
    cfg.detpixels[0] = cfg.detpixels[1] = b->pixels;
    lab_need(nb_model_build(&cfg, &inputs, NULL, &model, &err), &err);
    lab_need(nb_render_scene(&nb_backend_cuda, b->state, &model.scene, NB_PRECISION_MIXED,
                             NULL, &err),
             &err);
    b->scene = model.scene;
    failed = time_chains(b, chains);
    nb_backend_cuda.close(b->state);
    nb_model_free(&model);
    return failed;
}

int lab_noise(const lab *l)
{
    static stage_bench b;
    const int cuda = lab_is_cuda(l);
    chain chains[CHAINS];
    nb_fibres *fibres;
    nb_error err;
    int failed;
    b.pixels = l->pixels ? l->pixels : 4096;
    b.repeats = lab_repeats(l, cuda ? 9 : 5);
    b.threads = l->threads;
    if (b.pixels < SIDE)
        lab_stop("noise: -pixels is at least 16");
    lab_need(nb_fibres_new(&fibres, &err), &err);
    make_chains(chains, fibres);
    printf("| panels | stages | first, ms | next, ms |%s\n| --- | --- | --- | --- |%s\n",
           cuda ? " by the device's clock, ms |" : "", cuda ? " --- |" : "");
    failed = cuda ? on_device(&b, chains) : on_cpu(&b, chains);
    nb_fibres_free(fibres);
    return failed;
}
