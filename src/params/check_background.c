/* SPDX-License-Identifier: MIT */
/* Which flags of amorphous backgrounds go together. */
#include <math.h>

#include "../base/error.h"
#include "params.h"

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
