/* SPDX-License-Identifier: MIT */
/* The metadata for the headers of image files. */
#include <string.h>

#include "../io/image/writer.h"
#include "../sim/noise.h"
#include "write.h"

static void copy_vector(double out[3], double scale, nb_vec3 v)
{
    out[0] = v.x * scale;
    out[1] = v.y * scale;
    out[2] = v.z * scale;
}

nb_image_meta nb_sim_describe(const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const nb_geometry *g = &m->geometry;
    nb_image_meta meta = {0};
    meta.fast = sim->model.flat.raster.columns;
    meta.slow = sim->model.flat.raster.rows;
    meta.pixel_mm = g->pixel * 1e3;
    meta.distance_mm = g->distance * 1e3;
    meta.close_distance_mm = g->close_distance * 1e3;
    meta.wavelength_A = nb_sim_wavelength(sim);
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
    meta.polarization = m->scene.beam.polarization;
    meta.nopolar = m->scene.beam.nopolar;
    meta.thick_mm = m->scene.sensors->layer_step * m->scene.sensors->layers * 1e3;
    memcpy(meta.material, m->detector->material.name, sizeof meta.material);
    meta.blocks = m->blocks;
    meta.seed = sim->seed;
    meta.date = nb_image_date();
    meta.command_line = sim->cfg.command_line;
    meta.inputs = &sim->cfg;
    return meta;
}

nb_image_meta nb_sim_describe_noise(const nb_sim *sim, nb_image_meta meta,
                                    nb_noise_file file)
{
    const nb_noise noise = nb_noise_of(&sim->model.settings);
    if (!noise.chained)
        return meta;
    meta.gain = noise.gain;
    if (nb_noise_bounded(&sim->model.settings))
        meta.saturation = nb_sim_noise_largest(sim, file) - 1;
    return meta;
}
