/* SPDX-License-Identifier: MIT */
/* Defaults that depend on the typed flags, and checks that need no file. */
#include <math.h>
#include <unistd.h>

#include "../base/error.h"
#include "../params/params.h"
#include "load.h"
#include "sim.h"

const char *nb_dump_name(const nb_config *cfg)
{
    return cfg->dump_file[0] ? cfg->dump_file : "Fdump.bin";
}

/** Was any flag of the crystal's size typed? */
static int has_size(const nb_config *cfg)
{
    int i, any = 0;
    for (i = 0; i < 3; i++)
        any |= cfg->N[i] > 0 || NB_GIVEN(cfg, xtal_size_mm[i]);
    return any;
}

/** A cubic crystal of n^3 cells. */
static void stand_in(nb_config *cfg, int n, double F)
{
    cfg->cell_count = 6;
    for (int i = 0; i < 6; i++)
        cfg->cell[i] = i < 3 ? 100 : 90;
    for (int i = 0; i < 3; i++)
        cfg->N[i] = n;
    cfg->default_F = F;
}

nb_status nb_resolve_crystal(nb_config *cfg, const nb_hooks *hooks, nb_error *err)
{
    int file = nb_config_has_factor_file(cfg);
    int said = cfg->detector && cfg->detector->has_crystal;
    int lattice = cfg->cell_count > 0 || cfg->mat_file[0] || file || said;
    int factors =
        file || cfg->hkl_file[0] || cfg->dump_file[0] || NB_GIVEN(cfg, default_F);
    if (!lattice && !factors && !has_size(cfg) &&
        (nb_config_has_background(cfg) || cfg->stolout_file[0])) {
        if (!cfg->stolout_file[0])
            nb_notice(hooks, "no crystal given: the image has the background alone");
        stand_in(cfg, 1, 0);
        return NB_OK;
    }
    if (!lattice && !factors && !has_size(cfg)) {
        nb_notice(
            hooks,
            "no crystal given: simulating a cubic one of 100 A, 5x5x5 cells, F = 100 "
            "(-cell 100 100 100 90 90 90 -N 5 -default_F 100)");
        stand_in(cfg, 5, 100);
        return NB_OK;
    }
    if (!lattice)
        return nb_fail(
            err, NB_ERR_INPUT,
            "no unit cell: add -cell a b c alpha beta gamma, -mat FILE, or a model: "
            "-pdb FILE");
    if (!factors &&
        cfg->stolout_file[0]) { /* of a geometry file's crystal nothing is used */
        cfg->default_F = 0;
        if (!has_size(cfg))
            cfg->N[0] = cfg->N[1] = cfg->N[2] = 1;
        return NB_OK;
    }
    if (!factors && access(nb_dump_name(cfg), R_OK) != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "no structure factors: add -pdb, -cif, -mtz or -hkl FILE, or "
                       "-default_F F for "
                       "a constant");
    return NB_OK;
}
