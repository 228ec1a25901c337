/* SPDX-License-Identifier: MIT */
/** The noise of source and detector in a configuration. */
#ifndef NB_SIM_NOISE_H
#define NB_SIM_NOISE_H

#include "sim.h"

/** Noise with all defaults set; SI units, ADU. */
typedef struct nb_noise {
    int chained; /* 1: there are more stages than counts and an offset */
    double flicker, deadtime;
    int counts;
    nb_psf_shape psf;
    double fwhm;
    double calibration;
    int64_t calib_seed;
    double gain, readout;
} nb_noise;
nb_noise nb_noise_of(const nb_settings *all);

/** Flicker factor of the source in this image; 1 without -flicker. */
double nb_sim_flicker(const nb_sim *sim);

/** Largest trusted value of a kind of file, ADU; a panel may have a lower one. */
double nb_noise_trusted(const nb_settings *all, nb_noise_file file);

/** True if -saturation or the detector's file bounds the trusted values. */
int nb_noise_bounded(const nb_settings *all);

/** Describe the noise image after all stages of nb_sim_stages. */
nb_product nb_sim_noise_product(const nb_sim *sim, nb_pixel_type type, double adc_offset);

/** Note that the noise has no effect without files with noise. */
void nb_sim_advise_noise(const nb_sim *sim);
/** Note that read-out noise will be cut in unsigned pixels with this offset. */
void nb_notice_readout(const nb_settings *all, const nb_hooks *hooks, double adc_offset);

#endif
