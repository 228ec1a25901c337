/* SPDX-License-Identifier: MIT */
/* The output files of a run. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../effects/noise.h"
#include "../effects/preview.h"
#include "../effects/quantize.h"
#include "../io/fdump.h"
#include "../io/writer.h"
#include "sim.h"

static void copy_vector(double out[3], double scale, nb_vec3 v)
{
    out[0] = v.x * scale;
    out[1] = v.y * scale;
    out[2] = v.z * scale;
}

static nb_image_meta describe_image(const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const nb_geometry *g = &m->geometry;
    nb_image_meta meta = {0};
    meta.fast = g->fpixels;
    meta.slow = g->spixels;
    meta.pixel_mm = g->pixel * 1e3;
    meta.distance_mm = g->distance * 1e3;
    meta.close_distance_mm = g->close_distance * 1e3;
    meta.wavelength_A = m->wavelength_A;
    meta.Xbeam_mm = g->Xbeam * 1e3;
    meta.Ybeam_mm = g->Ybeam * 1e3;
    meta.Fbeam_mm = g->Fbeam * 1e3;
    meta.Sbeam_mm = g->Sbeam * 1e3;
    meta.detsize_f_mm = g->detsize_f * 1e3;
    meta.detsize_s_mm = g->detsize_s * 1e3;
    meta.orgx = g->orgx;
    meta.orgy = g->orgy;
    copy_vector(meta.pix0_mm, 1e3, g->pix0);
    copy_vector(meta.fast_axis, 1, g->fast);
    copy_vector(meta.slow_axis, 1, g->slow);
    copy_vector(meta.normal, 1, g->normal);
    copy_vector(meta.beam, 1, g->beam);
    copy_vector(meta.spindle, 1, g->spindle);
    copy_vector(meta.polar_axis, 1, g->polar);
    meta.phi_deg = m->phi0 / NB_DEG;
    meta.osc_deg = m->phi_range / NB_DEG;
    meta.twotheta_deg = g->twotheta / NB_DEG;
    meta.exposure_s = sim->cfg.exposure_s;
    meta.adc_offset = sim->cfg.adc_offset;
    meta.polarization = m->scene.polarization;
    meta.thick_mm = m->scene.det.layer_step * m->scene.det.layers * 1e3;
    meta.seed = sim->seed;
    meta.date = nb_image_date();
    meta.command_line = sim->cfg.command_line;
    meta.inputs = &sim->cfg;
    return meta;
}

nb_status nb_sim_digitize(const nb_sim *sim, const float *image, const nb_stats *stats,
                          uint16_t *out, nb_error *err)
{
    (void)err;
    nb_quantize_u16(image, &sim->model.scene, nb_int_scale(sim->cfg.scale, stats),
                    sim->cfg.adc_offset, out);
    return NB_OK;
}

nb_status nb_sim_noise(const nb_sim *sim, const float *image, uint16_t *out, int64_t *overloads,
                       nb_error *err)
{
    nb_noise_options options = {sim->seed, 0, sim->cfg.adc_offset, sim->cfg.threads};
    if (sim->cfg.compat)
        return nb_noise_legacy(image, &sim->model.scene, &options, out, overloads, err);
    return nb_noise(image, &sim->model.scene, &options, out, overloads, err);
}

/** Everything that the writers of one run share. */
typedef struct outputs {
    nb_sim *sim;
    const float *image;
    const nb_stats *stats;
    nb_image_meta meta;
    nb_image_view view;
} outputs;

static nb_status write_as(outputs *o, const nb_writer *writer, const char *path,
                          nb_pixel_type type, const void *pixels, nb_error *err)
{
    o->view.type = type;
    o->view.pixels = pixels;
    return nb_write_image(writer, path, &o->view, &o->meta, err);
}

static nb_status write_float(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    nb_status st = NB_OK;
    o->view.scale = 1;
    if (cfg->write_float)
        st = write_as(o, &nb_writer_float, cfg->float_file, NB_PIXEL_F32, o->image, err);
    if (!st && cfg->tiff_file[0] && cfg->tiff_bits == 32)
        st = write_as(o, &nb_writer_tiff_f32, cfg->tiff_file, NB_PIXEL_F32, o->image, err);
    return st;
}

/** The scaled integer image, and the noise image in the same buffer after it. */
static nb_status write_u16(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    int tiff16 = cfg->tiff_file[0] && cfg->tiff_bits == 16;
    size_t pixels = (size_t)o->meta.fast * (size_t)o->meta.slow;
    uint16_t *buffer = nb_alloc_raw(pixels, sizeof *buffer, "integer image", err);
    nb_status st = buffer ? NB_OK : NB_ERR_NOMEM;
    double start;
    o->view.scale = nb_int_scale(cfg->scale, o->stats);
    if (!st && (cfg->write_int || tiff16))
        st = nb_sim_digitize(o->sim, o->image, o->stats, buffer, err);
    if (!st && cfg->write_int)
        st = write_as(o, &nb_writer_smv, cfg->int_file, NB_PIXEL_U16, buffer, err);
    if (!st && tiff16)
        st = write_as(o, &nb_writer_tiff_u16, cfg->tiff_file, NB_PIXEL_U16, buffer, err);
    if (!st && cfg->write_noise) {
        start = nb_monotonic_seconds();
        st = nb_sim_noise(o->sim, o->image, buffer, &o->sim->overloads, err);
        o->sim->times.noise += nb_monotonic_seconds() - start;
        o->meta.overloads = o->sim->overloads;
        o->view.scale = 1;
        if (!st)
            st = write_as(o, &nb_writer_smv, cfg->noise_file, NB_PIXEL_U16, buffer, err);
    }
    nb_free(buffer);
    return st;
}

static nb_status write_u8(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    size_t pixels = (size_t)o->meta.fast * (size_t)o->meta.slow;
    uint8_t *buffer = nb_alloc_raw(pixels, 1, "8-bit image", err);
    nb_status st = buffer ? NB_OK : NB_ERR_NOMEM;
    if (!st && cfg->write_pgm) {
        o->view.scale =
            nb_pgm_scale(cfg->pgm_scale, o->stats, nb_int_scale(cfg->scale, o->stats));
        nb_quantize_u8(o->image, pixels, o->view.scale, buffer);
        st = write_as(o, &nb_writer_pgm, cfg->pgm_file, NB_PIXEL_U8, buffer, err);
    }
    o->view.scale = 0;
    if (!st && cfg->png_file[0]) {
        st = nb_preview(o->image, o->meta.fast, o->meta.slow, NULL, buffer, err);
        if (!st)
            st = write_as(o, &nb_writer_png, cfg->png_file, NB_PIXEL_U8, buffer, err);
    }
    nb_free(buffer);
    return st;
}

static nb_status dump_sink(void *user, const void *data, size_t bytes, nb_error *err)
{
    return nb_outfile_write(user, data, bytes, err);
}

/** The cache of structure factors, for the next run without -hkl. */
static nb_status write_dump(const nb_sim *sim, nb_error *err)
{
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, nb_dump_name(&sim->cfg), err);
    if (!st)
        st = nb_fdump_write(&sim->table, dump_sink, &out, err);
    if (!st)
        st = nb_outfile_commit(&out, err);
    if (st)
        nb_outfile_abort(&out);
    return st;
}

nb_status nb_sim_write(nb_sim *sim, const float *image, const nb_stats *stats, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    outputs o = {sim, image, stats, describe_image(sim), {0}};
    double start = nb_monotonic_seconds(), noise = sim->times.noise;
    nb_status st = NB_OK;
    o.view.fast = o.meta.fast;
    o.view.slow = o.meta.slow;
    if (sim->table_from_hkl)
        st = write_dump(sim, err);
    if (!st)
        st = write_float(&o, err);
    if (!st && (cfg->write_int || cfg->write_noise || (cfg->tiff_file[0] && cfg->tiff_bits == 16)))
        st = write_u16(&o, err);
    if (!st && (cfg->write_pgm || cfg->png_file[0]))
        st = write_u8(&o, err);
    sim->times.write += nb_monotonic_seconds() - start - (sim->times.noise - noise);
    return st;
}
