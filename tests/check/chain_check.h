/* SPDX-License-Identifier: MIT */
/** The stages of noise made by a device, against those of src/image. */
#ifndef NB_TESTS_CHECK_CHAIN_CHECK_H
#define NB_TESTS_CHECK_CHAIN_CHECK_H

#include "cases.h"
#include "image/product.h"
#include "render/backend.h"

typedef struct chain_tally {
    int images, wrong;
    int fibre_images,
        no_fibres; /* with the fibres' spread; skipped for lack of a library */
    int64_t fibre_pixels, fibre_off; /* integers with this spread, and those off by 1 */
    int64_t pixels;
    int stages[NB_STAGE_READOUT + 1]; /* number of chains with each stage */
    double fibre_error; /* largest error of a float, relative to the brightest pixel */
} chain_tally;

/** Makes products with random stages of the image that `state` rendered last, and
 * compares every pixel with those that src/image makes of the same floats. Without the
 * fibres' point spread: equal bytes; with it floats within 1e-6 of rounding, integers off
 * by at most 1. `why` names the difference; "": equal. */
void check_chain(const nb_backend *backend, nb_backend_state *state, const nb_scene *sc,
                 const float *image, check_rng *rng, chain_tally *tally, char *why,
                 size_t why_size);

#endif
