/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters that describe the noise of source and detector. */
#ifndef NB_PARAMS_NOISE_ROWS_H
#define NB_PARAMS_NOISE_ROWS_H

#include "after.h"
#include "rows.h"

/* clang-format off */
#define NB_NOISE_ROWS \
{"flicker", NULL, NUMBER(PIXELS, flicker), WITHIN(0, 10), .value = "s", .fallback = "0", \
    .help = "r.m.s. of the source from image to image, as a fraction"}, \
{"deadtime", NULL, NUMBER(PIXELS, deadtime_ns), AT_LEAST(0), .value = "t", .unit = "ns", \
    .fallback = "0", .help = "dead time of a paralysable counter, with -exposure"}, \
{"nopoisson", NULL, SWITCH(PIXELS, nopoisson), \
    .help = "no counting noise; the other noise stays"}, \
{"psf", NULL, CHOICE(PIXELS, psf, NAMES("", "gauss", "fibre", "fiber")), .after = nb_after_psf, \
    .fallback = "none", .help = "point spread: Gaussian, or that of fibre optics"}, \
{"psf_fwhm", NULL, NUMBER(PIXELS, psf_fwhm_um), ABOVE_TO(0, 1e6), .value = "w", .unit = "um", \
    .fallback = "46", .help = "full width at half maximum of the point spread"}, \
{"calibration", NULL, NUMBER(PIXELS, calibration), WITHIN(0, 10), .value = "s", .fallback = "0", \
    .help = "r.m.s. of the pixels' gains, as a fraction; the same in every image"}, \
{"calib_seed", NULL, SEED(calib_seed), .fallback = "123456789", .help = "seed of -calibration"}, \
{"gainmap", NULL, PATH(INPUT, gainmap_file), \
    .help = "factors of the gain, a 32-bit float for each pixel"}, \
{"gain", NULL, NUMBER(PIXELS, gain), ABOVE(0), .value = "g", .unit = "ADU/photon", \
    .fallback = "1", .help = "gain of the noise images"}, \
{"readout_noise", "readout", NUMBER(PIXELS, readout_noise), AT_LEAST(0), .value = "s", \
    .unit = "ADU", .fallback = "0", .help = "r.m.s. noise of the read-out"}, \
{"adc", "adcoffset", NUMBER_FROM(ADU, adc_offset, 40), WITHIN(0, 65535), .after = nb_after_adc, \
    .value = "x", .unit = "ADU", .fallback = "40 in SMV and -noisefloat, else 0", \
    .help = "offset in both SMV images; if typed, in every file with noise"}, \
{"adc_set", NULL, SWITCH(ADU | HDF5 | INNER, adc_set), .help = "an offset is given"}, \
{"saturation", NULL, NUMBER(PIXELS, saturation), AT_LEAST(1), .value = "x", .unit = "ADU", \
    .fallback = "what the file's type holds", \
    .help = "largest trusted value; a brighter pixel gets this value + 1"}, \
{"noisefloat", NULL, PATH(OUTPUT | SINGLE, noise_float_file), \
    .help = "noise image before rounding, 32-bit floats, ADU"}
/* clang-format on */

#endif
