/* SPDX-License-Identifier: MIT */
/* What a configuration holds before a user asks for anything. */
#include "../nanobragg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void unset(double *values, int n)
{
    while (n-- > 0)
        values[n] = NAN;
}

void nb_config_defaults(nb_config *cfg)
{
    if (!cfg)
        return;
    memset(cfg, 0, sizeof *cfg);
    cfg->default_F = cfg->mosaic_spread_deg = cfg->lambda_A = cfg->energy_eV = NAN;
    cfg->fluence = cfg->beamsize_mm = NAN;
    cfg->hdiv_range_mrad = cfg->vdiv_range_mrad = NAN;
    cfg->hdiv_step_mrad = cfg->vdiv_step_mrad = NAN;
    cfg->dispersion_pct = cfg->dispersion_step_pct = NAN;
    cfg->phi_deg = cfg->osc_deg = cfg->phistep_deg = NAN;
    cfg->pixel_mm = cfg->distance_mm = cfg->close_distance_mm = cfg->close_twotheta_deg =
        NAN;
    cfg->Xbeam_mm = cfg->Ybeam_mm = cfg->Xclose_mm = cfg->Yclose_mm = NAN;
    cfg->orgx = cfg->orgy = cfg->twotheta_deg = cfg->thick_um = cfg->abs_um = NAN;
    unset(cfg->xtal_size_mm, 3);
    cfg->blocks = cfg->crystal_volume_um3 = NAN;
    unset(cfg->detsize_mm, 2);
    unset(cfg->rot_deg, 3);
    cfg->fudge = cfg->exposure_s = 1;
    cfg->interpolate = NB_AUTO;
    cfg->adc_offset = 40;
    cfg->tiff_bits = 32;
    cfg->truth_min = 1;
    cfg->write_float = cfg->write_int = cfg->write_pgm = cfg->write_noise = 1;
    snprintf(cfg->float_file, sizeof cfg->float_file, "floatimage.bin");
    snprintf(cfg->int_file, sizeof cfg->int_file, "intimage.img");
    snprintf(cfg->pgm_file, sizeof cfg->pgm_file, "image.pgm");
    snprintf(cfg->noise_file, sizeof cfg->noise_file, "noiseimage.img");
    snprintf(cfg->truth_file, sizeof cfg->truth_file, "spots.tsv");
}
