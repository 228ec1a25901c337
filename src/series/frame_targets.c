/* SPDX-License-Identifier: MIT */
/* What is brought to the host of a frame: with a device that makes integers, only those. */
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../image/noise.h"
#include "frame.h"

void nb_frame_free(nb_frame *f)
{
    nb_sim_free(f->sim);
    nb_free(f->image);
    if (f->u16_lender)
        f->u16_lender->release(f->u16);
    else
        nb_free(f->u16);
    if (f->i32_lender)
        f->i32_lender->release(f->i32);
    else
        nb_free(f->i32);
    nb_free(f->scratch);
}

/** 16-bit pixels with this offset.  The device makes one kind: two outputs that differ take the
 * floats. */
static void want_u16(double adc_offset, nb_frame_wants *w)
{
    w->floats |= w->i32 || (w->u16 && w->adc_offset != adc_offset);
    w->u16 = 1;
    w->adc_offset = adc_offset;
}

static void want_i32(nb_frame_wants *w)
{
    w->floats |= w->u16;
    w->i32 = 1;
}

void nb_frame_want_file(const nb_frame *f, nb_frame_format format, nb_frame_wants *w)
{
    const nb_config *cfg = &f->sim->cfg;
    if (format == NB_FRAME_SMV || (format == NB_FRAME_TIFF && cfg->tiff_bits == 16))
        want_u16(cfg->adc_offset, w);
    else if (format == NB_FRAME_CBF)
        want_i32(w);
    else
        w->floats = 1;
}

void nb_frame_want_hdf5(nb_hdf5_type type, nb_frame_wants *w)
{
    if (type == NB_HDF5_U16)
        want_u16(0, w);
    else if (type == NB_HDF5_I32)
        want_i32(w);
    else
        w->floats = 1;
}

/** Memory that the device writes itself, if there is any. */
static void *borrow(const nb_sim *sim, size_t bytes, const nb_backend_device **lender,
                    nb_error *err)
{
    const nb_backend_device *device = sim->backend->device;
    void *memory = device ? device->allocate(sim->options.device_index, bytes) : NULL;
    *lender = memory ? device : NULL;
    return memory ? memory : nb_alloc_raw(bytes, 1, "frame", err);
}

static nb_status prepare_integers(nb_frame *f, const nb_frame_wants *w, nb_error *err)
{
    const nb_config *cfg = &f->sim->cfg;
    nb_product *made = &f->targets.made[0];
    nb_status st = cfg->write_noise ? nb_noise_check(err) : NB_OK;
    if (st)
        return st;
    if (w->u16 && !f->u16)
        f->u16 = borrow(f->sim, f->pixels * sizeof *f->u16, &f->u16_lender, err);
    if (w->i32 && !f->i32)
        f->i32 = borrow(f->sim, f->pixels * sizeof *f->i32, &f->i32_lender, err);
    if ((w->u16 && !f->u16) || (w->i32 && !f->i32))
        return NB_ERR_NOMEM;
    if (w->u16)
        made->kind = cfg->write_noise ? NB_PRODUCT_NOISE_U16 : NB_PRODUCT_INT_U16;
    else
        made->kind = cfg->write_noise ? NB_PRODUCT_NOISE_I32 : NB_PRODUCT_INT_I32;
    made->scale = cfg->scale; /* set for every series */
    made->adc_offset = w->adc_offset;
    made->seed = f->sim->seed;
    made->error = nb_sim_noise_options(f->sim).error;
    f->targets.integers[0] = w->u16 ? (void *)f->u16 : f->i32;
    f->targets.n = 1;
    return NB_OK;
}

nb_status nb_frame_prepare(nb_frame *f, const nb_frame_wants *w, size_t pixels,
                           nb_error *err)
{
    int floats = w->floats || !f->sim->backend->device || f->sim->cfg.compat;
    memset(&f->targets, 0, sizeof f->targets);
    f->pixels = pixels;
    if (floats && !f->image) {
        f->image = nb_alloc_raw(pixels, sizeof *f->image, "image", err);
        if (!f->image)
            return NB_ERR_NOMEM;
    }
    f->targets.image = floats ? f->image : NULL;
    return floats ? NB_OK : prepare_integers(f, w, err);
}
