/* SPDX-License-Identifier: MIT */
/* Times of the CUDA backend: kernels by device events, warm calls through the library by
 * the wall clock, and errors of each image against double precision.  One line per case:
 *   NAME kernel_ms wall_ms rate_Gsteps maxrel rel6 1-corr
 * Word: run cases whose name contains this word; or frames; or spectrum (a table of F for
 * each of 100 wavelengths against one table); or errors (by the crystal's size). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/compare.h"
#include "image/poisson.h"
#include "render/request.h"
#include "base/threads.h"
#include "lab.h"
#include "../support/render.h"

enum { REPEATS = 15 };

typedef struct device_case {
    const char *name;
    int heavy, pixels, N, table;
    nb_precision precision;
    const char *path; /* path that the renderer must use, or NULL */
    int pinned;       /* the image's memory is pinned */
    nb_shape shape;
} device_case;

/* Words of a name: scene, pixels along an edge, N of the crystal (default 5), F, then
 * precision (mixed), shape (square), a path, or an image in pinned memory. */
static const char *const cases[] = {
    "heavy-2048-N20-const",
    "heavy-2048-N1000-const",
    "heavy-2048-N20-table",
    "heavy-2048-N1000-table",
    "heavy-2048-N5-const",
    "heavy-2048-N20-const-direct",
    "heavy-2048-N20-const-double",
    "heavy-2048-N20-const-gauss",
    "heavy-2048-N20-table-gauss",
    "heavy-2048-N100-table-gauss",
    "heavy-2048-N20-table-gauss-direct",
    "heavy-2048-N20-const-round",
    "heavy-2048-N20-table-round",
    "heavy-2048-N100-table-round",
    "heavy-2048-N20-table-round-direct",
    "heavy-2048-N20-const-tophat",
    "heavy-2048-N20-table-tophat",
    "heavy-2048-N100-table-tophat",
    "heavy-2048-N20-table-tophat-direct",
    "simple-4096-gauss",
    "simple-4096-round",
    "simple-4096-round-double",
    "simple-4096-tophat",
    "heavy-256-N20-const",
    "heavy-1024-N20-const",
    "simple-256",
    "simple-1024",
    "simple-1024-pinned",
    "simple-1024-table",
    "simple-2048",
    "simple-4096",
    "simple-4096-pinned",
};

static device_case read_case(const char *name)
{
    device_case b = {.name = name, .N = 5, .precision = NB_PRECISION_MIXED};
    char words[80];
    snprintf(words, sizeof words, "%s", name);
    b.shape = NB_SHAPE_SQUARE;
    for (char *w = strtok(words, "-"); w; w = strtok(NULL, "-"))
        if (*w >= '0' && *w <= '9')
            b.pixels = atoi(w);
        else if (*w == 'N')
            b.N = atoi(w + 1);
        else if (!strcmp(w, "direct"))
            b.path = "direct";
        else {
            b.heavy |= !strcmp(w, "heavy");
            b.table |= !strcmp(w, "table");
            b.pinned |= !strcmp(w, "pinned");
            b.precision = !strcmp(w, "double") ? NB_PRECISION_DOUBLE : b.precision;
            b.shape = !strcmp(w, "gauss")    ? NB_SHAPE_GAUSS
                      : !strcmp(w, "round")  ? NB_SHAPE_ROUND
                      : !strcmp(w, "tophat") ? NB_SHAPE_TOPHAT
                                             : b.shape;
        }
    return b;
}

static nb_config configure(const device_case *b)
{
    nb_config cfg = lab_config(b->heavy ? NB_HEAVY : NB_SIMPLE " -misset 10 20 30");
    cfg.detpixels[0] = cfg.detpixels[1] = b->pixels;
    cfg.pixel_mm = b->heavy ? 204.8 / b->pixels : 0.1;
    cfg.shape = b->shape;
    cfg.N[0] = cfg.N[1] = cfg.N[2] = b->N;
    return cfg;
}

/** Median kernel and wall times (s) of renders into image; the first two do not count. */
static int time_renders(const device_case *b, const nb_scene *sc, float *image,
                        double *kernel, double *wall, nb_error *err)
{
    nb_render_options options = {.precision = b->precision, .device_index = -1};
    nb_backend_state *state = NULL;
    double k[REPEATS], w[REPEATS];
    int i;
    nb_status st = nb_backend_cuda.open(&options, &state, err);
    /* in s; longer than the host needs to queue a render */
    const double launching = 60e-6;
    if (b->path)
        setenv("NANOBRAGG_CUDA_PATH", b->path, 1);
    for (i = -2; i < REPEATS && st == NB_OK; i++) {
        double start = nb_monotonic_seconds();
        st = nb_render_scene(&nb_backend_cuda, state, sc, b->precision, image, err);
        if (i >= 0)
            w[i] = nb_monotonic_seconds() - start;
        if (st == NB_OK) {
            nb_cuda_hold(state, launching);
            st = nb_render_scene(&nb_backend_cuda, state, sc, b->precision, image, err);
        }
        if (i >= 0)
            k[i] = nb_cuda_kernel_seconds(state);
    }
    unsetenv("NANOBRAGG_CUDA_PATH");
    nb_backend_cuda.close(state);
    if (st != NB_OK)
        return 0;
    *kernel = lab_median(k, REPEATS);
    *wall = lab_median(w, REPEATS);
    return 1;
}

/** Renders once on the device. */
static int render(const nb_scene *sc, nb_precision precision, float *image, nb_error *err)
{
    nb_render_options options = {
        .isa = NB_ISA_AUTO, .precision = precision, .device_index = -1};
    nb_backend_state *state = NULL;
    int ok = nb_backend_cuda.open(&options, &state, err) == NB_OK &&
             nb_render_scene(&nb_backend_cuda, state, sc, precision, image, err) == NB_OK;
    nb_backend_cuda.close(state);
    return ok;
}

static int run(const device_case *b)
{
    nb_model_inputs inputs;
    nb_config cfg = configure(b);
    nb_model model;
    nb_error err;
    nb_comparison c;
    double kernel, wall, *F;
    size_t n = (size_t)b->pixels * b->pixels;
    float *image =
        b->pinned ? nb_cuda_pinned(n * sizeof *image) : malloc(n * sizeof *image);
    float *truth = malloc(n * sizeof *truth);
    int ok = 0;
    memset(&inputs, 0, sizeof inputs);
    inputs.table.default_F = 100;
    F = b->table ? lab_random_F(&inputs.table, 100, 1) : NULL;
    if (image && truth && nb_model_build(&cfg, &inputs, NULL, &model, &err) == NB_OK) {
        ok = time_renders(b, &model.scene, image, &kernel, &wall, &err) &&
             render(&model.scene, NB_PRECISION_DOUBLE, truth, &err);
        if (ok) {
            c = nb_compare(image, truth, n, 1e-6);
            printf("%-30s %9.4f %9.4f %7.1f %8.1e %8.1e %8.1e\n", b->name, kernel * 1e3,
                   wall * 1e3, (double)model.scene.samples * (double)n / kernel * 1e-9,
                   c.maxrel, c.rel6, c.corr);
        }
        nb_model_free(&model);
    }
    if (!ok)
        printf("%-30s failed: %s\n", b->name, err.message);
    fflush(stdout);
    if (b->pinned)
        nb_cuda_pinned_free(image);
    else
        free(image);
    free(truth);
    free(F);
    return ok;
}

/** Time renders with one table of F, and with a table for each wavelength. */
static int spectrum_pair(const lab_spectrum_case *c, float *image, float *truth)
{
    static lab_spectrum s;
    const device_case b = read_case("spectrum");
    double kernel[2] = {NAN, NAN}, wall[2] = {NAN, NAN};
    const size_t n = (size_t)c->pixels * c->pixels;
    nb_error err = {0};
    int k, ok = 1;
    lab_spectrum_make(c, &s);
    for (k = 0; k < 2 && ok; k++) {
        const nb_model_inputs in = k ? s.inputs : lab_one_table(&s);
        nb_model model;
        ok = nb_model_build(&s.cfg, &in, NULL, &model, &err) == NB_OK;
        if (!ok)
            break;
        ok = time_renders(&b, &model.scene, image, &kernel[k], &wall[k], &err) &&
             render(&model.scene, NB_PRECISION_DOUBLE, truth, &err);
        if (ok) {
            nb_comparison d = nb_compare(image, truth, n, 1e-6);
            printf("spectrum-%d-%d-domains-%-3d-tables %9.4f %9.4f %7.1f %8.1e %8.1e "
                   "%8.1e\n",
                   c->pixels, c->domains, k ? c->tables : 1, kernel[k] * 1e3,
                   wall[k] * 1e3,
                   (double)model.scene.samples * (double)n / kernel[k] * 1e-9, d.maxrel,
                   d.rel6, d.corr);
        }
        nb_model_free(&model);
    }
    if (ok)
        printf("# %d tables and one: kernels %.3f, calls %.3f times (limit 1.15)\n",
               c->tables, kernel[1] / kernel[0], wall[1] / wall[0]);
    else
        printf("spectrum failed: %s\n", err.message);
    fflush(stdout);
    free(s.F);
    return ok;
}

static int spectra(void)
{
    static const lab_spectrum_case all[] = {{100, 100, 1024, 1, 1, 50},
                                            {100, 100, 2048, 1, 1, 50},
                                            {100, 100, 2048, 10, 1, 50},
                                            {100, 10, 2048, 10, 1, 50}};
    const size_t n = (size_t)2048 * 2048;
    float *image = malloc(n * sizeof *image), *truth = malloc(n * sizeof *truth);
    int ok = image && truth;
    for (size_t i = 0; ok && i < sizeof all / sizeof *all; i++)
        ok = spectrum_pair(&all[i], image, truth);
    free(image);
    free(truth);
    return ok;
}

/** Print errors of mixed precision for the heavy case with a table and N cells. */
static int errors_at(int N)
{
    device_case b = read_case("heavy-512-table");
    const size_t n = (size_t)b.pixels * b.pixels;
    float *image = malloc(n * sizeof *image), *truth = malloc(n * sizeof *truth);
    nb_model_inputs inputs;
    nb_config cfg;
    nb_model model;
    nb_error err;
    double *F;
    int ok = 0;
    b.N = N;
    cfg = configure(&b);
    memset(&inputs, 0, sizeof inputs);
    F = lab_random_F(&inputs.table, 100, 1);
    printf("| %d |", N);
    if (image && truth && nb_model_build(&cfg, &inputs, NULL, &model, &err) == NB_OK) {
        ok = render(&model.scene, NB_PRECISION_DOUBLE, truth, &err);
        ok = ok && render(&model.scene, NB_PRECISION_MIXED, image, &err);
        const nb_comparison c = nb_compare(image, truth, n, N >= 300 ? 1e-4 : 1e-6);
        printf(" %.1e | %.1e | %.1e |", c.maxrel, c.rel6, c.sum);
        nb_model_free(&model);
    }
    puts(ok ? "" : " failed");
    free(image);
    free(truth);
    free(F);
    return ok;
}

static int errors(void)
{
    static const int sizes[] = {1, 2, 5, 10, 20, 50, 100, 101, 300, 1000, 3000, 10000};
    size_t i;
    int failed = 0;
    puts("| N | mixed: maxrel | rel6 | sum |");
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
        failed += !errors_at(sizes[i]);
    return failed;
}

/** Print frames with noise per second, as in a series: every frame has another scene. */
static int frames(void)
{
    enum { FRAMES = 2000 };
    const device_case b = read_case("simple-1024-pinned");
    const size_t bytes = (size_t)b.pixels * b.pixels * sizeof(uint16_t);
    const nb_image_device *device = &nb_backend_cuda.device->image;
    nb_render_options options = {.precision = b.precision, .device_index = -1};
    nb_product made = {
        .type = NB_PIXEL_U16, .stages = 1, .stage = {.kind = NB_STAGE_POISSON, .seed = 1}};
    nb_product *const products[] = {&made};
    nb_backend_state *state = NULL;
    uint16_t *image = nb_cuda_pinned(bytes);
    nb_model_inputs inputs;
    nb_config cfg = configure(&b);
    nb_model model;
    nb_error err;
    int k, ok;
    memset(&inputs, 0, sizeof inputs);
    inputs.table.default_F = 100;
    cfg.fluence = 1e31;
    ok = image && nb_model_build(&cfg, &inputs, NULL, &model, &err) == NB_OK;
    if (ok) {
        double start = nb_monotonic_seconds();
        ok = nb_backend_cuda.open(&options, &state, &err) == NB_OK;
        for (k = -20; k < FRAMES && ok; k++) {
            start = k == 0 ? nb_monotonic_seconds() : start;
            made.stage.seed++;
            model.scene.intensity_scale *= 1 + 1e-6;
            ok = nb_render_scene(&nb_backend_cuda, state, &model.scene, b.precision, NULL,
                                 &err) == NB_OK &&
                 device->make(state, &model.scene, products, 1, &err) == NB_OK &&
                 device->fetch(state, 0, 0, b.pixels, image, &err) == NB_OK;
        }
        printf("frames of 1024x1024 with noise, in the host's memory: %.0f a second%s\n",
               FRAMES / (nb_monotonic_seconds() - start), ok ? "" : " (failed)");
        nb_backend_cuda.close(state);
        nb_model_free(&model);
    }
    nb_cuda_pinned_free(image);
    return ok;
}

int lab_device(const lab *l)
{
    const char *only = lab_word(l, 0, "");
    const double start = nb_monotonic_seconds();
    nb_backend_state *state = lab_open_cuda("device");
    int failed = 0;
    if (!state)
        return 0;
    if (strcmp(only, "errors") == 0)
        failed = errors();
    else {
        printf("# first start of the device: %.1f ms\n",
               (nb_monotonic_seconds() - start) * 1e3);
        printf("%-30s %9s %9s %7s %8s %8s %8s\n", "case", "kernel_ms", "wall_ms",
               "Gstep/s", "maxrel", "rel6", "1-corr");
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (strstr(cases[i], only)) {
                const device_case b = read_case(cases[i]);
                failed += !run(&b);
            }
        failed += strstr("frames", only) && !frames();
        failed += strstr("spectrum", only) && !spectra();
    }
    nb_backend_cuda.close(state);
    return failed;
}
