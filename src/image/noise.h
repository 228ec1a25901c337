/* SPDX-License-Identifier: MIT */
/** Counting noise. */
#ifndef NB_IMAGE_NOISE_H
#define NB_IMAGE_NOISE_H

#include "photons.h"

/** Rows of a product after NB_STAGE_POISSON: a Poisson deviate of each pixel's mean (photons) plus
 * the offset, rounded half up and clamped to 0..65535; 0 outside the region of interest.  The
 * deviate depends only on seed, frame and pixel.  out[rows][fpixels] begins with row `first`; one
 * thread.  Returns how many pixels were clipped.
 *
 * With an `error`, a pixel of up to NB_NOISE_MOST photons whose deviate could be another within it
 * is computed again in double, and takes the deviate of that value; unless that differs by more
 * than NB_NOISE_OTHER from the float, which then is not this scene's but the caller's own.  So
 * images that differ by rounding have the same noise (docs/physics.md, section 20). */
int64_t nb_noise_rows(const nb_product *product, int first, int rows, uint16_t *out);

/** The value of a pixel in double precision, as a float, with all that the photons mix; the float `mean` of the image
 * if that is not these photons', or masked. */
float nb_noise_exact(const nb_photons *photons, size_t pixel, float mean);

/** A pixel whose noise is in doubt: its float, and its value in double as a float. */
typedef struct nb_doubt {
    int64_t pixel;
    float mean, exact;
} nb_doubt;

/** Fill `exact` of n pixels by nb_noise_exact, after nb_mix_need_light; by the photons' threads where that is much. */
void nb_noise_settle(const nb_photons *photons, nb_doubt *doubts, int64_t n);

/** The photons of pixel s fpixels + f before offset and clamping. */
double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel);

/** nanoBragg's noise image (NB_STAGE_POISSON_COMPAT): one serial ran1 stream through the region of
 * interest, masked pixels included; the sum is truncated.  frame and error are not used.  The stream
 * is the caller's (nb_free); NULL and err filled when memory is out. */
typedef struct nb_compat_noise nb_compat_noise;
nb_compat_noise *nb_noise_compat_start(const nb_stage *stage, nb_error *err);

/** As nb_noise_rows, from product->stream; all rows must be asked for in order. */
int64_t nb_noise_compat_rows(const nb_product *product, int first, int rows,
                             uint16_t *out);

#endif
