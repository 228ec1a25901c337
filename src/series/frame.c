/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include "panels.h"

#include <math.h>
#include <string.h>

#include "../model/drawn.h"
#include "../sim/noise.h"
#include "../sim/picture.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../model/units.h"
#include "../params/params.h"

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
    nb_vec3 drawn[3];
    put_geometry(f->sim, &t);
    for (int c = 0; c < 3; c++) {
        t.A[c] = columns[c].x;
        t.A[3 + c] = columns[c].y;
        t.A[6 + c] = columns[c].z;
        t.N[c] = m->crystal.N[c];
    }
    nb_model_drawn(m, nb_sim_first_phi(f->sim), drawn);
    for (int c = 0; c < 3; c++) {
        t.A_drawn[c] = drawn[c].x;
        t.A_drawn[3 + c] = drawn[c].y;
        t.A_drawn[6 + c] = drawn[c].z;
    }
    t.blocks = m->blocks;
    t.phi_deg = f->sim->model.settings.value.phi_deg;
    t.osc_deg = m->phi_range / NB_DEG;
    t.wavelength_A = nb_sim_wavelength(f->sim);
    t.fluence = m->fluence;
    t.mosaic_deg = m->mosaic.spread / NB_DEG;
    t.exposure_s = f->sim->cfg.exposure_s;
    t.beamsize_mm = f->sim->model.settings.value.beamsize_mm;
    t.seed = f->sim->seed;
    t.flicker = nb_sim_flicker(f->sim);
    return t;
}

/** The picture that -pngfile makes of a single image. */
static nb_status write_picture(nb_frame *f, const char *path, const nb_image_meta *meta,
                               nb_error *err)
{
    nb_picture_job job;
    nb_image_view view = {0};
    void *pixels = NULL;
    nb_picture_own own;
    nb_status st = nb_picture_of_sim(f->sim, f->image, &job, &own, err);
    if (!st)
        st = nb_picture_view(&job, &view, &pixels, err);
    if (!st)
        st = nb_write_image(nb_picture_writer(&job), path, &view, meta, err);
    nb_free(pixels);
    nb_picture_own_free(&own);
    return st;
}

nb_status nb_frame_write(nb_frame *f, const nb_format *format, const char *path,
                         nb_error *err)
{
    const nb_config *cfg = &f->sim->cfg;
    const nb_writer *writer = nb_format_writer(format, cfg->tiff_bits);
    const nb_product product = nb_frame_file_product(f, format);
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
    st = nb_frame_pixels(f, &product, &view.pixels, err);
    return st ? st : nb_write_image(writer, path, &view, &meta, err);
}

/** The panels at their places. */
static nb_status fill_canvas(nb_frame *f, const nb_hdf5_layout *layout, const void *stack,
                             nb_error *err)
{
    if (!f->canvas &&
        !(f->canvas = nb_alloc_raw(1, nb_hdf5_frame_bytes(layout), "canvas", err)))
        return NB_ERR_NOMEM;
    return nb_panels_to_canvas(f->sim, layout, stack, f->canvas, err);
}

nb_status nb_frame_encode(nb_frame *f, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err)
{
    const nb_product product = nb_frame_hdf5_product(f, layout->type);
    const void *pixels;
    nb_status st = nb_frame_pixels(f, &product, &pixels, err);
    if (!st && !f->scratch) {
        f->scratch = nb_alloc_raw(1, nb_hdf5_frame_bytes(layout) + 16384, "frame", err);
        st = f->scratch ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st && !nb_panels_are_stack(f->sim)) {
        st = fill_canvas(f, layout, pixels, err);
        pixels = f->canvas;
    }
    return st ? st : nb_hdf5_chunk_encode(layout, pixels, f->scratch, chunk, bytes, err);
}
