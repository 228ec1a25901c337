/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <math.h>

#include "../nanobragg.h"
#include "params.h"

#define AFTER(name, type, body)                                                          \
    void nb_after_##name(void *config)                                                   \
    {                                                                                    \
        type *cfg = config;                                                              \
        body                                                                             \
    }

AFTER(pivot_beam, nb_config, cfg->pivot_implied = NB_PIVOT_BEAM;)
AFTER(pivot_sample, nb_config, cfg->pivot_implied = NB_PIVOT_SAMPLE;)
AFTER(custom, nb_config, cfg->convention = NB_CONV_CUSTOM;)
AFTER(lambda, nb_config, cfg->energy_eV = NAN;)
AFTER(energy, nb_config, cfg->lambda_A = NAN;)
AFTER(polar, nb_config, {
    cfg->polar_set = 1;
    cfg->nopolar = 0;
})
AFTER(divergence, nb_config, cfg->vdiv_range_mrad = cfg->hdiv_range_mrad;)
AFTER(divsteps, nb_config, cfg->vdiv_steps = cfg->hdiv_steps;)
AFTER(cell, nb_config, cfg->cell_from_file = 0;)
AFTER(crystal_size, nb_config, {
    const double *s = cfg->crystal_size_um;
    cfg->crystal_volume_um3 = s[0] * s[1] * s[2];
})
AFTER(float_file, nb_config, cfg->write_float = 1;)
AFTER(int_file, nb_config, {
    cfg->write_int = 1;
    cfg->typed_files |= NB_TYPED_INT;
})
AFTER(noise_file, nb_config, {
    cfg->write_noise = 1;
    cfg->typed_files |= NB_TYPED_NOISE;
})
AFTER(pgm, nb_config, {
    cfg->write_pgm = 1;
    cfg->typed_files |= NB_TYPED_PGM;
})
AFTER(psf, nb_config, cfg->psf = cfg->psf == NB_PSF_FIBER ? NB_PSF_FIBRE : cfg->psf;)
AFTER(adc, nb_config, cfg->adc_set = 1;)
AFTER(input_pedestal, nb_series, cfg->input_pedestal_set = 1;)
