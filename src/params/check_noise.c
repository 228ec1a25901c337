/* SPDX-License-Identifier: MIT */
/* Which flags of the noise of source and detector go together. */
#include <math.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

static const char *const flags[] = {
    "flicker",    "deadtime", "nopoisson", "psf",           "psf_fwhm",   "calibration",
    "calib_seed", "gainmap",  "gain",      "readout_noise", "saturation", "noisefloat"};

int nb_has_noise_chain(const nb_settings *all)
{
    const nb_config *cfg = &all->value;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (nb_is_typed(all, nb_param_find(flags[i])->offset))
            return 1;
    for (int k = 0; cfg->detector && !cfg->compat && k < cfg->detector->n_panels; k++)
        if (cfg->detector->panels[k].gain != 1 ||
            !isnan(cfg->detector->panels[k].saturation))
            return 1;
    return 0;
}

static nb_status needs(const char *flag, const char *other, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s needs %s", flag, other);
}

nb_status nb_config_check_noise(const nb_config *cfg, nb_error *err)
{
    char label[NB_PARAM_LABEL];
    if (!isnan(cfg->psf_fwhm_um) && cfg->psf == NB_PSF_NONE)
        return needs("-psf_fwhm", "a point spread: add -psf gauss or -psf fibre", err);
    if (cfg->calib_seed.set && isnan(cfg->calibration))
        return needs("-calib_seed", "the r.m.s. error of the gain: add -calibration s",
                     err);
    for (size_t i = 0; cfg->compat && i < sizeof flags / sizeof *flags; i++) {
        const nb_param *p = nb_param_find(flags[i]);
        if (nb_param_is_set(p, cfg))
            return nb_fail(err, NB_ERR_INPUT,
                           "%s contradicts -compat: the old program's noise has only "
                           "counts and an offset; leave one of them out",
                           nb_param_label(p, label));
    }
    return NB_OK;
}

nb_status nb_saturation_check(const nb_config *cfg, double most, const char *where,
                              nb_error *err)
{
    char text[NB_TEXT_NUMBER];
    if (!(cfg->saturation > most))
        return NB_OK;
    nb_text_format(cfg->saturation, text);
    return nb_fail(err, NB_ERR_INPUT,
                   "-saturation %s contradicts %s: its largest trusted value is %.0f, at "
                   "most",
                   text, where, most);
}
