/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters for images that are given instead of rendered ones. */
#ifndef NB_PARAMS_INPUT_ROWS_H
#define NB_PARAMS_INPUT_ROWS_H

#include "rows.h"

/* clang-format off */
#define NB_INPUT_ROWS \
{"noise_input", NULL, OF_SERIES(FILE, INPUT | INNER, input), \
    .help = "images that get background and noise, instead of rendered ones"}, \
{"noise_size", NULL, OF_SERIES(INTEGER, PIXELS | INNER, input_size), WITHIN(1, 1e6), .unit = "pixels", \
    .value = "fast slow", .help = "of images without header"}, \
{"noise_pedestal_set", NULL, OF_SERIES(SWITCH, PIXELS | INNER, input_pedestal_set), \
    .help = "a pedestal is given"}, \
{"noise_pedestal", NULL, OF_SERIES(NUMBER, PIXELS | INNER, input_pedestal), ANY, .value = "x", \
    .after = nb_after_input_pedestal, .help = "value of their pixels without photons"}, \
{"noise_unit", NULL, OF_SERIES(NUMBER, PIXELS | INNER, input_unit), ABOVE(0), .unit = "photons", \
    .help = "one unit of their pixels"}
/* clang-format on */

#endif
