/* SPDX-License-Identifier: MIT */
/** Two images and their difference side by side. */
#ifndef NB_PICTURE_SHEET_H
#define NB_PICTURE_SHEET_H

#include "canvas.h"

/** The shown images: the same rectangle of a and b, [slow][fast], with a row distance of
 * `stride` pixels. */
typedef struct nb_sheet {
    const float *a, *b; /* the rectangle's first pixel */
    int stride, fast, slow;
    const nb_png_options *colours; /* NULL: the default */
    double pedestal;               /* of both images; 0 none */
} nb_sheet;

/** Draw a, b in the same colours, and a - b with its scale. Large images are reduced: each dot
 * shows the largest of its pixels. Small images are enlarged. The scale of a - b ends at a
 * percentile of its magnitude; the largest value is written next to it. Free the pixels of
 * *canvas with nb_free. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_sheet(const nb_sheet *sheet, nb_canvas *canvas, nb_error *err);

#endif
