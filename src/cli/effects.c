/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

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

/** Read the first `length` characters of a text as a number; 0: they are not a number. */
static int number_of(const char *text, size_t length, double *out)
{
    char word[64];

    if (length >= sizeof word)
        return 0;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    return nb_value_number(word, out) == NB_VALUE_OK;
}

int nb_convert_png_scale(nb_cli *cli, const char *text)
{
    nb_png_options *png = &cli->cfg.png;
    size_t colon = strcspn(text, ":");

    if (!strcmp(text, "auto")) {
        png->scale = NB_PNG_AUTO;
        return 1;
    }
    if (text[colon]) {
        png->scale = NB_PNG_RANGE;
        return number_of(text, colon, &png->low) &&
               number_of(text + colon + 1, strlen(text + colon + 1), &png->high) &&
               png->low < png->high;
    }
    png->scale = NB_PNG_PERCENTILE;
    return number_of(text, colon, &png->percentile) && png->percentile > 0 &&
           png->percentile <= 100;
}

int nb_convert_png_rings(nb_cli *cli, const char *text)
{
    nb_png_options *png = &cli->cfg.png;

    for (png->rings = 0; png->rings < NB_RINGS_MAX;) {
        size_t length = strcspn(text, ",");
        double *d = &png->ring_A[png->rings++];
        if (!number_of(text, length, d) || !(*d > 0))
            return 0;
        if (!text[length])
            return 1;
        text += length + 1;
    }
    return 0;
}
