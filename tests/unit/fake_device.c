/* SPDX-License-Identifier: MIT */
#include "fake_device.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "image/adu.h"
#include "image/kernels.h"
#include "image/noise.h"
#include "image/quantize.h"
#include "render/choose.h"

enum { PIECES = 2, PIECE = 1 << 18 };

/** The fake device. nb_backend_state is opaque; this is its content here. */
typedef struct fake_state {
    nb_render_options options;
    nb_backend_state *cpu;
    nb_scene scene; /* of the last image */
    float *image;
    void *made[NB_PRODUCTS_MOST];
    nb_product_kind kind[NB_PRODUCTS_MOST];
    int n;
    char piece[PIECES][PIECE];
    atomic_int taken[PIECES];
} fake_state;

atomic_int fake_fetches, fake_closed, fake_is_full;

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
        nb_free(f->made[i]);
    f->n = 0;
}

static nb_status fake_render(nb_backend_state *state, const nb_scene *scene, float *image,
                             nb_error *err)
{
    fake_state *f = fake_of(state);
    size_t n = (size_t)scene->raster.columns * (size_t)scene->raster.rows;
    nb_status st;
    forget(f);
    nb_free(f->image);
    f->image = nb_alloc(n, sizeof *f->image, "fake", err);
    f->scene = *scene;
    st = nb_backend_cpu(&f->options)->render(f->cpu, scene, f->image, err);
    if (!st && image)
        memcpy(image, f->image, n * sizeof *image);
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
        nb_image_kernels_base.sums(image + at, mask, columns, sums);
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

static size_t bytes_of(nb_product_kind kind)
{
    return kind == NB_PRODUCT_GREY_U8                                   ? 1
           : kind == NB_PRODUCT_INT_U16 || kind == NB_PRODUCT_NOISE_U16 ? 2
                                                                        : 4;
}

static void make_i32(const fake_state *f, nb_product *made, int32_t *out)
{
    const nb_raster *raster = &f->scene.raster;
    const nb_noise_options noise = {made->seed, made->frame, 0, 1, made->error};
    size_t n = (size_t)raster->columns * (size_t)raster->rows;
    made->overloads = 0;
    for (size_t i = 0; i < n; i++) {
        double counts = nb_int_adu(f->image[i], made->scale, 0);
        if (made->kind == NB_PRODUCT_NOISE_I32)
            counts = nb_noise_photons(f->image, &f->scene, &noise, i);
        else if (counts == 65535)
            counts = floor(f->image[i] * made->scale + 0.5);
        out[i] = nb_large_count(counts);
        made->overloads += nb_large_clips(counts);
    }
}

static nb_status fake_make(nb_backend_state *state, const nb_scene *scene,
                           nb_product *made, int n, nb_error *err)
{
    fake_state *f = fake_of(state);
    size_t pixels = (size_t)scene->raster.columns * (size_t)scene->raster.rows;
    nb_status st = NB_OK;
    forget(f);
    f->scene = *scene;
    if (fake_is_full)
        return nb_fail(err, NB_ERR_DEVICE, "fake: out of memory");
    for (f->n = 0; f->n < n && !st; f->n++) {
        nb_product *m = &made[f->n];
        const nb_noise_options noise = {m->seed, m->frame, m->adc_offset, 1, m->error};
        void *out = f->made[f->n] = nb_alloc(pixels, bytes_of(m->kind), "fake", err);
        f->kind[f->n] = m->kind;
        if (m->kind == NB_PRODUCT_GREY_U8)
            nb_quantize_u8(f->image, pixels, m->scale, out);
        else if (m->kind == NB_PRODUCT_INT_U16) {
            const nb_int_levels levels = {m->scale, m->adc_offset};
            nb_quantize_u16(f->image, scene, m->scale, m->adc_offset, out);
            m->overloads = nb_count_clipped(f->image, scene, &levels);
        } else if (m->kind == NB_PRODUCT_NOISE_U16)
            st = nb_noise(f->image, scene, &noise, out, &m->overloads, err);
        else
            make_i32(f, m, out);
    }
    return st;
}

static nb_status fake_fetch(nb_backend_state *state, int i, int first, int rows,
                            void *out, nb_error *err)
{
    const fake_state *f = fake_of(state);
    size_t size = i < 0 ? sizeof(float) : bytes_of(f->kind[i]);
    size_t row = (size_t)f->scene.raster.columns * size;
    const char *from = i < 0 ? (const char *)f->image : f->made[i];
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

static void fake_times(const nb_backend_state *state, nb_device_times *times)
{
    (void)state;
    times->kernels = 1;
}

static int fake_count(void)
{
    return 1;
}

static const nb_backend_device fake_device = {
    fake_warm, fake_sums,     fake_make, fake_fetch, fake_take,
    fake_give, fake_allocate, free,      fake_times, fake_count};
const nb_backend fake_backend = {.name = "fake",
                                 .estimate = fake_estimate,
                                 .open = fake_open,
                                 .render = fake_render,
                                 .describe = fake_describe,
                                 .close = fake_close,
                                 .device = &fake_device,
                                 .present = fake_count};
