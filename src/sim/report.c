/* SPDX-License-Identifier: MIT */
/* The report of a run as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../io/common/axes.h"
#include "../model/drawn.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "footprint.h"
#include "mix.h"
#include "shade.h"
#include "crystals.h"
#include "load.h"
#include "report.h"
#include "noise.h"

/** The default model of nanoBragg is not named, so the line is as in earlier versions. */
static void report_mosaic(nb_report_text *t, const nb_sim *sim)
{
    const nb_mosaic *m = &sim->model.mosaic;
    nb_vec3 drawn[3];
    double turned;
    const double *three = sim->model.settings.value.mosaic_aniso_deg.v;
    int n = sim->model.scene.lattice.n_domains, named = m->model != NB_MOSAIC_NANOBRAGG;
    if (sim->in.files->blocks.n) {
        nb_report_put(
            t, "          %d mosaic domains of %.200s, root mean square %.4g deg\n", n,
            sim->cfg.mosaic_blocks, sim->in.files->blocks.angle / NB_DEG);
        return;
    }
    nb_report_put(t, "          %d mosaic domain%s%s%s, ", n, n == 1 ? "" : "s",
                  named ? ", " : "",
                  named ? nb_param_choice("mosaic_model", (int)m->model) : "");
    if (sim->model.settings.value.mosaic_aniso_deg.set)
        nb_report_put(t, "spread %g %g %g deg", three[0], three[1], three[2]);
    else
        nb_report_put(t, "spread %g deg", m->spread / NB_DEG);
    if (m->tail != 0)
        nb_report_put(t, ", tail %g deg", m->tail / NB_DEG);
    nb_report_put(t, ", seed %lld\n", (long long)m->seed);
    turned = n > 1 ? nb_model_drawn(&sim->model, nb_sim_first_phi(sim), drawn) : NAN;
    if (isfinite(turned)) /* domains in all orientations have no mean */
        nb_report_put(t, "          their mean is turned by %.4g deg\n", turned / NB_DEG);
}

/** The angle between two edges, degrees; rounding may take its cosine beyond 1. */
static double angle_of(nb_vec3 p, nb_vec3 q, double p_A, double q_A)
{
    const double c = nb_dot(p, q) / (p_A * q_A * 1e-20);
    return acos(fmax(-1, fmin(1, c))) / NB_DEG;
}

static void report_crystal(nb_report_text *t, const nb_sim *sim)
{
    const nb_crystal *x = &sim->model.crystal;
    const nb_scene *sc = &sim->model.scene;
    nb_report_put(
        t, "crystal   cell %.7g %.7g %.7g A  %.7g %.7g %.7g deg, volume %.7g A^3\n",
        x->edge[0], x->edge[1], x->edge[2], angle_of(x->b, x->c, x->edge[1], x->edge[2]),
        angle_of(x->a, x->c, x->edge[0], x->edge[2]),
        angle_of(x->a, x->b, x->edge[0], x->edge[1]), x->volume);
    nb_report_put(t, "          %gx%gx%g cells, %s, misset %.9g %.9g %.9g deg\n", x->N[0],
                  x->N[1], x->N[2], nb_param_choice("shape", sc->lattice.shape),
                  x->misset[0] / NB_DEG, x->misset[1] / NB_DEG, x->misset[2] / NB_DEG);
    if (nb_shape_law(sc->lattice.shape) == NB_LAW_DECAY)
        nb_report_put(
            t, "          intensities are %.4f of Darwin's%s\n",
            pow(nb_shape_row_of(sc->lattice.shape).width * NB_PI / 2 / sc->lattice.fudge,
                1.5),
            sc->lattice.fudge == 1 ? " (1 with -fudge darwin)" : "");
    if (sim->model.blocks != 1)
        nb_report_put(t, "          %g blocks of this size, %g um^3 in the beam\n",
                      sim->model.blocks, sim->model.blocks * nb_crystal_block_um3(x));
    if (sim->model.settings.value.misset_mode == NB_MISSET_RANDOM)
        nb_report_put(t, "          random orientation of misset seed %lld\n",
                      (long long)x->misset_seed);
    if (sim->in.tables.file->F)
        nb_report_put(t, "          %lld structure factors, %s\n",
                      (long long)sim->in.tables.file->reflections,
                      sc->factors.table.interpolate ? "interpolated"
                                                    : "nearest reflection");
    else
        nb_report_put(t, "          every structure factor is %g electrons\n",
                      sc->factors.table.default_F);
    report_mosaic(t, sim);
    if (sim->in.sums)
        nb_factor_sums_put(t, sim->in.sums, &sim->model.settings, sim->in.tables.waves,
                           &sim->in.tables.stats);
}

/** How many crystals there are; above is the first. */
static void report_crystals(nb_report_text *t, const nb_sim *sim)
{
    const int n = sim->crowd ? sim->crowd->crystals : 1;
    if (n == 0)
        nb_report_put(t, "          no crystal in the image: -crystals 0\n");
    if (sim->cfg.twin[0])
        nb_report_put(t,
                      "          twin %.200s: %g of the crystal has the lattice above\n",
                      sim->cfg.twin, sim->model.twin_share);
    for (int i = 0; sim->crowd && i < sim->crowd->n && sim->crowd->all[i]->crystal == 0;
         i++)
        nb_report_put(t, "          and %g another one, with an obliquity of %.3g deg\n",
                      sim->crowd->all[i]->model.twin_share,
                      sim->crowd->all[i]->model.obliquity / NB_DEG);
    if (n > 1)
        nb_report_put(
            t, "          %d crystals in the image; above is the first of them\n", n);
}

/** DIALS 3.12 does not read the polarization from our files. Print what to type, unless
 * DIALS assumes it. */
static void report_polarization(nb_report_text *t, const nb_sim *sim)
{
    const nb_image_meta m = nb_sim_describe(sim);
    double p, n[3];
    if (m.nopolar) {
        nb_report_put(
            t, "          no polarization factor in the image, but DIALS always corrects "
               "for polarization\n");
        return;
    }
    nb_dials_polarization(&m, &p, n);
    if (fabs(p - 0.999) < 0.0015 && fabs(n[1]) > 0.999999)
        return;
    nb_report_put(
        t, "          DIALS assumes 0.999; in dials.import type geometry.beam.polarization_fraction=%.6g",
        p);
    if (m.polarization != 0 && fabs(n[1]) < 0.999999)
        nb_report_put(t, " geometry.beam.polarization_normal=%.6g,%.6g,%.6g", n[0], n[1],
                      n[2]);
    nb_report_put(t, "\n");
}

static void report_footprint(nb_report_text *t, const nb_sim *sim)
{
    nb_footprint_words w;
    if (!nb_sim_has_footprint(sim) || nb_footprint_read(sim->cfg.footprint, &w, NULL))
        return;
    nb_report_put(t, "footprint %s of %g x %g mm%s, %g deg from the horizontal\n",
                  w.box ? "box" : "Gaussian", w.a_mm, w.b_mm, w.box ? "" : " (FWHM)",
                  w.angle_deg);
}

static void report_damage(nb_report_text *t, const nb_damage *d)
{
    if (d->given)
        nb_report_put(t,
                      "damage    %g MGy in the middle of the frame: B + %g A^2, edges "
                      "times %.9g%s\n",
                      d->dose, d->B, d->growth,
                      d->fall > 0 ? ", intensities halve by resolution" : "");
}

static void report_absorb(nb_report_text *t, const nb_sim *sim)
{
    const double *part = nb_inputs_absorbed(&sim->in);
    if (sim->in.absorb)
        nb_report_put(t,
                      "absorbed  -absorb %s, %g/mm: the crystal lets %.4g to %.4g of its "
                      "light through\n",
                      sim->cfg.absorb, sim->model.absorber.mu * 1e-3, part[0], part[1]);
}

static void report_shadow(nb_report_text *t, const nb_sim *sim)
{
    if (sim->in.shade)
        nb_report_put(t, "shadow    %lld pixels get less than half of their light\n",
                      (long long)nb_inputs_shades(&sim->in)->dim);
    if (sim->in.files->add)
        nb_report_put(t, "added     -add %.300s, times %.9g\n", sim->cfg.add_file,
                      nb_sim_mix(sim).add_scale);
}

/** What the noise images have beside counts and an offset. */
static void report_noise(nb_report_text *t, const nb_sim *sim)
{
    const nb_noise n = nb_noise_of(&sim->model.settings);
    if (!n.chained)
        return;
    nb_report_put(t, "noise     %s", n.counts ? "counts" : "no counting noise");
    if (n.flicker > 0)
        nb_report_put(t, ", source times %.9g", nb_sim_flicker(sim));
    if (n.deadtime > 0)
        nb_report_put(t, ", dead time %g ns", n.deadtime * 1e9);
    if (n.psf)
        nb_report_put(t, ", point spread %s of %g um", nb_param_choice("psf", (int)n.psf),
                      n.fwhm * 1e6);
    nb_report_put(t, "\n          gain %g ADU a photon", n.gain);
    if (n.calibration > 0)
        nb_report_put(t, ", calibration %g with seed %lld", n.calibration,
                      (long long)n.calib_seed);
    if (n.readout > 0)
        nb_report_put(t, ", read-out %g ADU", n.readout);
    if (sim->cfg.gainmap_file[0])
        nb_report_put(t, ", gain map %.300s", sim->cfg.gainmap_file);
    if (NB_TYPED(&sim->model.settings, saturation))
        nb_report_put(t, ", trusted up to %g ADU", sim->cfg.saturation);
    nb_report_put(t, "\n");
}

/** Shortest and longest wavelength, where there are several. */
static void report_wavelengths(nb_report_text *t, const nb_beam *beam)
{
    double low = INFINITY, high = 0;
    int n = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        const double l = beam->sources[i].lambda;
        int known = 0;
        for (int k = 0; k < i && !known; k++)
            known = beam->sources[k].lambda == l;
        n += !known;
        low = fmin(low, l);
        high = fmax(high, l);
    }
    if (n > 1)
        nb_report_put(t, "          %d wavelengths, %.7g to %.7g A\n", n, low * 1e10,
                      high * 1e10);
}

static void report_background(nb_report_text *t, const nb_model *model)
{
    char materials[2 * NB_PATH_MAX] = "";
    const double photons = nb_background_about(model);
    nb_background_words(&model->settings, materials, sizeof materials);
    if (!(model->scene.background > 0) && !model->scene.amorphous)
        return;
    nb_report_put(t, "background");
    if (model->scene.background > 0)
        nb_report_put(t, " -water %g um", model->settings.value.water_um);
    if (materials[0])
        nb_report_put(t, "%s %.300s", model->scene.background > 0 ? "," : "", materials);
    nb_report_put(t, ": about %.3g photons, %.3g a pixel\n", photons,
                  photons / nb_rendered_pixels(&model->scene));
}

/** Says that the place of the beam is the default. */
static void report_default_centre(nb_report_text *t, const nb_inputs *in,
                                  const nb_model *model)
{
    const nb_settings *all = &model->settings;
    if (model->geometry.convention == NB_CONV_MOSFLM && !in->files->spec.n_panels &&
        !NB_TYPED(all, pix0_m) && !NB_TYPED(all, Xbeam_mm) && !NB_TYPED(all, Ybeam_mm))
        nb_report_put(t,
                      "          this is the default, a pixel off the middle: MOSFLM's "
                      "centre is half a pixel off, and its origin another half\n");
}

nb_status nb_sim_report(const nb_sim *sim, char **out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && out);
    const nb_model *m = &sim->model;
    const nb_geometry *g = &m->geometry;
    const nb_scene *sc = &m->scene;
    char material[2 * NB_SENSOR_MAX] = "";
    nb_report_text t = {0};
    if (m->detector->material.name[0])
        snprintf(material, sizeof material, " of %s, %g g/cm3,",
                 m->detector->material.name, m->detector->material.density);
    nb_report_put(
        &t, "beam      wavelength %.9g A, %d source%s, fluence %g photons/m^2, polarization %g%s\n",
        m->wavelength_A, sc->beam.n_sources, sc->beam.n_sources == 1 ? "" : "s",
        m->fluence, sc->beam.polarization, sc->beam.nopolar ? " (off)" : "");
    report_wavelengths(&t, &sc->beam);
    nb_report_spectrum(&t, &m->spectrum);
    report_polarization(&t, sim);
    report_crystal(&t, sim);
    report_crystals(&t, sim);
    nb_report_put(&t, "spindle   phi %g deg, oscillation %g deg in %d step%s%s\n",
                  m->phi0 / NB_DEG, m->phi_range / NB_DEG, sc->lattice.n_phi,
                  sc->lattice.n_phi == 1 ? "" : "s",
                  m->auto_phi_steps > 0 ? " (automatic)" : "");
    nb_report_put(
        &t,
        "detector  %d x %d pixels of %g mm, distance %.9g mm, %s convention, %s pivot\n",
        g->fpixels, g->spixels, g->pixel * 1e3, g->distance * 1e3,
        nb_param_choice("convention", (int)g->convention),
        nb_param_choice("pivot", (int)g->pivot));
    nb_report_put(
        &t, "          beam at %.9g %.9g mm along fast, slow; origin %.9g %.9g %.9g mm\n",
        g->Fbeam * 1e3, g->Sbeam * 1e3, g->pix0.x * 1e3, g->pix0.y * 1e3, g->pix0.z * 1e3);
    report_default_centre(&t, &sim->in, &sim->model);
    if (sc->n_panels > 1)
        nb_report_put(
            &t,
            "          %d panels of %zu pixels together; above is that of the beam, %s\n",
            sc->n_panels, sc->raster.pixels,
            sim->in.files->spec.panels[g->beam_panel].name);
    if (sc->panels->curved)
        nb_report_put(&t, "          curved about the sample, solid angles %s\n",
                      sc->panels->exact_omega ? "exact" : "pixel^2/R^2");
    if (sc->sensors->absorb)
        nb_report_put(
            &t, "          sensor %g um%s in %d layer%s %s, attenuation depth %g um\n",
            sc->sensors->layer_step * sc->sensors->layers * 1e6, material,
            sc->sensors->layers, sc->sensors->layers == 1 ? "" : "s",
            sc->sensors->mean_depth ? "at mean depth" : "at the front",
            1e6 / sc->sensors->mu);
    nb_report_put(&t, "sampling  %d x %d sub-pixels, %lld steps per pixel\n",
                  sc->oversample, sc->oversample,
                  (long long)sc->samples * sc->sensors->layers);
    report_footprint(&t, sim);
    report_background(&t, &sim->model);
    report_damage(&t, &m->damage);
    report_absorb(&t, sim);
    report_shadow(&t, sim);
    report_noise(&t, sim);
    return nb_report_end(&t, out, err);
}
