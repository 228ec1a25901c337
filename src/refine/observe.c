/* SPDX-License-Identifier: MIT */
/* From a picture in ADU to photons, and where its pixels stand in reciprocal space. */
#include <math.h>
#include <string.h>

#include "../sim/sim.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "fit.h"

/* SMV files without a word on it have this offset, ADU. */
#define SMV_OFFSET 40
#define MOST_NEGATIVE 0.001 /* part of the pixels, without a notice */

static double offset_of(const nb_config *cfg, const nb_image *picture)
{
    if (cfg->adc_set)
        return cfg->adc_offset;
    if (picture->pedestal != 0)
        return picture->pedestal;
    return strcmp(picture->format, "SMV") == 0 ? SMV_OFFSET : 0;
}

/** Is it what files of whole numbers have in place of a count: the largest number of their type? */
static int stands_for_none(const nb_image *picture, double adu)
{
    if (strcmp(picture->format, "float") == 0)
        return 0;
    if (strcmp(picture->format, "HDF5") == 0 && adu >= 4294967294.0)
        return 1;
    return adu == 65535;
}

/** Files of photon counters mark unknown pixels with negative values. */
static int marks_unknown(const nb_image *picture)
{
    return strcmp(picture->format, "CBF") == 0 || strcmp(picture->format, "HDF5") == 0;
}

static double stol_of(const nb_panel *panel, const nb_sensor *sensor, double wavelength,
                      int f, int s)
{
    double F = nb_subpixel(panel->pixel_fast, 1, f, 0);
    double S = nb_subpixel(panel->pixel_slow, 1, s, 0);
    nb_vec3 d = nb_ray_to(panel, sensor, F, S, 0).direction;
    return nb_norm(nb_sub(d, panel->beam)) / (2 * wavelength);
}

/** Is it too much for a count?  65535 may also be an unknown pixel of HDF5. */
static int is_full(const nb_image *picture, double adu, double most)
{
    return adu >= most || (adu == 65535 && stands_for_none(picture, adu) &&
                           strcmp(picture->format, "HDF5") != 0);
}

/** Pixels of one panel. */
static void observe_panel(nb_fit *fit, const nb_image *picture, int k, double offset)
{
    const nb_sim *sim = fit->sim;
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *panel = &sc->panels[k];
    const nb_settings *all = &sim->model.settings;
    nb_region region = nb_panel_region(sc, panel);
    double wavelength = nb_sim_wavelength(sim);
    double gain = NB_TYPED_OR(
        all, gain, sim->in.files->panel_gains ? sim->in.files->panel_gains[k] : 1);
    double most = NB_TYPED_OR(all, saturation, INFINITY);
    if (!NB_TYPED(all, saturation) && sim->in.files->panel_gains &&
        sim->in.files->panel_gains[sim->in.files->spec.n_panels + k] > 0)
        most = sim->in.files->panel_gains[sim->in.files->spec.n_panels + k];
    for (int s = region.smin; s <= region.smax; s++)
        for (int f = region.fmin; f <= region.fmax; f++) {
            size_t at =
                panel->first_pixel + (size_t)s * (size_t)panel->columns + (size_t)f;
            double adu = picture->pixels[at];
            double here = gain * (sim->in.files->gainmap ? sim->in.files->gainmap[at] : 1);
            double d = stol_of(panel, &sc->sensors[panel->sensor], wavelength, f, s);
            fit->stol[at] = (float)d;
            if (picture->left_out && picture->left_out[at])
                continue;
            if ((!sc->raster.mask || sc->raster.mask[at]) && here > 0 &&
                is_full(picture, adu, most))
                fit->full[at] = (float)((adu - offset) / here);
            if ((sc->raster.mask && !sc->raster.mask[at]) || !isfinite(adu) ||
                adu >= most || !(here > 0) || stands_for_none(picture, adu) ||
                (adu < 0 && marks_unknown(picture)) ||
                (fit->o->dmin_A > 0 && d * 2 * fit->o->dmin_A > 1) ||
                (fit->o->dmax_A > 0 && d * 2 * fit->o->dmax_A < 1))
                continue;
            fit->photons[at] = (float)((adu - offset) / here);
        }
}

/** What can be used, in all. */
static nb_status count(nb_fit *fit, nb_error *err)
{
    int64_t negative = 0, all = 0;
    fit->low = INFINITY;
    fit->high = 0;
    for (size_t i = 0; i < fit->pixels; i++) {
        if (isnan(fit->photons[i]))
            continue;
        all++;
        fit->low = fmin(fit->low, fit->stol[i]);
        fit->high = fmax(fit->high, fit->stol[i]);
        if (fit->photons[i] < 0 && fit->o->likelihood == NB_LIKELIHOOD_POISSON) {
            negative++;
            fit->photons[i] = 0;
        }
    }
    if (!all)
        return nb_fail(err, NB_ERR_INPUT,
                       "no pixel is left to fit: mask, -roi, -saturation, -fit_dmin and "
                       "-fit_dmax exclude all");
    if ((double)negative > MOST_NEGATIVE * (double)all)
        nb_notice(
            &fit->sim->hooks,
            "%.3g %% of the pixels are below 0 photons and count as 0: check -adc and "
            "-gain, or use -likelihood gauss",
            100.0 * (double)negative / (double)all);
    return NB_OK;
}

nb_status nb_fit_observe(nb_fit *fit, const nb_image *picture, nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    const nb_settings *all = &fit->sim->model.settings;
    int fast, slow;
    double gain = all->value.gain;
    nb_sim_size(fit->sim, &fast, &slow);
    fit->pixels = sc->raster.pixels;
    if ((size_t)picture->fast * (size_t)picture->slow != fit->pixels ||
        picture->fast != fast)
        return nb_fail(err, NB_ERR_INPUT,
                       "the picture has %d x %d pixels, but the simulation %d x %d; add "
                       "-detpixels_x %d -detpixels_y %d, or the geometry of the picture",
                       picture->fast, picture->slow, fast, slow, picture->fast,
                       picture->slow);
    fit->stol = nb_alloc(fit->pixels, sizeof *fit->stol, "resolution", err);
    fit->photons = nb_alloc_raw(fit->pixels, sizeof *fit->photons, "photons", err);
    fit->chosen = nb_alloc_raw(fit->pixels, sizeof *fit->chosen, "photons", err);
    fit->spots = nb_alloc(fit->pixels, 1, "spots", err);
    fit->expected = nb_alloc(fit->pixels, sizeof *fit->expected, "model", err);
    fit->full = nb_alloc_raw(fit->pixels, sizeof *fit->full, "photons", err);
    if (!fit->stol || !fit->photons || !fit->chosen || !fit->expected || !fit->full ||
        !fit->spots)
        return NB_ERR_NOMEM;
    if (fit->sim->in.files->panel_gains && !NB_TYPED(all, gain))
        gain = fit->sim->in.files->panel_gains[0];
    fit->sigma = all->value.readout_noise / gain;
    for (size_t i = 0; i < fit->pixels; i++)
        fit->photons[i] = fit->full[i] = NAN;
    for (int k = 0; k < sc->n_panels; k++)
        observe_panel(fit, picture, k, offset_of(&all->value, picture));
    return count(fit, err);
}

void nb_fit_free(nb_fit *fit)
{
    nb_free(fit->stol);
    nb_free(fit->photons);
    nb_free(fit->chosen);
    nb_free(fit->spots);
    nb_free(fit->full);
    nb_free(fit->background);
    nb_free(fit->expected);
    fit->stol = fit->photons = fit->chosen = fit->full = fit->background = NULL;
    fit->expected = NULL;
    fit->spots = NULL;
}
