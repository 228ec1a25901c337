/* SPDX-License-Identifier: MIT */
/* Flags of diffuse scattering that contradict each other or have nothing to act on. */
#include <math.h>

#include "../base/error.h"
#include "params.h"

#define LARGEST 1e6 /* of a factor and of 1/d */

static int has_tables(const nb_config *cfg)
{
    return nb_param_is_set(nb_param_find("diffuse_tables"), cfg);
}

/** Two ranges, three edges and what is seen. */
static int are_tables(const double *v)
{
    const nb_param *B = nb_param_find("Badd"), *edge = nb_param_find("cell");
    const double *of_B = v + NB_TABLES_B, *scale = v + NB_TABLES_SCALE;
    int are = nb_param_allows(B, of_B[0]) && of_B[0] <= of_B[1] &&
              nb_param_allows(B, of_B[1]) && scale[0] > 0 && scale[0] <= scale[1] &&
              scale[1] <= LARGEST && v[NB_TABLES_REACH] > 0 &&
              v[NB_TABLES_REACH] <= LARGEST;
    for (int i = 0; i < 3; i++)
        are = are && nb_param_allows(edge, v[NB_TABLES_EDGE + i]);
    return are;
}

nb_status nb_config_check_diffuse(const nb_config *cfg, nb_error *err)
{
    const double *sigma = cfg->diffuse_sigma_A, *gamma = cfg->diffuse_gamma_A;
    const char *lone = !isnan(gamma[0])    ? "-diffuse_gamma"
                       : cfg->diffuse_halo ? "-diffuse_halo"
                       : cfg->diffuse_F    ? "-diffuse_F"
                       : cfg->diffuse_only ? "-diffuse_only"
                       : has_tables(cfg)   ? "-diffuse_tables"
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
    if (has_tables(cfg) && !are_tables(cfg->diffuse_tables))
        return nb_fail(err, NB_ERR_INPUT,
                       "-diffuse_tables B B2 x x2 a b c q: B <= B2 within the limits of "
                       "-Badd, and 0 < x <= x2, edges and 1/d above 0");
    if (cfg->derivatives[0] && (sigma[0] > 0 || sigma[1] > 0 || sigma[2] > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "-derivatives: not with -diffuse_sigma above 0, whose light has "
                       "none; leave one of them out");
    return NB_OK;
}
