/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <math.h>

#include "../nanobragg.h"
#include "params.h"

void nb_after_pivot_beam(void *config)
{
    nb_config *cfg = config;
    cfg->pivot_implied = NB_PIVOT_BEAM;
}

void nb_after_pivot_sample(void *config)
{
    nb_config *cfg = config;
    cfg->pivot_implied = NB_PIVOT_SAMPLE;
}

void nb_after_custom(void *config)
{
    nb_config *cfg = config;
    cfg->convention = NB_CONV_CUSTOM;
}

void nb_after_lambda(void *config)
{
    nb_config *cfg = config;
    cfg->energy_eV = NAN;
}

void nb_after_energy(void *config)
{
    nb_config *cfg = config;
    cfg->lambda_A = NAN;
}

void nb_after_polar(void *config)
{
    nb_config *cfg = config;
    cfg->polar_set = 1;
    cfg->nopolar = 0;
}

void nb_after_divergence(void *config)
{
    nb_config *cfg = config;
    cfg->vdiv_range_mrad = cfg->hdiv_range_mrad;
}

void nb_after_divsteps(void *config)
{
    nb_config *cfg = config;
    cfg->vdiv_steps = cfg->hdiv_steps;
}

void nb_after_float_file(void *config)
{
    nb_config *cfg = config;
    cfg->write_float = 1;
}

void nb_after_int_file(void *config)
{
    nb_config *cfg = config;
    cfg->write_int = 1;
    cfg->typed_files |= NB_TYPED_INT;
}

void nb_after_noise_file(void *config)
{
    nb_config *cfg = config;
    cfg->write_noise = 1;
    cfg->typed_files |= NB_TYPED_NOISE;
}

void nb_after_pgm(void *config)
{
    nb_config *cfg = config;
    cfg->write_pgm = 1;
    cfg->typed_files |= NB_TYPED_PGM;
}

void nb_after_psf(void *config)
{
    nb_config *cfg = config;
    if (cfg->psf == NB_PSF_FIBER)
        cfg->psf = NB_PSF_FIBRE;
}

void nb_after_adc(void *config)
{
    nb_config *cfg = config;
    cfg->adc_set = 1;
}

void nb_after_cell(void *config)
{
    nb_config *cfg = config;
    cfg->cell_from_file = 0;
}

void nb_after_input_pedestal(void *series)
{
    nb_series *s = series;
    s->input_pedestal_set = 1;
}
