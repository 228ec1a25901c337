/* SPDX-License-Identifier: MIT */
#include "fake_device.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/products.h"
#include "base/error.h"
#include "base/memory.h"
#include "image/mix.h"
#include "image/image.h"
#include "image/poisson.h"
#include "light/diffuse_plane.h"
#include "render/request.h"
#include "image_truth.h"

enum { PIECES = 2, PIECE = 1 << 18 };

/** State of the fake device, which other code knows as nb_backend_state. */
typedef struct fake_state {
    nb_render_options options;
    nb_backend_state *cpu;
    nb_scene scene;                   /* the scene of the last image */
    float *image, *aside;             /* owned */
    float *light;                     /* owned; light of the next mix */
    nb_product made[NB_PRODUCTS_MAX]; /* products made so far; owns their pixels */
    int n;
    char piece[PIECES][PIECE];
    atomic_int taken[PIECES];
} fake_state;

atomic_int fake_fetches, fake_closed, fake_is_full, fake_lights;

static fake_state *fake_of(const nb_backend_state *state)
{
    return (fake_state *)(uintptr_t)state;
}

static double fake_estimate(const nb_scene *scene, const nb_render_options *options,
                            char *why, size_t size)
{
    (void)scene;
    (void)options;
    snprintf(why, size, "fake");
    return 0;
}

static nb_status fake_open(const nb_render_options *options, nb_backend_state **state,
                           nb_error *err)
{
    fake_state *f = nb_alloc(1, sizeof *f, "fake", err);
    assert_non_null(f);
    f->options = *options;
    *state = (nb_backend_state *)f;
    return nb_backend_cpu(options)->open(options, &f->cpu, err);
}

static void forget(fake_state *f)
{
    for (int i = 0; i < f->n; i++)
        nb_free(f->made[i].pixels);
    f->n = 0;
}

static nb_status fake_render(nb_backend_state *state, const nb_scene *scene,
                             const nb_request *request, const nb_planes *planes,
                             nb_error *err)
{
    fake_state *f = fake_of(state);
    size_t n = planes->pixels;
    nb_planes here = *planes;
    nb_status st;
    forget(f);
    nb_free(f->image);
    f->image = nb_alloc(n, sizeof *f->image, "fake", err);
    f->scene = *scene;
    here.image = f->image;
    st = nb_backend_cpu(&f->options)->render(f->cpu, scene, request, &here, err);
    if (!st && planes->image)
        memcpy(planes->image, f->image, n * sizeof *planes->image);
    return st;
}

static void fake_describe(const nb_backend_state *state, char *line, size_t size)
{
    (void)state;
    snprintf(line, size, "fake");
}

static void fake_close(nb_backend_state *state)
{
    fake_state *f = fake_of(state);
    if (!f)
        return;
    forget(f);
    nb_free(f->image);
    nb_free(f->aside);
    nb_free(f->light);
    nb_backend_cpu(&f->options)->close(f->cpu);
    nb_free(f);
    fake_closed++;
}

static void fake_warm(int device_index)
{
    (void)device_index;
}

void fake_row_sums(const float *image, const nb_scene *scene, nb_row_sums *sums)
{
    const nb_raster *raster = &scene->raster;
    int columns = raster->roi.fmax - raster->roi.fmin + 1;
    for (int s = raster->roi.smin; s <= raster->roi.smax; s++, sums++) {
        size_t at = (size_t)s * (size_t)raster->columns + (size_t)raster->roi.fmin;
        const uint8_t *mask = raster->mask ? raster->mask + at : NULL;
        nb_image_kernels_scalar.sums(image + at, mask, columns, sums);
        sums->max_at = 0;
        while (sums->max > -INFINITY && (image[at + (size_t)sums->max_at] != sums->max ||
                                         (mask && !mask[sums->max_at])))
            sums->max_at++;
    }
}

static nb_status fake_sums(nb_backend_state *state, const nb_scene *scene,
                           nb_row_sums *sums, nb_error *err)
{
    (void)err;
    fake_row_sums(fake_of(state)->image, scene, sums);
    return NB_OK;
}

static int fake_makes(const nb_backend_state *state, const nb_product *product)
{
    (void)state;
    if (nb_product_is_chained(product))
        return 0;
    return product->stages ? product->stage.kind == NB_STAGE_POISSON
                           : !product->ends_at_16_bits;
}

static nb_status fake_make(nb_backend_state *state, const nb_scene *scene,
                           nb_product *const *products, int n, nb_error *err)
{
    fake_state *f = fake_of(state);
    size_t pixels = (size_t)scene->raster.columns * (size_t)scene->raster.rows;
    nb_status st = NB_OK;
    forget(f);
    f->scene = *scene;
    if (fake_is_full)
        return nb_fail(err, NB_ERR_DEVICE, "fake: out of memory");
    for (f->n = 0; f->n < n && !st; f->n++) {
        nb_product *p = &f->made[f->n];
        *p = *products[f->n];
        p->pixels = nb_alloc(pixels, nb_pixel_bytes(p->type), "fake", err);
        st = make_one(f->image, scene, 1, p->stages ? &p->stage : NULL, p, err);
        products[f->n]->overloads = p->overloads;
    }
    return st;
}

static nb_status fake_fetch(nb_backend_state *state, int i, int first, int rows,
                            void *out, nb_error *err)
{
    const fake_state *f = fake_of(state);
    size_t size = i < 0 ? sizeof(float) : nb_pixel_bytes(f->made[i].type);
    size_t row = (size_t)f->scene.raster.columns * size;
    const char *from = i < 0 ? (const char *)f->image : f->made[i].pixels;
    (void)err;
    memcpy(out, from + (size_t)first * row, (size_t)rows * row);
    fake_fetches++;
    return NB_OK;
}

static void *fake_take(nb_backend_state *state, size_t bytes)
{
    fake_state *f = fake_of(state);
    for (int i = 0; i < PIECES && bytes <= PIECE; i++)
        if (!atomic_exchange(&f->taken[i], 1))
            return f->piece[i];
    return NULL;
}

static void fake_give(nb_backend_state *state, void *memory)
{
    fake_state *f = fake_of(state);
    for (int i = 0; i < PIECES; i++)
        if (memory == f->piece[i])
            assert_int_equal(atomic_exchange(&f->taken[i], 0), 1);
}

static void *fake_allocate(int device_index, size_t bytes)
{
    (void)device_index;
    return malloc(bytes);
}

static nb_status fake_set_aside(nb_backend_state *state, size_t pixels, nb_error *err)
{
    fake_state *f = fake_of(state);
    (void)pixels;
    (void)err;
    nb_free(f->aside);
    f->aside = f->image;
    f->image = NULL;
    return NB_OK;
}

static nb_status fake_add_aside(nb_backend_state *state, size_t pixels, nb_error *err)
{
    const fake_state *f = fake_of(state);
    (void)err;
    for (size_t i = 0; i < pixels; i++)
        f->image[i] += f->aside[i];
    return NB_OK;
}

static nb_status fake_mix(nb_backend_state *state, const nb_scene *scene,
                          const nb_mix *mix, nb_error *err)
{
    fake_state *f = fake_of(state);
    nb_mix there = *mix;
    if (mix->light && mix->late && mix->late->missing)
        there.light = f->light;
    if (mix->absorb)
        nb_mix_absorb(&there, scene, 1, f->image);
    return nb_mix_apply(&there, scene, 1, f->image, err);
}

static void fake_times(const nb_backend_state *state, nb_device_times *times)
{
    (void)state;
    times->kernels = 1;
}

static int fake_count(void)
{
    return 1;
}

static nb_status fake_light(nb_backend_state *state, const nb_diffuse_plane *plane,
                            int add, nb_error *err)
{
    fake_state *f = fake_of(state);
    const size_t n = plane->scene.raster.pixels;
    float *own;
    if (fake_is_full)
        return nb_fail(err, NB_ERR_DEVICE, "fake: out of memory");
    own = nb_alloc(n, sizeof *own, "fake", err);
    assert_int_equal(nb_diffuse_plane_fill(plane, 1, own, err), 0);
    for (size_t i = 0; add && i < n; i++)
        own[i] += f->light[i];
    nb_free(f->light);
    f->light = own;
    fake_lights++;
    return NB_OK;
}

static const nb_backend_device fake_device = {
    fake_warm,
    {fake_makes, fake_sums, fake_make, fake_fetch, fake_take, fake_give, fake_allocate,
     free, NULL, NULL, NULL, NULL, NULL, fake_set_aside, NULL, fake_add_aside, fake_mix,
     fake_light},
    fake_times,
    fake_count,
    NULL};
const nb_backend fake_backend = {.name = "fake",
                                 .estimate = fake_estimate,
                                 .open = fake_open,
                                 .render = fake_render,
                                 .describe = fake_describe,
                                 .close = fake_close,
                                 .device = &fake_device,
                                 .present = fake_count};
