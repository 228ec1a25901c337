/* SPDX-License-Identifier: MIT */
/* Compare noise, integers, greys and statistics that the device makes of an image, and the
 * stages of a detector's noise, with those that src/image makes of the same floats: every
 * pixel and every bit (but for the fibres' point spread: chain_check.h). Also compare
 * the noise of `mixed` images with that of the double kernel. Random and extreme scenes,
 * with means from 1e-3 to 1e11. Prints `skip` with the reason if there is no device.
 * cuda_products [--seed N] [--count N] [-v] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "chain_check.h"
#include "../support/products.h"
#include "image/poisson.h"
#include "../../cuda/backend/host.h"
#include "render/request.h"
#include "../support/render.h"

enum { DECADES = 15, LOWEST = -3, BRIGHT = 100000 /* photons */ };

typedef struct session {
    uint64_t seed;
    int count, verbose;
    nb_backend_state *state, *in_double;
    int64_t counted, off_by_one, off_by_more; /* counts of `mixed` compared with double */
    /* sum of the differences of the floats of `mixed` and double */
    double apart;
    int images, wrong;
    int64_t pixels;
    int64_t decades[DECADES]; /* compared noise pixels by their mean */
    chain_tally chains;
} session;

static size_t pixels_of(const nb_scene *sc)
{
    return (size_t)sc->raster.columns * (size_t)sc->raster.rows;
}

static int lit(const nb_raster *raster, size_t i)
{
    int f = (int)(i % (size_t)raster->columns), s = (int)(i / (size_t)raster->columns);
    return f >= raster->roi.fmin && f <= raster->roi.fmax && s >= raster->roi.smin &&
           s <= raster->roi.smax;
}

/** Makes the product p by the CPU in `out`; returns the number of clipped pixels. */
static int64_t expected(const nb_scene *sc, const float *image, const nb_product *p,
                        void *out)
{
    nb_product ours = *p;
    nb_error err;
    ours.pixels = out;
    if (make_one(image, sc, 0, p->stages ? &p->stage : NULL, &ours, &err) != NB_OK) {
        printf("# %s\n", err.message);
        exit(1);
    }
    return ours.overloads;
}

/** Makes n products in order on the device. */
static nb_status make(nb_backend_state *state, const nb_scene *sc, nb_product *products,
                      int n, nb_error *err)
{
    nb_product *at[NB_PRODUCTS_MAX];
    int i;
    for (i = 0; i < n; i++)
        at[i] = &products[i];
    return nb_backend_cuda.device->image.make(state, sc, at, n, err);
}

static void wrong(session *ss, const check_case *c, const char *what, size_t at)
{
    if (ss->wrong++ < 10) {
        printf("# %s: %s differ, first at %zu\n", c->name, what, at);
        check_print_case(stdout, c);
    }
}

static void compare(session *ss, const check_case *c, const char *what, const char *a,
                    const char *b, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        if (a[i] != b[i]) {
            wrong(ss, c, what, i);
            return;
        }
}

/** Copies product i from the device: whole, or in bands through the renderer's memory. */
static int fetch(nb_backend_state *state, const nb_scene *sc, int i, size_t row, int band,
                 char *out, nb_error *err)
{
    const nb_image_device *device = &nb_backend_cuda.device->image;
    int rows = sc->raster.rows, s;
    if (band <= 0)
        return device->fetch(state, i, 0, rows, out, err) == NB_OK;
    for (s = 0; s < rows; s += band) {
        int count = rows - s < band ? rows - s : band;
        char *lent = device->take(state, row * (size_t)count);
        if (device->fetch(state, i, s, count, lent ? lent : out + (size_t)s * row, err) !=
            NB_OK)
            return 0;
        if (lent) {
            memcpy(out + (size_t)s * row, lent, row * (size_t)count);
            device->give(state, lent);
        }
    }
    return 1;
}

/** Chooses the products to make. */
static void choose(check_rng *rng, double brightest, nb_product made[NB_PRODUCTS_MAX])
{
    static const double offsets[] = {40, 0, 0.4999, -7.3, 65000, 1e9};
    static const struct {
        nb_pixel_type type;
        int stages;
    } kinds[2][NB_PRODUCTS_MAX] = {
        {{NB_PIXEL_U16, 1}, {NB_PIXEL_U16, 0}, {NB_PIXEL_U8, 0}, {NB_PIXEL_I32, 1}},
        {{NB_PIXEL_I32, 1}, {NB_PIXEL_I32, 0}, {NB_PIXEL_U16, 0}, {NB_PIXEL_U16, 1}}};
    int which = check_below(rng, 2), i;
    memset(made, 0, NB_PRODUCTS_MAX * sizeof *made);
    for (i = 0; i < NB_PRODUCTS_MAX; i++) {
        nb_stage *stage = &made[i].stage;
        double range = kinds[which][i].type == NB_PIXEL_U8 ? 250 : 55000;
        made[i].type = kinds[which][i].type;
        made[i].stages = kinds[which][i].stages;
        made[i].scale = check_below(rng, 2) ? range / brightest : 1;
        made[i].adc_offset = offsets[check_below(rng, 6)];
        stage->seed = check_below(rng, 4) ? check_below(rng, 1 << 30) : -3;
        stage->frame = (uint32_t)check_below(rng, 3);
        made[i].overloads = -1;
    }
}

static void count_decades(session *ss, const nb_scene *sc, const float *image)
{
    size_t n = pixels_of(sc), i;
    for (i = 0; i < n; i++) {
        int d = image[i] > 0 ? (int)floor(log10(image[i])) - LOWEST : 0;
        ss->decades[d < 0 ? 0 : d >= DECADES ? DECADES - 1 : d] += lit(&sc->raster, i);
    }
}

static void check_sums(session *ss, const check_case *c, const nb_scene *sc,
                       const float *image, nb_error *err)
{
    int rows = sc->raster.roi.smax - sc->raster.roi.smin + 1;
    nb_row_sums *sums = calloc((size_t)rows + 1, sizeof *sums);
    nb_stats here, there;
    if (nb_backend_cuda.device->image.sums(ss->state, sc, sums, err) != NB_OK) {
        wrong(ss, c, err->message, 0);
    } else {
        statistics_of(image, sc, 0, &here);
        nb_statistics_of_rows(sums, sc, &there);
        compare(ss, c, "statistics", (char *)&here, (char *)&there, sizeof here);
    }
    free(sums);
}

static const char *name_of(const nb_product *p)
{
    return p->type == NB_PIXEL_U8    ? "greys"
           : p->type == NB_PIXEL_I32 ? p->stages ? "noise32" : "int32"
           : p->stages               ? "noise16"
                                     : "int16";
}

static void check_products(session *ss, const check_case *c, const nb_scene *sc,
                           const float *image, check_rng *rng, nb_error *err)
{
    nb_product made[NB_PRODUCTS_MAX];
    size_t n = pixels_of(sc), i;
    char *ours = malloc(4 * n + 1), *cpu = malloc(4 * n + 1);
    double brightest = 1e-300;
    int k;
    for (i = 0; i < n; i++)
        brightest = image[i] > brightest ? image[i] : brightest;
    choose(rng, brightest, made);
    if (make(ss->state, sc, made, NB_PRODUCTS_MAX, err) != NB_OK)
        wrong(ss, c, err->message, 0);
    for (k = 0; k < NB_PRODUCTS_MAX; k++) {
        size_t size = nb_pixel_bytes(made[k].type);
        int64_t overloads = expected(sc, image, &made[k], cpu);
        if (!fetch(ss->state, sc, k, size * (size_t)sc->raster.columns,
                   check_below(rng, 4) * 3, ours, err))
            wrong(ss, c, err->message, 0);
        compare(ss, c, name_of(&made[k]), ours, cpu, n * size);
        if (made[k].overloads != overloads)
            wrong(ss, c, "overloads", 0);
        ss->images++;
        ss->pixels += (int64_t)n;
        if (made[k].type == NB_PIXEL_U16 && made[k].stages)
            count_decades(ss, sc, image);
    }
    free(ours);
    free(cpu);
}

/** Compares the counts of the image in double with counts of the `mixed` image: counts
 * follow the floats. Only pixels whose floats differ by less than a photon are compared:
 * counts of brighter pixels differ by more than 1. */
static void compare_counts(session *ss, const check_case *c, const nb_scene *sc,
                           const float *image, nb_error *err)
{
    nb_product made = {.type = NB_PIXEL_I32,
                       .stages = 1,
                       .stage = {.kind = NB_STAGE_POISSON, .seed = 17, .frame = 1}};
    size_t n = pixels_of(sc), row = sizeof(int32_t) * (size_t)sc->raster.columns, i;
    int32_t *mixed = malloc(4 * n + 1), *exact = malloc(4 * n + 1);
    float *in_double = malloc(4 * n + 1);
    if (make(ss->state, sc, &made, 1, err) != NB_OK ||
        !fetch(ss->state, sc, 0, row, 0, (char *)mixed, err) ||
        nb_render_scene(&nb_backend_cuda, ss->in_double, sc, NB_PRECISION_DOUBLE,
                        in_double, err) != NB_OK ||
        make(ss->in_double, sc, &made, 1, err) != NB_OK ||
        !fetch(ss->in_double, sc, 0, row, 0, (char *)exact, err))
        wrong(ss, c, err->message, 0);
    else
        for (i = 0; i < n; i++)
            if (lit(&sc->raster, i) && image[i] > 0 && image[i] < BRIGHT) {
                const int64_t off = llabs((int64_t)mixed[i] - exact[i]);
                ss->counted++;
                ss->off_by_one += off == 1;
                ss->off_by_more += off > 1;
                ss->apart += fabs((double)image[i] - in_double[i]);
            }
    free(mixed);
    free(exact);
    free(in_double);
}

/** Checks three random chains of noise stages for an image. */
static void check_chains(session *ss, const check_case *c, const nb_scene *sc,
                         const float *image, check_rng *rng)
{
    char why[600];
    for (int i = 0; i < 3; i++) {
        check_chain(&nb_backend_cuda, ss->state, sc, image, rng, &ss->chains, why,
                    sizeof why);
        if (why[0])
            wrong(ss, c, why, 0);
    }
}

/** Makes the scene so small that rendering takes no time. */
static void shrink(nb_scene *sc)
{
    nb_region *roi = &sc->raster.roi;
    double a_pixel = (double)sc->samples * sc->sensors->layers, limit = 2e9;
    int rows = (int)fmax(1, limit / a_pixel / (roi->fmax - roi->fmin + 1));
    if (roi->smax - roi->smin + 1 > rows)
        roi->smax = roi->smin + rows - 1;
}

static void run_case(session *ss, const check_case *c, int index)
{
    check_rng rng = {ss->seed * 1000003u + (uint64_t)index};
    nb_model model;
    nb_error err = {0};
    nb_scene *sc = &model.scene;
    float *image;
    if (nb_model_build(&c->cfg, &c->inputs, NULL, &model, &err) != NB_OK)
        return;
    shrink(sc);
    image = malloc((pixels_of(sc) + 1) * sizeof *image);
    /* the scene is rendered once to measure its brightness, then at the required
     * brightness */
    if (nb_render_scene(&nb_backend_cuda, ss->state, sc, NB_PRECISION_MIXED, image,
                        &err) != NB_OK) {
        wrong(ss, c, err.message, 0);
    } else {
        nb_stats s;
        double target = pow(10, check_uniform(&rng, LOWEST, LOWEST + DECADES - 1));
        statistics_of(image, sc, 0, &s);
        sc->intensity_scale *= s.max > 0 ? target / s.max : 1;
        if (nb_render_scene(&nb_backend_cuda, ss->state, sc, NB_PRECISION_MIXED, NULL,
                            &err) != NB_OK ||
            !fetch(ss->state, sc, -1, 0, 0, (char *)image, &err)) {
            wrong(ss, c, err.message, 0);
        } else {
            check_products(ss, c, sc, image, &rng, &err);
            check_sums(ss, c, sc, image, &err);
            check_chains(ss, c, sc, image, &rng);
            compare_counts(ss, c, sc, image, &err);
        }
    }
    free(image);
    nb_model_free(&model);
}

static int parse(session *o, int argc, char **argv)
{
    int i;
    o->count = getenv("NB_BIG") ? 2000 : 200;
    o->seed = 1;
    for (i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "-v") == 0)
            o->verbose = 1;
        else if (strcmp(argv[i], "--seed") == 0 && ++i)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && ++i)
            o->count = atoi(value);
        else
            return 0;
    }
    return 1;
}

static void print_chains(const chain_tally *t)
{
    printf("# stages: %d images, %lld pixels, %d runs differ; with counts %d, flicker "
           "%d, dead "
           "time %d, spread %d, calibration %d, gain map %d, read-out %d\n",
           t->images, (long long)t->pixels, t->wrong, t->stages[NB_STAGE_POISSON],
           t->stages[NB_STAGE_FLICKER], t->stages[NB_STAGE_DEADTIME],
           t->stages[NB_STAGE_SPREAD], t->stages[NB_STAGE_CALIBRATION],
           t->stages[NB_STAGE_GAINMAP], t->stages[NB_STAGE_READOUT]);
    printf("# fibres: %d images%s, floats within %.1e of the brightest, %lld of %lld "
           "integers "
           "are off by 1\n",
           t->fibre_images, t->no_fibres ? " (the library is missing)" : "",
           t->fibre_error, (long long)t->fibre_off, (long long)t->fibre_pixels);
}

int main(int argc, char **argv)
{
    static session ss;
    nb_render_options options = {
        .isa = NB_ISA_AUTO, .precision = NB_PRECISION_MIXED, .device_index = -1};
    check_case c;
    nb_error err;
    int i, failed;
    if (!parse(&ss, argc, argv)) {
        fprintf(stderr, "usage: cuda_products [--seed N] [--count N] [-v]\n");
        return 2;
    }
    if (nb_backend_cuda.open(&options, &ss.state, &err) != NB_OK ||
        (options.precision = NB_PRECISION_DOUBLE,
         nb_backend_cuda.open(&options, &ss.in_double, &err) != NB_OK)) {
        printf("skip cuda-products # %s\n", err.message);
        return 0;
    }
    for (i = 0; check_cruel_case(&c, i); i++) {
        run_case(&ss, &c, -1 - i);
        check_free_case(&c);
    }
    for (i = 0; i < ss.count; i++) {
        check_random_case(&c, ss.seed, i);
        run_case(&ss, &c, i);
        check_free_case(&c);
    }
    nb_backend_cuda.close(ss.state);
    nb_backend_cuda.close(ss.in_double);
    printf("# noise pixels by the decade of their mean, from 1e%d:", LOWEST);
    for (i = 0; i < DECADES; i++)
        printf(" %lld", (long long)ss.decades[i]);
    printf("\n# %d images, %lld pixels, %d differ\n", ss.images, (long long)ss.pixels,
           ss.wrong);
    printf("# counts of mixed and of double: %lld of %lld pixels differ by one, %lld by "
           "more; "
           "the floats differ by %.3g photons\n",
           (long long)ss.off_by_one, (long long)ss.counted, (long long)ss.off_by_more,
           ss.apart);
    print_chains(&ss.chains);
    failed = ss.wrong || !ss.images || !ss.chains.images ||
             ss.chains.fibre_off * 1000000 > ss.chains.fibre_pixels ||
             (double)ss.off_by_one > 2 * ss.apart + 5 * sqrt(2 * ss.apart) ||
             ss.off_by_more * 10000 > ss.counted;
    printf("%s cuda-products\n", failed ? "not ok" : "ok");
    return failed;
}
