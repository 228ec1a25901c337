/* SPDX-License-Identifier: MIT */
/* Defaults that depend on which flags were given, and checks that need no file. */
#include <math.h>
#include <unistd.h>

#include "../base/error.h"
#include "sim.h"

const char *nb_dump_name(const nb_config *cfg)
{
    return cfg->dump_file[0] ? cfg->dump_file : "Fdump.bin";
}

/** Whether any flag that describes a crystal's size was given. */
static int has_size(const nb_config *cfg)
{
    int i, any = 0;
    for (i = 0; i < 3; i++)
        any |= cfg->N[i] > 0 || !isnan(cfg->xtal_size_mm[i]);
    return any;
}

nb_status nb_settle_crystal(nb_config *cfg, const nb_hooks *hooks, nb_error *err)
{
    int lattice = cfg->cell_count > 0 || cfg->mat_file[0];
    int factors = cfg->hkl_file[0] || cfg->dump_file[0] || !isnan(cfg->default_F);
    if (!lattice && !factors && !has_size(cfg)) {
        int i;
        nb_notice(
            hooks,
            "no crystal given: simulating a cubic one of 100 A, 5x5x5 cells, F = 100 "
            "(-cell 100 100 100 90 90 90 -N 5 -default_F 100)");
        cfg->cell_count = 6;
        for (i = 0; i < 6; i++)
            cfg->cell[i] = i < 3 ? 100 : 90;
        for (i = 0; i < 3; i++)
            cfg->N[i] = 5;
        cfg->default_F = 100;
        return NB_OK;
    }
    if (!lattice)
        return nb_fail(err, NB_ERR_INPUT,
                       "no unit cell: add -cell a b c alpha beta gamma, or -mat FILE");
    if (!factors && access(nb_dump_name(cfg), R_OK) != 0)
        return nb_fail(
            err, NB_ERR_INPUT,
            "no structure factors: add -hkl FILE, or -default_F F for a constant");
    return NB_OK;
}

static nb_status in_range(double value, double min, double max, const char *flag,
                          nb_error *err)
{
    if (isnan(value) || (value >= min && value <= max))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT, "%s %g: must be between %g and %g", flag, value,
                   min, max);
}

static nb_status check_mosaic(const nb_config *cfg, nb_error *err)
{
    const nb_opt3 *three = &cfg->mosaic_aniso_deg;
    nb_status st = in_range(cfg->mosaic_spread_deg, 0, 180, "-mosaic", err);
    if (!st && (unsigned)cfg->mosaic_model > NB_MOSAIC_GAUSS)
        st = nb_fail(err, NB_ERR_INPUT,
                     "-mosaic_model %d: must be nanobragg, uniform or gauss",
                     (int)cfg->mosaic_model);
    for (int i = 0; !st && three->set && i < 3; i++)
        if (!(three->v[i] >= 0 && three->v[i] <= 180))
            st = nb_fail(err, NB_ERR_INPUT, "-mosaic_aniso %g: must be between 0 and 180",
                         three->v[i]);
    return st;
}

nb_status nb_check_config(const nb_config *cfg, nb_error *err)
{
    const double tiny = 1e-300, huge = 1e300;
    nb_status st;
    if (!isnan(cfg->blocks) && !isnan(cfg->crystal_volume_um3))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-blocks %g and -crystal_volume %g: both say how many blocks of the "
            "crystal are lit; give one of them",
            cfg->blocks, cfg->crystal_volume_um3);
    if ((st = in_range(cfg->lambda_A, 1e-6, 1e6, "-lambda", err)) ||
        (st = in_range(cfg->energy_eV, 1e-2, 1e10, "-energy", err)) ||
        (st = in_range(cfg->fluence, 0, huge, "-fluence", err)) ||
        (st = in_range(cfg->flux, 0, huge, "-flux", err)) ||
        (st = in_range(cfg->exposure_s, 0, huge, "-exposure", err)) ||
        (st = in_range(cfg->beamsize_mm, tiny, huge, "-beamsize", err)) ||
        (st = in_range(cfg->pixel_mm, tiny, 1e6, "-pixel", err)) ||
        (st = in_range(cfg->distance_mm, tiny, 1e12, "-distance", err)) ||
        (st = in_range(cfg->close_distance_mm, tiny, 1e12, "-close_distance", err)) ||
        (st = check_mosaic(cfg, err)) ||
        (st = in_range(cfg->osc_deg, 0, 1e6, "-osc", err)) ||
        (st = in_range(cfg->dispersion_pct, 0, 199, "-dispersion", err)) ||
        (st = in_range(cfg->thick_um, 0, 1e9, "-detector_thick", err)) ||
        (st = in_range(cfg->blocks, tiny, huge, "-blocks", err)) ||
        (st = in_range(cfg->crystal_volume_um3, tiny, huge, "-crystal_volume", err)) ||
        (st = in_range(cfg->water_um, 0, 1e9, "-water", err)) ||
        (st = in_range(cfg->dmin_A, 0, huge, "-dmin", err)) ||
        (st = in_range(cfg->polarization, -1, 1, "-polar", err)) ||
        (st = in_range(cfg->thick_steps, 0, 100000, "-detector_thicksteps", err)) ||
        (st = in_range(cfg->oversample, 0, 10000, "-oversample", err)) ||
        (st = in_range(cfg->threads, 0, 4096, "-threads", err)) ||
        (st = in_range(cfg->max_read_MB, 0, 1e9, "-max_read", err)) ||
        (st = in_range(cfg->tiff_bits, 16, 32, "-tiffbits", err)))
        return st;
    return NB_OK;
}
