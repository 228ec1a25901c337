/* SPDX-License-Identifier: MIT */
/** The pixels that the search along cells and mosaic spread compares. */
#ifndef NB_REFINE_SEARCH_PIXELS_H
#define NB_REFINE_SEARCH_PIXELS_H

#include "fit.h"

/** The pixels of some rows.  Their places are those of the stack, because a device knows no others. */
typedef struct nb_search_pixels {
    size_t n, n_spans;
    size_t *pixel;  /* owned; [n] */
    nb_span *spans; /* owned; [n_spans] */
} nb_search_pixels;

/** The chosen pixels, or with `spots` those of them near spots; if they are more than `most`, of every second row, every
 * third and so on.  Errors: NB_ERR_NOMEM; nb_search_pixels_free after one, too. */
nb_status nb_search_pixels_list(const nb_fit *fit, int spots, size_t most,
                                nb_search_pixels *out, nb_error *err);
void nb_search_pixels_free(nb_search_pixels *p);

#endif
