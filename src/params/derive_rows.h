/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters that describe the files of derivatives. */
#ifndef NB_PARAMS_DERIVE_ROWS_H
#define NB_PARAMS_DERIVE_ROWS_H

#include "rows.h"

/* clang-format off */
#define NB_DERIVE_ROWS \
{"derivatives", NULL, FIELD(TEXT, OUTPUT, derivatives), .value = "list", \
    .help = "derivatives of the image by these parameters: docs/derivatives.md"}, \
{"derivfile", NULL, PATH(OUTPUT, deriv_file), \
    .help = "file of -derivatives: HDF5 (.h5), or plain numbers; in a series with %d"}, \
{"derivtype", NULL, CHOICE(OUTPUT, deriv_type, NAMES("float32", "float64")), .help = "numbers of -derivfile"}, \
{"pullback", NULL, PATH(INPUT | SINGLE, pullback_file), \
    .help = "dL/dI of each pixel, float32 or float64; its sums with -derivatives go to -gradfile"}, \
{"gradfile", NULL, PATH(OUTPUT | SINGLE, grad_file), .help = "sums of -pullback, JSON"}, \
{"gradhkl", NULL, PATH(OUTPUT | SINGLE, gradhkl_file), \
    .help = "h k l dL/dF of each reflection (-derivatives F)"}
/* clang-format on */

#endif
