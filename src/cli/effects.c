/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <math.h>

void nb_effect_pivot_beam(nb_cli *cli)
{
    cli->cfg.pivot_implied = NB_PIVOT_BEAM;
}

void nb_effect_pivot_sample(nb_cli *cli)
{
    cli->cfg.pivot_implied = NB_PIVOT_SAMPLE;
}

void nb_effect_custom(nb_cli *cli)
{
    cli->cfg.convention = NB_CONV_CUSTOM;
}

void nb_effect_pix0_mm(nb_cli *cli)
{
    for (int i = 0; i < 3; i++)
        cli->cfg.pix0_m.v[i] /= 1000.0;
}

void nb_effect_lambda(nb_cli *cli)
{
    cli->cfg.energy_eV = NAN;
}

void nb_effect_energy(nb_cli *cli)
{
    cli->cfg.lambda_A = NAN;
}

void nb_effect_polar(nb_cli *cli)
{
    cli->cfg.polar_set = 1;
    cli->cfg.nopolar = 0;
}

void nb_effect_divergence(nb_cli *cli)
{
    cli->cfg.vdiv_range_mrad = cli->cfg.hdiv_range_mrad;
}

void nb_effect_divsteps(nb_cli *cli)
{
    cli->cfg.vdiv_steps = cli->cfg.hdiv_steps;
}

void nb_effect_write_float(nb_cli *cli)
{
    cli->cfg.write_float = 1;
}

void nb_effect_write_int(nb_cli *cli)
{
    cli->cfg.write_int = 1;
}

void nb_effect_write_pgm(nb_cli *cli)
{
    cli->cfg.write_pgm = 1;
}

void nb_effect_write_noise(nb_cli *cli)
{
    cli->cfg.write_noise = 1;
}

void nb_effect_roi(nb_cli *cli)
{
    cli->cfg.roi_set = 1;
}

void nb_effect_trace(nb_cli *cli)
{
    cli->trace = 1;
}

void nb_effect_printout_pixel(nb_cli *cli)
{
    cli->printout = 1;
    cli->printout_one = 1;
}
