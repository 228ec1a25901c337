/* SPDX-License-Identifier: MIT */
/** Counting noise. */
#ifndef NB_IMAGE_NOISE_H
#define NB_IMAGE_NOISE_H

#include "photons.h"

/** Rows of a product after NB_STAGE_POISSON: a Poisson deviate of each pixel's mean (photons) plus
 * the offset, rounded half up and clamped to 0..65535; 0 outside the region of interest.  The
 * deviate depends only on seed, frame and pixel.  out[rows][fpixels] begins with row `first`; one
 * thread.  Returns how many pixels were clipped. */
int64_t nb_noise_rows(const nb_product *product, int first, int rows, uint16_t *out);

/** The photons of pixel s fpixels + f before offset and clamping. */
double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel);

/** nanoBragg's noise image (NB_STAGE_POISSON_COMPAT): one serial ran1 stream through the region of
 * interest, masked pixels included; the sum is truncated.  frame is not used.  The stream
 * is the caller's (nb_free); NULL and err filled when memory is out. */
typedef struct nb_compat_noise nb_compat_noise;
nb_compat_noise *nb_noise_compat_start(const nb_stage *stage, nb_error *err);

/** As nb_noise_rows, from product->stream; all rows must be asked for in order. */
int64_t nb_noise_compat_rows(const nb_product *product, int first, int rows,
                             uint16_t *out);

#endif
