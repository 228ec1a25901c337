/* SPDX-License-Identifier: MIT */
/* Flags of diffuse scattering that contradict each other or have nothing to act on. */
#include <math.h>

#include "../base/error.h"
#include "params.h"

nb_status nb_config_check_diffuse(const nb_config *cfg, nb_error *err)
{
    const double *sigma = cfg->diffuse_sigma_A, *gamma = cfg->diffuse_gamma_A;
    const char *lone = !isnan(gamma[0])    ? "-diffuse_gamma"
                       : cfg->diffuse_halo ? "-diffuse_halo"
                       : cfg->diffuse_F    ? "-diffuse_F"
                       : cfg->diffuse_only ? "-diffuse_only"
                                           : NULL;
    if (isnan(sigma[0]))
        return lone ? nb_fail(err, NB_ERR_INPUT, "%s needs -diffuse_sigma s", lone)
                    : NB_OK;
    if (cfg->compat)
        return nb_fail(err, NB_ERR_INPUT,
                       "-diffuse_sigma contradicts -compat: the old program has no "
                       "diffuse scattering; leave one of them out");
    if (isnan(gamma[0]))
        return nb_fail(err, NB_ERR_INPUT,
                       "-diffuse_sigma needs -diffuse_gamma g, the length in A over "
                       "which the displacements are correlated");
    if (cfg->derivatives[0] && (sigma[0] > 0 || sigma[1] > 0 || sigma[2] > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "-derivatives: not with -diffuse_sigma above 0, whose light has "
                       "none; leave one of them out");
    return NB_OK;
}
