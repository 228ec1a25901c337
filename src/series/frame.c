/* SPDX-License-Identifier: MIT */
#include "run.h"
#include "../outputs/write.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../params/params.h"
#include "../sim/noise.h"
#include "../outputs/picture.h"

/* Free the integers of a frame. A device that makes them copies only these integers to
 * the host. */

static void free_integers(nb_frame *f)
{
    if (f->lender)
        f->lender->release(f->product.pixels);
    else
        nb_free(f->product.pixels);
    f->product.pixels = NULL;
    f->room = 0;
}

void nb_frame_free(nb_frame *f)
{
    nb_sim_free(f->sim);
    nb_free(f->image);
    free_integers(f);
    nb_free(f->scratch);
    nb_free(f->canvas);
}

nb_noise_file nb_frame_file_noise(const nb_writer *writer)
{
    return writer->pixel == NB_PIXEL_I32 ? NB_NOISE_I32 : NB_NOISE_U16;
}

nb_noise_file nb_frame_hdf5_noise(nb_hdf5_type type)
{
    return type == NB_HDF5_U16   ? NB_NOISE_HDF5_U16
           : type == NB_HDF5_I16 ? NB_NOISE_HDF5_I16
                                 : NB_NOISE_I32;
}

/** Describe the pixels of a file, or of HDF5 if format is NULL: counts with noise, or
 * rounded photons (-nonoise). */
static nb_product product_for(const nb_frame *f, const nb_format *format,
                              nb_hdf5_type type)
{
    static const nb_pixel_type types[] = {[NB_HDF5_U16] = NB_PIXEL_U16,
                                          [NB_HDF5_I32] = NB_PIXEL_I32,
                                          [NB_HDF5_F32] = NB_PIXEL_F32,
                                          [NB_HDF5_I16] = NB_PIXEL_I16};
    const nb_config *cfg = &f->sim->cfg;
    const nb_pixel_type pixel =
        format ? nb_format_writer(format, cfg->tiff_bits)->pixel : types[type];
    /* 16-bit files have an offset; other outputs have one if -adc is typed */
    const int offset =
        (format && pixel == NB_PIXEL_U16) || (cfg->adc_set && cfg->write_noise);
    nb_product p = {.type = pixel,
                    .scale = cfg->scale, /* every series has a scale */
                    .adc_offset = offset ? cfg->adc_offset : 0,
                    .ends_at_16_bits = cfg->compat};
    if (pixel != NB_PIXEL_U16 && pixel != NB_PIXEL_I16 && pixel != NB_PIXEL_I32)
        return (nb_product){.type = NB_PIXEL_F32, .scale = 1};
    if (cfg->write_noise)
        p = nb_sim_noise_product(f->sim, pixel, p.adc_offset);
    p.marks_masked = !format || pixel == NB_PIXEL_I32;
    if (!format) /* largest trusted value after the stages */
        p.trusted = nb_noise_trusted(&f->sim->model.settings, nb_frame_hdf5_noise(type));
    return p;
}

static int is_same(const nb_product *a, const nb_product *b)
{
    return a->type == b->type && a->adc_offset == b->adc_offset &&
           a->trusted == b->trusted && a->marks_masked == b->marks_masked;
}

/** A frame keeps one kind of integers. If two outputs need different kinds, the frame
 * keeps photons. */
void nb_frame_want(const nb_frame *f, const nb_format *format, nb_hdf5_type type,
                   nb_frame_wants *w)
{
    const nb_product p = product_for(f, format, type);
    if (p.type == NB_PIXEL_F32) {
        w->photons = 1;
        return;
    }
    w->photons |= w->integers.type && !is_same(&w->integers, &p);
    w->integers = p;
}

/** Allocate pixels for an image of this product, in memory that the device can write. */
static nb_status reserve(nb_frame *f, const nb_product *p, nb_error *err)
{
    const nb_backend_device *device = f->sim->engine.backend->device;
    size_t bytes = f->pixels * nb_pixel_bytes(p->type);
    if (bytes <= f->room)
        return NB_OK;
    free_integers(f);
    f->lender = device ? &device->image : NULL;
    if (f->lender)
        f->product.pixels =
            f->lender->allocate(f->sim->engine.options.device_index, bytes);
    if (!f->product.pixels) {
        f->lender = NULL;
        f->product.pixels = nb_alloc_raw(bytes, 1, "frame", err);
    }
    f->room = f->product.pixels ? bytes : 0;
    return f->room ? NB_OK : NB_ERR_NOMEM;
}

/** Set the product, and reserve memory for its pixels. */
static nb_status take(nb_frame *f, const nb_product *p, nb_error *err)
{
    nb_status st = reserve(f, p, err);
    void *pixels = f->product.pixels;
    f->product = *p;
    f->product.pixels = pixels;
    return st;
}

nb_status nb_frame_prepare(nb_frame *f, const nb_frame_wants *w, size_t pixels,
                           nb_rendering *rendering, nb_error *err)
{
    int here = w->photons || !f->sim->engine.backend->device || f->sim->cfg.compat;
    f->pixels = pixels;
    f->made = !here;
    if (here && !f->image &&
        !(f->image = nb_alloc_raw(pixels, sizeof *f->image, "image", err)))
        return NB_ERR_NOMEM;
    *rendering = (nb_rendering){here ? f->image : NULL, &f->stats, &f->product, !here};
    return here ? NB_OK : take(f, &w->integers, err);
}

/* Make this product, and set f->overloads. *pixels are valid until the next call. */
static nb_status frame_pixels(nb_frame *f, const nb_product *wanted, const void **pixels,
                              nb_error *err)
{
    NB_ASKS(&f->sim->hooks, 1);
    nb_photons photons = nb_sim_photons(f->sim, f->image);
    nb_stage stages[NB_STAGES_MAX];
    double start;
    nb_status st = NB_OK;
    *pixels = f->image;
    f->overloads = 0;
    if (wanted->type == NB_PIXEL_F32)
        return NB_OK;
    start = nb_monotonic_seconds();
    if (!f->made || !is_same(&f->product, wanted)) {
        st = take(f, wanted, err);
        NB_TRY(nb_image_make(&photons, stages, nb_sim_stages(f->sim, stages), &f->product,
                             1, err));
        nb_products_free(&f->product, 1);
        f->made = !st;
    }
    f->spent.noise += nb_monotonic_seconds() - start;
    *pixels = f->product.pixels;
    f->overloads = f->product.overloads;
    return st;
}

nb_status nb_frame_sum(nb_frame *f, const nb_format *format, nb_hdf5_type type,
                       nb_sum *sum, nb_error *err)
{
    const nb_product product = product_for(f, format, type);
    const void *pixels;
    nb_status st = frame_pixels(f, &product, &pixels, err);
    if (!st)
        nb_sum_add(sum, &f->sim->model.scene, product.type, pixels);
    return st;
}

/** Write the picture that -pngfile makes of a single image. */
static nb_status write_picture(nb_frame *f, const char *path, const nb_image_meta *meta,
                               nb_error *err)
{
    nb_picture_job job;
    nb_image_view view = {0};
    void *pixels = NULL;
    nb_picture_own own;
    nb_status st = nb_picture_of_sim(f->sim, f->image, &job, &own, err);
    NB_TRY(nb_picture_view(&job, &view, &pixels, err));
    NB_TRY(nb_write_image(nb_picture_writer(&job), path, &view, meta, err));
    nb_free(pixels);
    nb_picture_own_free(&own);
    return st;
}

nb_status nb_frame_write(nb_frame *f, const nb_format *format, const char *path,
                         nb_error *err)
{
    const nb_config *cfg = &f->sim->cfg;
    const nb_writer *writer = nb_format_writer(format, cfg->tiff_bits);
    const nb_product product = product_for(f, format, 0);
    nb_image_meta meta = nb_sim_describe(f->sim);
    nb_image_view view = {
        .fast = meta.fast, .slow = meta.slow, .type = writer->pixel, .scale = 1};
    nb_status st;
    if (writer->pixel == NB_PIXEL_U8) {
        f->overloads = 0;
        return write_picture(f, path, &meta, err);
    }
    if (view.type == NB_PIXEL_U16 && !cfg->write_noise)
        view.scale = cfg->scale;
    if (product.stages)
        meta = nb_sim_describe_noise(f->sim, meta, nb_frame_file_noise(writer));
    NB_FORWARD(frame_pixels(f, &product, &view.pixels, err));
    return nb_write_images(&(nb_write_job){writer, path, view, &meta, .durable = 1}, 1, 1,
                           NULL, err);
}

/** Copy panels to their positions in the canvas. Pixels of gaps are 0 (floats) or have
 * all bits set (integers). */
static nb_status fill_canvas(nb_frame *f, const nb_hdf5_layout *layout, const void *stack,
                             nb_error *err)
{
    const size_t bytes = nb_hdf5_frame_bytes(layout);
    if (!f->canvas && !(f->canvas = nb_alloc_raw(1, bytes, "canvas", err)))
        return NB_ERR_NOMEM;
    memset(f->canvas, layout->type == NB_HDF5_F32 ? 0 : 0xff, bytes);
    return nb_canvas_put(f->sim, stack, nb_hdf5_pixel_bytes(layout), f->canvas, err);
}

nb_status nb_frame_encode(nb_frame *f, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err)
{
    const nb_product product = product_for(f, NULL, layout->type);
    const void *pixels;
    nb_status st = frame_pixels(f, &product, &pixels, err);
    if (!st && !f->scratch) {
        f->scratch = nb_alloc_raw(1, nb_hdf5_frame_bytes(layout) + 16384, "frame", err);
        st = f->scratch ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st && !nb_canvas_is_stack(f->sim)) {
        st = fill_canvas(f, layout, pixels, err);
        pixels = f->canvas;
    }
    return st ? st : nb_hdf5_chunk_encode(layout, pixels, f->scratch, chunk, bytes, err);
}
