/* SPDX-License-Identifier: MIT */
/** Actions of an option besides storing its value. */
#ifndef NB_CLI_EFFECTS_H
#define NB_CLI_EFFECTS_H

#include "option_table.h"

void nb_effect_pivot_beam(nb_cli *cli);
void nb_effect_pivot_sample(nb_cli *cli);
void nb_effect_custom(nb_cli *cli);     /* a lab vector: convention CUSTOM */
void nb_effect_pix0_mm(nb_cli *cli);    /* typed in mm, kept in metres */
void nb_effect_lambda(nb_cli *cli);     /* replaces an energy */
void nb_effect_energy(nb_cli *cli);     /* replaces a wavelength */
void nb_effect_polar(nb_cli *cli);      /* clears -nopolar */
void nb_effect_divergence(nb_cli *cli); /* both ranges */
void nb_effect_divsteps(nb_cli *cli);   /* both counts */
void nb_effect_write_float(nb_cli *cli);
void nb_effect_write_int(nb_cli *cli);
void nb_effect_write_pgm(nb_cli *cli);
void nb_effect_write_noise(nb_cli *cli);
void nb_effect_roi(nb_cli *cli);
void nb_effect_trace(nb_cli *cli);
void nb_effect_printout_pixel(nb_cli *cli); /* turns printing on */

/** Texts with their own syntax; 0 if they are wrong. */
int nb_convert_png_scale(nb_cli *cli, const char *text); /* auto, P or lo:hi */
int nb_convert_png_rings(nb_cli *cli, const char *text); /* d,d,... in A */

#endif
