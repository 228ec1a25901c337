/* SPDX-License-Identifier: MIT */
/** What else follows when a parameter is set; the table's `after`.  Each takes the nb_config. */
#ifndef NB_PARAMS_AFTER_H
#define NB_PARAMS_AFTER_H

void nb_after_pivot_beam(void *config);
void nb_after_pivot_sample(void *config);
void nb_after_custom(void *config);     /* a lab vector: convention CUSTOM */
void nb_after_lambda(void *config);     /* replaces an energy */
void nb_after_energy(void *config);     /* replaces a wavelength */
void nb_after_polar(void *config);      /* undoes -nopolar */
void nb_after_divergence(void *config); /* the vertical one too */
void nb_after_divsteps(void *config);
void nb_after_cell(void *config);       /* typed, not a file's */
void nb_after_float_file(void *config); /* a file that is named is written */
void nb_after_int_file(void *config);
void nb_after_noise_file(void *config);
void nb_after_pgm(void *config);
void nb_after_psf(void *config); /* one enumerator for both spellings */
void nb_after_adc(void *config);
void nb_after_input_pedestal(void *series); /* takes the nb_series */

#endif
