/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <math.h>
#include <string.h>

#include "../api/picture.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../image/noise.h"
#include "../image/adu.h"
#include "../image/quantize.h"
#include "../model/units.h"

/** Where the detector stands and how the beam is polarized. */
static void put_geometry(const nb_sim *sim, nb_hdf5_frame *t)
{
    const nb_geometry *g = &sim->model.geometry;
    const nb_image_meta m = nb_sim_describe(sim);
    const struct {
        double *to;
        const double *from;
    } vectors[] = {{t->pix0_mm, m.pix0_mm},     {t->fast_axis, m.fast_axis},
                   {t->slow_axis, m.slow_axis}, {t->beam, m.beam},
                   {t->spindle, m.spindle},     {t->polar_axis, m.polar_axis}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        memcpy(vectors[i].to, vectors[i].from, 3 * sizeof(double));
    t->distance_mm = m.distance_mm;
    t->beam_px[0] = g->Fbeam / g->pixel;
    t->beam_px[1] = g->Sbeam / g->pixel;
    t->polarization = m.polarization;
}

nb_hdf5_frame nb_frame_truth(const nb_frame *f)
{
    const nb_model *m = &f->sim->model;
    const nb_vec3 columns[3] = {m->crystal.astar, m->crystal.bstar, m->crystal.cstar};
    nb_hdf5_frame t = {0};
    put_geometry(f->sim, &t);
    for (int c = 0; c < 3; c++) {
        t.A[c] = columns[c].x;
        t.A[3 + c] = columns[c].y;
        t.A[6 + c] = columns[c].z;
        t.N[c] = m->crystal.N[c];
    }
    t.blocks = m->blocks;
    t.phi_deg = isnan(f->sim->cfg.phi_deg) ? 0 : f->sim->cfg.phi_deg;
    t.osc_deg = m->phi_range / NB_DEG;
    t.wavelength_A = nb_sim_wavelength(f->sim);
    t.fluence = m->fluence;
    t.mosaic_deg = m->mosaic.spread / NB_DEG;
    t.exposure_s = f->sim->cfg.exposure_s;
    t.beamsize_mm = nb_or(f->sim->cfg.beamsize_mm, 0.1);
    t.seed = f->sim->seed;
    return t;
}

/** Memory that stays from frame to frame. */
static nb_status keep(void **buffer, size_t count, size_t size, nb_error *err)
{
    if (!*buffer)
        *buffer = nb_alloc_raw(count, size, "frame", err);
    return *buffer ? NB_OK : NB_ERR_NOMEM;
}

/** 16-bit pixels with this offset: with counting noise, or rounded under -nonoise. */
static nb_status fill_u16(nb_frame *f, double adc_offset, nb_error *err)
{
    nb_sim *sim = f->sim;
    double typed = sim->cfg.adc_offset;
    void *buffer = f->u16;
    nb_status st;
    if (f->targets.n > 0 && f->targets.integers[0] == f->u16) {
        f->overloads = f->targets.made[0].overloads; /* the device made them */
        return NB_OK;
    }
    st = keep(&buffer, f->pixels, sizeof *f->u16, err);
    f->u16 = buffer;
    if (st)
        return st;
    sim->cfg.adc_offset = adc_offset;
    if (sim->cfg.write_noise) {
        st = nb_sim_noise(sim, f->image, f->u16, &f->overloads, err);
    } else {
        const nb_int_levels levels = {sim->cfg.scale, adc_offset};
        st = nb_sim_digitize(sim, f->image, NULL, f->u16, err);
        f->overloads = nb_count_clipped(f->image, &sim->model.scene, &levels);
    }
    sim->cfg.adc_offset = typed;
    return st;
}

/** The count of a pixel that 16 bits cannot hold. */
static int32_t large_count(nb_frame *f, size_t pixel)
{
    const nb_noise_options noise = nb_sim_noise_options(f->sim);
    double n = floor(f->image[pixel] * f->sim->cfg.scale + 0.5);
    if (f->sim->cfg.write_noise)
        n = nb_noise_photons(f->image, &f->sim->model.scene, &noise, pixel);
    f->overloads += nb_large_clips(n);
    return nb_large_count(n);
}

/** Photons in 32 bits. */
static nb_status fill_i32(nb_frame *f, nb_error *err)
{
    void *buffer = f->i32;
    int cut = f->sim->cfg.compat; /* its noise ends at 65535 */
    nb_status st;
    if (f->targets.n > 0 && f->targets.integers[0] == f->i32) {
        f->overloads = f->targets.made[0].overloads;
        return NB_OK;
    }
    st = fill_u16(f, 0, err);
    if (!st)
        st = keep(&buffer, f->pixels, sizeof *f->i32, err);
    f->i32 = buffer;
    if (!cut)
        f->overloads = 0;
    for (size_t i = 0; !st && i < f->pixels; i++)
        f->i32[i] = f->u16[i] < 65535 || cut ? f->u16[i] : large_count(f, i);
    return st;
}

/** The picture that -pngfile makes of a single image. */
static nb_status write_picture(nb_frame *f, const char *path, const nb_image_meta *meta,
                               nb_error *err)
{
    const nb_png_options *options = &f->sim->cfg.png;
    nb_picture_job job = {f->image,
                          meta->fast,
                          meta->slow,
                          options,
                          f->sim->model.scene.panels,
                          f->sim->model.wavelength_A * 1e-10,
                          options->show ? f->sim->cfg.adc_offset : 0};
    nb_image_view view = {0};
    void *pixels = NULL;
    float *noise = NULL;
    nb_status st = NB_OK;
    if (options->show == NB_PNG_NOISE)
        st = nb_picture_noise(f->sim, f->image, &noise, err);
    if (noise)
        job.image = noise;
    if (!st)
        st = nb_picture_view(&job, &view, &pixels, err);
    if (!st)
        st = nb_write_image(nb_picture_writer(options), path, &view, meta, err);
    nb_free(pixels);
    nb_free(noise);
    return st;
}

nb_status nb_frame_write(nb_frame *f, nb_frame_format format, const char *path,
                         nb_error *err)
{
    nb_image_meta meta = nb_sim_describe(f->sim);
    nb_image_view view = {0};
    const nb_writer *writer = &nb_writer_float;
    int tiff16 = format == NB_FRAME_TIFF && f->sim->cfg.tiff_bits == 16;
    nb_status st = NB_OK;
    f->overloads = 0;
    if (format == NB_FRAME_PNG)
        return write_picture(f, path, &meta, err);
    view.fast = meta.fast;
    view.slow = meta.slow;
    view.type = NB_PIXEL_F32;
    view.pixels = f->image;
    view.scale = 1;
    if (format == NB_FRAME_SMV || tiff16) {
        st = fill_u16(f, f->sim->cfg.adc_offset, err);
        writer = tiff16 ? &nb_writer_tiff_u16 : &nb_writer_smv;
        view.type = NB_PIXEL_U16;
        view.pixels = f->u16;
        view.scale = f->sim->cfg.write_noise ? 1 : f->sim->cfg.scale;
    } else if (format == NB_FRAME_CBF) {
        st = fill_i32(f, err);
        writer = &nb_writer_cbf;
        view.type = NB_PIXEL_I32;
        view.pixels = f->i32;
    } else if (format == NB_FRAME_TIFF) {
        writer = &nb_writer_tiff_f32;
    }
    return st ? st : nb_write_image(writer, path, &view, &meta, err);
}

nb_status nb_frame_encode(nb_frame *f, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err)
{
    const void *pixels = f->image;
    nb_status st = keep(&f->scratch, 1, nb_hdf5_frame_bytes(layout) + 16384, err);
    f->overloads = 0;
    if (!st && layout->type == NB_HDF5_U16) {
        st = fill_u16(f, 0, err);
        pixels = f->u16;
    } else if (!st && layout->type == NB_HDF5_I32) {
        st = fill_i32(f, err);
        pixels = f->i32;
    }
    return st ? st : nb_hdf5_chunk_encode(layout, pixels, f->scratch, chunk, bytes, err);
}
