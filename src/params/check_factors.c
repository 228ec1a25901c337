/* SPDX-License-Identifier: MIT */
/* Which flags of structure factors go together. What a file is only its content says: -cif counts
 * as both a model and reflections here, and src/sim looks again when it is read. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "params.h"

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

static nb_status needs(const char *flag, const char *what, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s needs %s", flag, what);
}

/** Parameters that act on the sum of a model. */
static nb_status check_model_flags(const nb_config *cfg, nb_error *err)
{
    static const char *const names[] = {"anomalous",    "anomalous_tol", "fprime",
                                        "fprime_table", "ksol",          "bsol",
                                        "hydrogens",    "model",         "ncs"};
    char label[NB_PARAM_LABEL];
    if (cfg->pdb_file[0] || cfg->cif_file[0])
        return NB_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const nb_param *p = nb_param_find(names[i]);
        if (nb_param_is_set(p, cfg))
            return needs(nb_param_label(p, label), "a model: add -pdb FILE or -cif FILE",
                         err);
    }
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

/** The first parameter that is set of those that act on whatever gives structure factors; NULL:
 * none. */
static const nb_param *changes_factors(const nb_config *cfg)
{
    static const char *const names[] = {"sg",   "Badd",     "Fscale",  "F000",
                                        "fill", "dump_mtz", "dump_hkl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const nb_param *p = nb_param_find(names[i]);
        if (nb_param_is_set(p, cfg) &&
            !(strcmp(names[i], "F000") == 0 && nb_config_has_F000_alone(cfg)))
            return p;
    }
    return NULL;
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
    return nb_config_has_factor_file(cfg) || changes_factors(cfg) != NULL;
}

int nb_config_same_factors(const nb_config *a, const nb_config *b)
{
    static const char *const names[] = {"mtzlabel", "sg",   "anomalous", "anomalous_tol",
                                        "fprime",   "ksol", "bsol",      "hydrogens",
                                        "model",    "ncs",  "Badd",      "Fscale",
                                        "F000",     "fill", "sf_method", "default_F"};
    char of_a[NB_PARAM_TEXT], of_b[NB_PARAM_TEXT];
    if (!nb_config_makes_factors(a) && !nb_config_makes_factors(b))
        return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const nb_param *p = nb_param_find(names[i]);
        nb_param_get(p, a, " ", of_a, sizeof of_a, NULL);
        nb_param_get(p, b, " ", of_b, sizeof of_b, NULL);
        if (strcmp(of_a, of_b) != 0)
            return 0;
    }
    return 1;
}

nb_status nb_config_check_factors(const nb_config *cfg, nb_error *err)
{
    nb_status st;
    if ((st = check_sources(cfg, err)) || (st = check_model_flags(cfg, err)) ||
        (st = check_list_flags(cfg, err)))
        return st;
    return check_any_source(cfg, err);
}
