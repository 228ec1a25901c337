/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters that describe the files of derivatives. */
#ifndef NB_PARAMS_DERIVE_ROWS_H
#define NB_PARAMS_DERIVE_ROWS_H

#include "rows.h"

/* clang-format off */
#define NB_DERIVE_ROWS \
{"derivatives", NULL, FIELD(TEXT, OUTPUT, derivatives), .value = "list", \
    .help = "parameters by which the image is differentiated, commas between: docs/derivatives.md"}, \
{"derivfile", NULL, PATH(OUTPUT, deriv_file), \
    .help = "file of -derivatives: HDF5 (.h5), or planes of plain numbers; in a series with %d"}, \
{"derivtype", NULL, CHOICE(OUTPUT, deriv_type, NAMES("float32", "float64")), .help = "numbers of -derivfile"}, \
{"pullback", NULL, PATH(INPUT | SINGLE, pullback_file), \
    .help = "dL/dI of each pixel, plain float32 or float64: its sum with -derivatives goes to -gradfile"}, \
{"gradfile", NULL, PATH(OUTPUT | SINGLE, grad_file), .help = "the sums of -pullback, JSON"}, \
{"gradhkl", NULL, PATH(OUTPUT | SINGLE, gradhkl_file), \
    .help = "of -derivatives F: h k l dL/dF of every reflection that a pixel sees"}
/* clang-format on */

#endif
