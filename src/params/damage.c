/* SPDX-License-Identifier: MIT */
/* What goes together with a dose. */
#include "../base/error.h"
#include "params.h"

nb_status nb_config_check_damage(const nb_config *cfg, nb_error *err)
{
    const nb_param *const of_dose[] = {NB_ROW(dose_material), NB_ROW(damage_B),
                                       NB_ROW(damage_cell_pct), NB_ROW(damage_half)};
    const int automatic = cfg->dose_MGy == NB_DOSE_AUTO;
    if (NB_GIVEN(cfg, dose_MGy) && cfg->compat)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-dose contradicts -compat: the old program has none; leave one of "
            "them out");
    for (size_t i = 0; i < sizeof of_dose / sizeof *of_dose; i++)
        if (nb_param_is_set(of_dose[i], cfg) && !NB_GIVEN(cfg, dose_MGy))
            return nb_fail(err, NB_ERR_INPUT, "-%s needs -dose", of_dose[i]->name);
    if (cfg->dose_material[0] && !automatic)
        return nb_fail(err, NB_ERR_INPUT, "-dose_material needs -dose auto");
    if (automatic && !NB_GIVEN(cfg, fluence) && !NB_GIVEN(cfg, flux))
        return nb_fail(err, NB_ERR_INPUT,
                       "-dose auto needs the photons of a frame: -fluence, or -flux");
    return NB_OK;
}
