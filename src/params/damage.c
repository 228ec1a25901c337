/* SPDX-License-Identifier: MIT */
/* What goes together with a dose. */
#include "../base/error.h"
#include "params.h"

static int is_set(const char *name, const nb_config *cfg)
{
    return nb_param_is_set(nb_param_find(name), cfg);
}

nb_status nb_config_check_damage(const nb_config *cfg, nb_error *err)
{
    static const char *const of_dose[] = {"dose_material", "damage_B", "damage_cell",
                                          "damage_half"};
    const int automatic = cfg->dose_MGy == NB_DOSE_AUTO;
    if (is_set("dose", cfg) && cfg->compat)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-dose contradicts -compat: the old program has none; leave one of "
            "them out");
    for (size_t i = 0; i < sizeof of_dose / sizeof *of_dose; i++)
        if (is_set(of_dose[i], cfg) && !is_set("dose", cfg))
            return nb_fail(err, NB_ERR_INPUT, "-%s needs -dose", of_dose[i]);
    if (is_set("dose_material", cfg) && !automatic)
        return nb_fail(err, NB_ERR_INPUT, "-dose_material needs -dose auto");
    if (automatic && !is_set("fluence", cfg) && !is_set("flux", cfg))
        return nb_fail(err, NB_ERR_INPUT,
                       "-dose auto needs the photons of a frame: -fluence, or -flux");
    return NB_OK;
}
