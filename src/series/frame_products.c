/* SPDX-License-Identifier: MIT */
/* What is brought to the host of a frame: with a device that makes its integers, only those. */
#include "../base/error.h"
#include "../base/memory.h"
#include "frame.h"

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
}

/** The integers of this type: with counting noise, or rounded under -nonoise. */
static nb_product product_of(const nb_frame *f, nb_pixel_type type, double adc_offset)
{
    const nb_config *cfg = &f->sim->cfg;
    return (nb_product){.type = type,
                        .stages = cfg->write_noise,
                        .scale = cfg->scale, /* set for every series */
                        .adc_offset = adc_offset,
                        .ends_at_16_bits = cfg->compat};
}

/** The frame keeps one kind of integers: two outputs that differ take the photons. */
static void want(const nb_frame *f, nb_pixel_type type, double adc_offset,
                 nb_frame_wants *w)
{
    const nb_product p = product_of(f, type, adc_offset);
    if (type == NB_PIXEL_F32) {
        w->photons = 1;
        return;
    }
    w->photons |= w->integers.type &&
                  (w->integers.type != p.type || w->integers.adc_offset != p.adc_offset);
    w->integers = p;
}

void nb_frame_want_file(const nb_frame *f, nb_frame_format format, nb_frame_wants *w)
{
    const nb_config *cfg = &f->sim->cfg;
    if (format == NB_FRAME_SMV || (format == NB_FRAME_TIFF && cfg->tiff_bits == 16))
        want(f, NB_PIXEL_U16, cfg->adc_offset, w);
    else
        want(f, format == NB_FRAME_CBF ? NB_PIXEL_I32 : NB_PIXEL_F32, 0, w);
}

nb_pixel_type nb_frame_hdf5_pixel(nb_hdf5_type type)
{
    return type == NB_HDF5_U16   ? NB_PIXEL_U16
           : type == NB_HDF5_I32 ? NB_PIXEL_I32
                                 : NB_PIXEL_F32;
}

void nb_frame_want_hdf5(const nb_frame *f, nb_hdf5_type type, nb_frame_wants *w)
{
    want(f, nb_frame_hdf5_pixel(type), 0, w);
}

/** Room for whole images of this product, in memory that a device writes itself if there is one. */
static nb_status reserve(nb_frame *f, const nb_product *p, nb_error *err)
{
    const nb_backend_device *device = f->sim->backend->device;
    size_t bytes = f->pixels * nb_pixel_bytes(p->type);
    if (bytes <= f->room)
        return NB_OK;
    free_integers(f);
    f->lender = device ? &device->image : NULL;
    if (f->lender)
        f->product.pixels = f->lender->allocate(f->sim->options.device_index, bytes);
    if (!f->product.pixels) {
        f->lender = NULL;
        f->product.pixels = nb_alloc_raw(bytes, 1, "frame", err);
    }
    f->room = f->product.pixels ? bytes : 0;
    return f->room ? NB_OK : NB_ERR_NOMEM;
}

/** Begin another product in the same memory. */
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
    int here = w->photons || !f->sim->backend->device || f->sim->cfg.compat;
    f->pixels = pixels;
    f->made = !here;
    if (here && !f->image &&
        !(f->image = nb_alloc_raw(pixels, sizeof *f->image, "image", err)))
        return NB_ERR_NOMEM;
    *rendering = (nb_rendering){here ? f->image : NULL, &f->stats, &f->product, !here};
    return here ? NB_OK : take(f, &w->integers, err);
}

nb_status nb_frame_pixels(nb_frame *f, nb_pixel_type type, double adc_offset,
                          const void **pixels, nb_error *err)
{
    const nb_product p = product_of(f, type, adc_offset);
    nb_photons photons = nb_sim_photons(f->sim, f->image);
    nb_stage stages[NB_STAGES_MOST];
    nb_status st = NB_OK;
    *pixels = f->image;
    f->overloads = 0;
    if (type == NB_PIXEL_F32)
        return NB_OK;
    if (!f->made || f->product.type != type || f->product.adc_offset != adc_offset) {
        st = take(f, &p, err);
        if (!st)
            st = nb_image_make(&photons, stages, nb_sim_stages(f->sim, stages),
                               &f->product, 1, err);
        nb_products_free(&f->product, 1);
        f->made = !st;
    }
    *pixels = f->product.pixels;
    f->overloads = f->product.overloads;
    return st;
}
