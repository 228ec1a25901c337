/* SPDX-License-Identifier: MIT */
/** Compares the noise stages of a device with those of src/image. */
#ifndef NB_TESTS_CHECK_CHAIN_CHECK_H
#define NB_TESTS_CHECK_CHAIN_CHECK_H

#include "cases.h"
#include "image/product.h"
#include "render/backend.h"

typedef struct chain_tally {
    int images, wrong;
    int fibre_images,
        /* images with the fibres' point spread; no_fibres is 1 if this build has no
         * library for it */
        no_fibres;
    /* number of integers with this spread, and of those that differ by 1 */
    int64_t fibre_pixels, fibre_off;
    int64_t pixels;
    int stages[NB_STAGE_READOUT + 1]; /* number of chains with each stage */
    double fibre_error; /* largest error of a float, relative to the brightest pixel */
} chain_tally;

/** Makes products with random stages of the image that `state` rendered last, and
 * compares them with products of the same floats by src/image. Bytes must be equal. After
 * the fibres' point spread floats may differ by 2e-7 of the brightest pixel, integers
 * by 1. `why` describes a difference, or is "". */
void check_chain(const nb_backend *backend, nb_backend_state *state, const nb_scene *sc,
                 const float *image, check_rng *rng, chain_tally *tally, char *why,
                 size_t why_size);

#endif
