/* SPDX-License-Identifier: MIT */
/** The stages of the noise that a device makes, beside those of src/image. */
#ifndef NB_TESTS_CHECK_CHAIN_CHECK_H
#define NB_TESTS_CHECK_CHAIN_CHECK_H

#include "cases.h"
#include "image/product.h"
#include "render/backend.h"

typedef struct chain_tally {
    int images, wrong;
    int fibre_images,
        no_fibres; /* with the fibres' spread; not made for want of a library */
    int64_t fibre_pixels, fibre_off; /* integers of it, and those off by 1 */
    int64_t pixels;
    int stages[NB_STAGE_READOUT + 1]; /* how often each was there */
    double fibre_error; /* the largest of a float, relative to the brightest pixel */
} chain_tally;

/** Make products with random stages of the image that `state` rendered last, and compare every pixel
 * with those that src/image makes of the same floats.  Without the fibres' point spread: equal bytes;
 * with it floats within 1e-6 of rounding, integers off by at most 1.  `why` names what differs; "": nothing. */
void check_chain(const nb_backend *backend, nb_backend_state *state, const nb_scene *sc,
                 const float *image, check_rng *rng, chain_tally *tally, char *why,
                 size_t why_size);

#endif
