/* SPDX-License-Identifier: MIT */
/* The noise of source and detector in a configuration. */
#include "noise.h"

#include <math.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/outfile.h"
#include "../image/poisson.h"
#include "../image/stages.h"
#include "../model/units.h"
#include "../params/params.h"
#include "footprint.h"
#include "../inputs/load.h"

nb_noise nb_noise_of(const nb_settings *all)
{
    const nb_config *cfg = &all->value;
    nb_noise n = {.flicker = cfg->flicker,
                  .deadtime = cfg->deadtime_ns * 1e-9,
                  .counts = !cfg->nopoisson,
                  .psf = cfg->psf == NB_PSF_FIBER ? NB_PSF_FIBRE : cfg->psf,
                  .fwhm = cfg->psf_fwhm_um * 1e-6,
                  .calibration = cfg->calibration,
                  .calib_seed = cfg->calib_seed.value,
                  .gain = cfg->gain,
                  .readout = cfg->readout_noise};
    if (!NB_TYPED(all, gain) && cfg->detector && cfg->detector->n_panels && !cfg->compat)
        n.gain = cfg->detector->panels[0].gain;
    n.chained = nb_noise_chain(all);
    return n;
}

static double trusted_of_type(nb_noise_file file)
{
    static const double trusted[] = {65534, 65533, 32766, 2147483645};
    return trusted[file];
}

double nb_noise_trusted(const nb_settings *all, nb_noise_file file)
{
    return fmin(trusted_of_type(file), NB_TYPED_OR(all, saturation, INFINITY));
}

/** Typed saturation, else the smallest saturation of a panel; infinite without both. */
static double trusted_of_all(const nb_settings *all)
{
    const nb_detector_spec *d = all->value.detector;
    double least = INFINITY;
    if (NB_TYPED(all, saturation))
        return all->value.saturation;
    for (int k = 0; d && k < d->n_panels; k++)
        least = fmin(least, nb_said_or(d->panels[k].saturation, INFINITY));
    return least;
}

static double largest_of(const nb_settings *all, nb_noise_file file)
{
    double largest = trusted_of_type(file);
    int chained = all->value.write_noise && nb_noise_chain(all);
    if (all->value.compat || (file == NB_NOISE_HDF5_U16 && !chained))
        return file == NB_NOISE_HDF5_I16 ? 32767 : 65535;
    if (chained)
        largest = floor(fmin(largest, trusted_of_all(all)));
    return largest + 1;
}

double nb_noise_largest(const nb_config *cfg, nb_noise_file file)
{
    return largest_of(NB_RESOLVED(cfg), file);
}

int nb_noise_bounded(const nb_settings *all)
{
    return isfinite(trusted_of_all(all));
}

double nb_sim_noise_largest(const nb_sim *sim, nb_noise_file file)
{
    return largest_of(&sim->model.settings, file);
}

static void add(nb_stage *stages, int *n, int wanted, nb_stage stage)
{
    if (wanted)
        stages[(*n)++] = stage;
}

int nb_sim_stages(const nb_sim *sim, nb_stage stages[NB_STAGES_MAX])
{
    const nb_settings *all = &sim->model.settings;
    const nb_config *cfg = &all->value;
    const nb_files *files = sim->in.files;
    const nb_noise noise = nb_noise_of(all);
    const int64_t seed = sim->seed;
    int compat = cfg->compat, n = 0;
    const nb_stage counts = {.kind = compat ? NB_STAGE_POISSON_COMPAT : NB_STAGE_POISSON,
                             .seed = seed};
    if (!noise.chained) {
        stages[0] = counts;
        return 1;
    }
    add(stages, &n, noise.flicker > 0,
        (nb_stage){.kind = NB_STAGE_FLICKER, .amount = nb_sim_flicker(sim)});
    add(stages, &n, noise.deadtime > 0,
        (nb_stage){.kind = NB_STAGE_DEADTIME, .amount = noise.deadtime / cfg->exposure_s});
    add(stages, &n, noise.counts, counts);
    add(stages, &n, noise.psf != NB_PSF_NONE,
        (nb_stage){.kind = NB_STAGE_SPREAD,
                   .shape = noise.psf,
                   .amount = noise.fwhm,
                   .fibres = files->fibres});
    add(stages, &n, noise.calibration > 0,
        (nb_stage){.kind = NB_STAGE_CALIBRATION,
                   .seed = noise.calib_seed,
                   .amount = noise.calibration});
    if (files->gainmap)
        stages[n++] = (nb_stage){.kind = NB_STAGE_GAINMAP, .map = files->gainmap->pixel};
    add(stages, &n, 1,
        (nb_stage){.kind = NB_STAGE_GAIN,
                   .amount = noise.gain,
                   .of_panels = NB_TYPED(all, gain) ? NULL : files->panel_gains});
    add(stages, &n, noise.readout > 0,
        (nb_stage){.kind = NB_STAGE_READOUT, .seed = seed, .amount = noise.readout});
    return n;
}

double nb_sim_flicker(const nb_sim *sim)
{
    double rms = sim->model.settings.value.flicker;
    return rms > 0 ? nb_flicker_factor(sim->seed, 0, rms) : 1;
}

nb_product nb_sim_noise_product(const nb_sim *sim, nb_pixel_type type, double adc_offset)
{
    const nb_settings *all = &sim->model.settings;
    nb_stage stages[NB_STAGES_MAX];
    const nb_files *files = sim->in.files;
    const double *largest =
        files->panel_gains ? files->panel_gains + files->spec.n_panels : NULL;
    return (nb_product){.type = type,
                        .stages = nb_sim_stages(sim, stages),
                        .scale = 1,
                        .adc_offset = adc_offset,
                        .trusted = NB_TYPED_OR(all, saturation, 0),
                        .trusted_of = NB_TYPED(all, saturation) ? NULL : largest,
                        .ends_at_16_bits = all->value.compat};
}

void nb_sim_advise_noise(const nb_sim *sim)
{
    const nb_config *cfg = &sim->cfg;
    if (nb_noise_chain(&sim->model.settings) > nb_detector_says_saturation(cfg) &&
        !cfg->write_noise && !cfg->noise_float_file[0])
        nb_notice(&sim->hooks, "no file with noise is written: the noise of source and "
                               "detector has no effect");
}

void nb_notice_readout(const nb_settings *all, const nb_hooks *hooks, double adc_offset)
{
    double rms = all->value.readout_noise;
    if (all->value.write_noise && adc_offset < 3 * rms)
        nb_notice(
            hooks,
            "16-bit pixels cannot be negative: with -readout_noise %g and an offset "
            "of %g ADU many are cut at 0; type a larger -adc, or -hdf5type int16 or "
            "int32",
            rms, adc_offset);
}
