/* SPDX-License-Identifier: MIT */
/* Describe an image in files: metadata of headers, and truth of masters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/text.h"
#include "../model/scene_build.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "write.h"
#include "../sim/noise.h"

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

/** Put the position of the detector. */
static void put_geometry(const nb_image_meta *m, nb_hdf5_frame *t)
{
    memcpy(t->pix0_mm, m->pix0_mm, sizeof t->pix0_mm);
    memcpy(t->fast_axis, m->fast_axis, sizeof t->fast_axis);
    memcpy(t->slow_axis, m->slow_axis, sizeof t->slow_axis);
    memcpy(t->beam, m->beam, sizeof t->beam);
    memcpy(t->spindle, m->spindle, sizeof t->spindle);
    memcpy(t->polar_axis, m->polar_axis, sizeof t->polar_axis);
}

/** Take the crystal of another image, and the beam as far as no flag sets it. */
static void take_crystal(const nb_model *m, const nb_hdf5_frame *from, nb_hdf5_frame *t)
{
    const nb_settings *all = &m->settings;
    memcpy(t->A, from->A, sizeof t->A);
    memcpy(t->A_drawn, from->A_drawn, sizeof t->A_drawn);
    memcpy(t->misset, from->misset, sizeof t->misset);
    memcpy(t->N, from->N, sizeof t->N);
    t->blocks = from->blocks;
    t->mosaic_deg = from->mosaic_deg;
    if (!isnan(from->dose_MGy)) {
        t->dose_MGy = from->dose_MGy;
        t->B_added = from->B_added;
        t->cell_factor = from->cell_factor;
    }
    if (!isnan(from->phi_deg) && !NB_TYPED(all, phi_deg) && !NB_TYPED(all, osc_deg)) {
        t->phi_deg = from->phi_deg;
        t->osc_deg = from->osc_deg;
    }
    if (!isnan(from->fluence) && !NB_TYPED(all, fluence) && !NB_TYPED(all, flux))
        t->fluence = from->fluence;
    if (!isnan(from->exposure_s) && !NB_TYPED(all, exposure_s))
        t->exposure_s = from->exposure_s;
}

nb_hdf5_frame nb_sim_truth(const nb_sim *sim, const nb_hdf5_frame *stored)
{
    const nb_model *m = &sim->model;
    const nb_crystal *x = &m->crystal;
    const nb_image_meta meta = nb_sim_describe(sim);
    nb_hdf5_frame t = {0}, unknown;
    nb_vec3 drawn[3];
    put_geometry(&meta, &t);
    nb_put_columns(x->astar, x->bstar, x->cstar, t.A);
    memcpy(t.N, x->N, sizeof t.N);
    nb_crystal_misset(x, t.misset);
    nb_model_drawn(m, nb_sim_first_phi(sim), drawn);
    nb_put_columns(drawn[0], drawn[1], drawn[2], t.A_drawn);
    t.beamsize_mm = m->settings.value.beamsize_mm;
    t.seed = sim->seed;
#define NUMBER(part, member, name, unit, value) t.member = value;
#include "../io/hdf5/truth_rows.h"
    if (sim->further && !sim->further->crystals) {
        nb_hdf5_forget(&unknown);
        stored = &unknown;
    }
    if (stored)
        take_crystal(m, stored, &t);
    return t;
}

nb_hdf5_noise nb_sim_noise_truth(const nb_sim *sim, nb_noise_file file)
{
    const nb_settings *all = &sim->model.settings;
    const nb_config *cfg = &all->value;
    const nb_noise n = nb_noise_of(all);
    double adc = cfg->adc_set ? cfg->adc_offset : 0;
    nb_hdf5_noise noise = {.wanted = n.chained || cfg->adc_set,
                           .gain = n.gain,
                           .adc_offset = adc,
                           .readout = n.readout,
                           .calibration = n.calibration,
                           .calib_seed = n.calib_seed,
                           .psf = n.psf ? nb_param_choice("psf", (int)n.psf) : "none",
                           .psf_fwhm_um = n.psf ? n.fwhm * 1e6 : 0};
    if (n.chained)
        noise.trusted = nb_sim_noise_largest(sim, file) - 1;
    return cfg->write_noise ? noise : (nb_hdf5_noise){0};
}

/** Allocate memory for n more rows. */
static nb_status reserve_rows(nb_hdf5_crystals *all, size_t n, nb_error *err)
{
    if (all->n + n <= all->room)
        return NB_OK;
    all->room = 2 * (all->n + n);
    return nb_grow(&all->rows, all->n, all->room, sizeof *all->rows, "truth", err);
}

static const char *factors_of(const nb_config *cfg)
{
    const char *const names[] = {cfg->pdb_file, cfg->mtz_file, cfg->cif_file,
                                 cfg->hkl_file};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0])
            return names[i];
    return "";
}

nb_status nb_sim_crystal_rows(const nb_sim *sim, int frame, int crystal, nb_config *cfg,
                              nb_hdf5_crystals *rows, nb_error *err)
{
    const nb_settings *settings;
    nb_crystal first, x;
    nb_twin twin = {0};
    nb_status st = nb_sim_crystal_of(sim, cfg, &first, err);
    NB_TRY(nb_twin_read(cfg->twin, &twin, err));
    NB_TRY(reserve_rows(rows, (size_t)twin.n + 1, err));
    if (st)
        return st;
    settings = NB_RESOLVED(cfg);
    for (int i = 0; i <= twin.n; i++) {
        nb_hdf5_crystal *row = &rows->rows[rows->n++];
        memset(row, 0, sizeof *row);
        x = first;
        nb_twin_turn(&twin, i, &x);
        row->frame = frame;
        row->crystal = crystal;
        row->twin = i;
        row->part = nb_twin_share(&twin, i);
        nb_put_columns(x.astar, x.bstar, x.cstar, row->A);
        nb_crystal_misset(&x, row->misset);
        memcpy(row->N, x.N, sizeof row->N);
        nb_cell_of(&x, row->cell);
        for (int j = 0; j < 6; j++)
            row->cell[j] = nb_typeable(row->cell[j]);
        row->blocks = nb_crystal_blocks(settings, &x);
        row->mosaic_deg = settings->value.mosaic_spread_deg;
        row->B_added = settings->value.B_add;
        row->F_scale = NB_TYPED_OR(settings, F_scale, 1);
        snprintf(row->file, sizeof row->file, "%.255s", factors_of(cfg));
    }
    return NB_OK;
}
