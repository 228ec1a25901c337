/* SPDX-License-Identifier: MIT */
/* Which flags go together: of backgrounds, of structure factors, with a detector from a file, of noise. */
#include <math.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

static nb_status needs(const char *flag, const char *what, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s needs %s", flag, what);
}

/* Amorphous backgrounds. */

const char *nb_config_stol_flag(const nb_config *cfg)
{
    return cfg->stol_file[0]    ? "-stol"
           : cfg->stol4_file[0] ? "-4stol"
           : cfg->q_file[0]     ? "-Q"
                                : NULL;
}

static nb_status check_stolout(const nb_config *cfg, nb_error *err)
{
    if (cfg->stol_rings && !(cfg->stol_smooth > 0))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-stolrings keeps rings of ice in a smooth table: add -stolsmooth w");
    if (cfg->stolout_file[0] && !cfg->stolimage_file[0] && !cfg->img_file[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-stolout %.200s needs an image: add -stolimage FILE or -img FILE",
                       cfg->stolout_file);
    if (cfg->stolout_file[0])
        return NB_OK;
    if (cfg->stolimage_file[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-stolimage %.200s needs a table to write: add -stolout FILE",
                       cfg->stolimage_file);
    if (!isnan(cfg->stol_step))
        return nb_fail(err, NB_ERR_INPUT,
                       "-stolstep %g needs a table to write: add -stolout FILE",
                       cfg->stol_step);
    if (cfg->stol_smooth > 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-stolsmooth %g needs a table to write: add -stolout FILE",
                       cfg->stol_smooth);
    return NB_OK;
}

nb_status nb_config_check_background(const nb_config *cfg, nb_error *err)
{
    const char *flag = !isnan(cfg->amorphous_thick_mm) ? "-amorphous_thick"
                       : !isnan(cfg->molecules)        ? "-molecules"
                                                       : NULL;
    if (flag && !nb_config_stol_flag(cfg) && !cfg->stolout_file[0])
        return nb_fail(
            err, NB_ERR_INPUT,
            "%s needs a table: add -stol, -4stol or -Q FILE; the path in water, "
            "air or ice stands in -background",
            flag);
    return check_stolout(cfg, err);
}

/* Structure factors. Only the content of a file shows what it is: -cif counts as both a model and
 * reflections here, and src/sim looks again when it is read. */

static nb_status refuse(const char *a, const char *b, const char *why, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s contradicts %s: %s", a, b, why);
}

/** At most one model and one file of reflections. */
static nb_status check_sources(const nb_config *cfg, nb_error *err)
{
    const char *pdb = cfg->pdb_file[0] ? "-pdb" : NULL;
    const char *cif = cfg->cif_file[0] ? "-cif" : NULL;
    const char *mtz = cfg->mtz_file[0] ? "-mtz" : NULL;
    const char *first = pdb ? pdb : cif ? cif : mtz;
    const char *second = pdb && cif ? cif : mtz;
    int uses_both = cfg->fill == NB_FILL_MODEL || cfg->F_scale == NB_FSCALE_MODEL;
    if (cfg->hkl_file[0] && first)
        return refuse("-hkl", first, "both give the structure factors; give one of them",
                      err);
    if (pdb && cif && mtz)
        return nb_fail(err, NB_ERR_INPUT,
                       "-pdb, -cif and -mtz contradict each other: at most one model and "
                       "one file of reflections can be used");
    if (second && second != first && !uses_both)
        return refuse(first, second,
                      "both give the structure factors; give one of them, or add -fill "
                      "model or -Fscale model, which use a model and reflections",
                      err);
    return NB_OK;
}

/** Parameters that act on the sum of a model. */
static nb_status check_model_flags(const nb_config *cfg, nb_error *err)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_MODEL, cfg);
    char label[NB_PARAM_LABEL];
    if (cfg->pdb_file[0] || cfg->cif_file[0])
        return NB_OK;
    if (p)
        return needs(nb_param_label(p, label), "a model: add -pdb FILE or -cif FILE", err);
    if (cfg->F000 == NB_F000_CALC)
        return needs("-F000 calc", "a model: add -pdb FILE or -cif FILE", err);
    if (cfg->fill == NB_FILL_MODEL)
        return needs("-fill model", "a model: add -pdb FILE or -cif FILE", err);
    if (cfg->F_scale == NB_FSCALE_MODEL)
        return needs("-Fscale model", "a model: add -pdb FILE or -cif FILE", err);
    return NB_OK;
}

/** Parameters that act on a list of reflections. */
static nb_status check_list_flags(const nb_config *cfg, nb_error *err)
{
    const char *file = "a file of reflections: add -mtz FILE or -cif FILE";
    int list = cfg->mtz_file[0] || cfg->cif_file[0];
    if (cfg->mtz_label[0] && !list)
        return needs("-mtzlabel", file, err);
    if (cfg->F_scale == NB_FSCALE_MODEL && !list)
        return needs("-Fscale model", file, err);
    if (cfg->fill == NB_FILL_MODEL && !list)
        return needs("-fill model", file, err);
    if (cfg->fill == NB_FILL_SHELL && !list && !cfg->hkl_file[0])
        return needs("-fill shell",
                     "a file of reflections: add -mtz FILE, -cif FILE or -hkl FILE", err);
    return NB_OK;
}

int nb_config_has_F000_alone(const nb_config *cfg)
{
    return cfg->F000 >= 0 && !isnan(cfg->default_F) && !nb_config_has_factor_file(cfg) &&
           !cfg->hkl_file[0] && !cfg->dump_file[0];
}

/** The first row that acts on whatever gives structure factors, and is set; NULL: none. */
static const nb_param *changes_factors(const nb_config *cfg)
{
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_ON_F));)
        if (nb_param_is_set(p, cfg) && !(NB_IS(p, F000) && nb_config_has_F000_alone(cfg)))
            return p;
    return NULL;
}

int nb_list_is_changed(const nb_settings *all)
{
    int n = nb_config_has_factor_file(&all->value);
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_ON_F));)
        n += nb_is_typed(all, p->offset);
    return n > 0;
}

static nb_status check_any_source(const nb_config *cfg, nb_error *err)
{
    const nb_param *p = changes_factors(cfg);
    char label[NB_PARAM_LABEL];
    if (!p || nb_config_has_factor_file(cfg) || cfg->hkl_file[0])
        return NB_OK;
    return needs(nb_param_label(p, label),
                 "structure factors: add -pdb, -cif, -mtz or -hkl FILE", err);
}

int nb_config_has_factor_file(const nb_config *cfg)
{
    return cfg->pdb_file[0] || cfg->cif_file[0] || cfg->mtz_file[0];
}

int nb_config_makes_factors(const nb_config *cfg)
{
    return nb_config_has_factor_file(cfg) || changes_factors(cfg) != NULL ||
           (cfg->expand_list && cfg->hkl_file[0]);
}

nb_status nb_config_check_factors(const nb_config *cfg, nb_error *err)
{
    nb_status st;
    if ((st = check_sources(cfg, err)) || (st = check_model_flags(cfg, err)) ||
        (st = check_list_flags(cfg, err)))
        return st;
    return check_any_source(cfg, err);
}

/* A detector from a file. */

/** What places or sizes a detector, which a file does then.  (-detpixels is compared with the file's.) */
static nb_status check_replaced(const nb_config *cfg, const char *file, nb_error *err)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_REPLACED, cfg);
    if (p && NB_IS(p, detsize_mm[0]) && cfg->detsize_mm[0] == cfg->detsize_mm[1])
        p = NB_ROW(detsize_mm); /* both sides were typed */
    if (p)
        return nb_fail(err, NB_ERR_INPUT,
                       "-%s contradicts -%s: the file says where the detector is and "
                       "how large; leave one of them out",
                       p->name, file);
    if (!cfg->geom_file[0] && NB_GIVEN(cfg, distance_mm))
        return nb_fail(err, NB_ERR_INPUT,
                       "-distance contradicts -%s: the file says where the detector is; "
                       "leave one of them out",
                       file);
    return NB_OK;
}

const char *nb_config_geometry_flag(const nb_config *cfg)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_GEOMETRY, cfg);
    return p ? p->name : NULL;
}

nb_status nb_config_check_geometry(const nb_config *cfg, nb_error *err)
{
    const char *first = nb_config_geometry_flag(cfg);
    const nb_known_detector *named;
    int binning;
    nb_status st;
    NB_FORWARD(nb_detector_named(cfg, &named, &binning, err));
    if (named && (first || cfg->detector))
        return nb_fail(err, NB_ERR_INPUT,
                       "-detector %.60s contradicts %s%s: both describe the detector; "
                       "give one of them",
                       cfg->detector_name, first ? "-" : "",
                       first ? first : "the given panels");
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_GEOMETRY));)
        if (p->name != first && nb_param_is_set(p, cfg))
            return nb_fail(err, NB_ERR_INPUT,
                           "-%s contradicts -%s: both describe the detector; give one of "
                           "them",
                           p->name, first);
    if (cfg->expt_number >= 0 && !cfg->expt_file[0])
        return nb_fail(err, NB_ERR_INPUT, "-expt_number needs -expt FILE");
    if (cfg->expt_image[0] && !cfg->expt_file[0])
        return nb_fail(err, NB_ERR_INPUT, "-expt_image %.60s needs -expt FILE",
                       cfg->expt_image);
    return first ? check_replaced(cfg, first, err) : NB_OK;
}

/* The noise of source and detector. */

int nb_noise_chain(const nb_settings *all)
{
    const nb_config *cfg = &all->value;
    int typed = 0;
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_NOISE));)
        typed += nb_is_typed(all, p->offset);
    for (int k = 0; cfg->detector && !cfg->compat && k < cfg->detector->n_panels; k++)
        if (cfg->detector->panels[k].gain != 1 ||
            !isnan(cfg->detector->panels[k].saturation))
            return typed + 1;
    return typed;
}

nb_status nb_config_check_noise(const nb_config *cfg, nb_error *err)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_NOISE, cfg);
    char label[NB_PARAM_LABEL];
    if (!isnan(cfg->psf_fwhm_um) && cfg->psf == NB_PSF_NONE)
        return needs("-psf_fwhm", "a point spread: add -psf gauss or -psf fibre", err);
    if (cfg->calib_seed.set && isnan(cfg->calibration))
        return needs("-calib_seed", "the r.m.s. error of the gain: add -calibration s",
                     err);
    if (p && cfg->compat)
        return nb_fail(err, NB_ERR_INPUT,
                       "%s contradicts -compat: the old program's noise has only counts "
                       "and an offset; leave one of them out",
                       nb_param_label(p, label));
    return NB_OK;
}

nb_status nb_saturation_check(const nb_config *cfg, double most, const char *where,
                              nb_error *err)
{
    char text[NB_TEXT_NUMBER];
    if (!(cfg->saturation > most) || nb_detector_says_saturation(cfg))
        return NB_OK;
    nb_text_format(cfg->saturation, text);
    return nb_fail(err, NB_ERR_INPUT,
                   "-saturation %s contradicts %s: its largest trusted value is %.0f, at "
                   "most",
                   text, where, most);
}
