/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters that describe the noise of source and detector. */
#ifndef NB_PARAMS_NOISE_ROWS_H
#define NB_PARAMS_NOISE_ROWS_H

#include "after.h"
#include "rows.h"

/* clang-format off */
#define NB_NOISE_ROWS \
{"flicker", NULL, NUMBER(PIXELS, flicker), WITHIN(0, 10), .value = "s", .fallback = "0", \
    .help = "r.m.s. of the source from image to image, as a fraction; noise images only"}, \
{"deadtime", NULL, NUMBER(PIXELS, deadtime_ns), AT_LEAST(0), .value = "t", .unit = "ns", \
    .fallback = "0", .help = "dead time of a paralysable counter; the exposure is -exposure"}, \
{"nopoisson", NULL, SWITCH(PIXELS, nopoisson), \
    .help = "no counting noise: the rest of the noise acts on the expected photons"}, \
{"psf", NULL, CHOICE(PIXELS, psf, NAMES("", "gauss", "fibre", "fiber")), .after = nb_after_psf, \
    .fallback = "none", .help = "point spread: Gaussian, or that of fibre optics"}, \
{"psf_fwhm", NULL, NUMBER(PIXELS, psf_fwhm_um), ABOVE_TO(0, 1e6), .value = "w", .unit = "um", \
    .fallback = "46", .help = "full width at half maximum of the point spread"}, \
{"calibration", NULL, NUMBER(PIXELS, calibration), WITHIN(0, 10), .value = "s", .fallback = "0", \
    .help = "r.m.s. error of the pixels' gain, as a fraction; the same in every image"}, \
{"calib_seed", NULL, SEED(calib_seed), .fallback = "123456789", .help = "seed of -calibration"}, \
{"gainmap", NULL, PATH(INPUT, gainmap_file), \
    .help = "32-bit floats, one for each pixel: factors of the gain"}, \
{"gain", NULL, NUMBER(PIXELS, gain), ABOVE(0), .value = "g", .unit = "ADU/photon", \
    .fallback = "1", .help = "gain of the noise images"}, \
{"readout_noise", "readout", NUMBER(PIXELS, readout_noise), AT_LEAST(0), .value = "s", \
    .unit = "ADU", .fallback = "0", .help = "r.m.s. noise of the read-out"}, \
{"adc", "adcoffset", NUMBER_FROM(ADU, adc_offset, 40), WITHIN(0, 65535), .after = nb_after_adc, \
    .value = "x", .unit = "ADU", .fallback = "40 in SMV and -noisefloat, else 0", \
    .help = "offset added to both SMV images; typed, to every file with noise"}, \
{"adc_set", NULL, SWITCH(ADU | HDF5 | INNER, adc_set), .help = "an offset is given"}, \
{"saturation", NULL, NUMBER(PIXELS, saturation), AT_LEAST(1), .value = "x", .unit = "ADU", \
    .fallback = "what the file's type holds", \
    .help = "largest value of noise images that is trusted; a brighter pixel gets this value + 1"}, \
{"noisefloat", NULL, PATH(OUTPUT | SINGLE, noise_float_file), \
    .help = "noise image before rounding and saturation, 32-bit floats, ADU"}
/* clang-format on */

#endif
