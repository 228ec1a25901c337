/* SPDX-License-Identifier: MIT */
/** Counting noise. */
#ifndef NB_IMAGE_NOISE_H
#define NB_IMAGE_NOISE_H

#include <stddef.h>

#include "../nanobragg.h"
#include "../physics/scene.h"

typedef struct nb_noise_options {
    int64_t seed;
    uint32_t frame;    /* images of one seed are independent when their frames differ */
    double adc_offset; /* ADU */
    int threads;       /* 0: all; the image does not depend on it */
    double error; /* relative, of the image's floats; 0: they are taken as they are */
} nb_noise_options;

/** out[spixels][fpixels] = a Poisson deviate of each pixel's mean (photons) plus the offset,
 * rounded half up and clamped to 0..65535; 0 outside the region of interest.  Pixel p of frame f
 * hangs on (seed, f, p) alone.  *overloads (may be NULL) counts the pixels clipped at 65535.
 *
 * With an `error`, a pixel of up to NB_NOISE_MOST photons whose deviate could be another within it
 * is computed again in double, and takes the deviate of that value; unless that differs by more
 * than NB_NOISE_OTHER from the float, which then is not this scene's but the caller's own.  So
 * images that differ by rounding have the same noise (docs/physics.md, section 20).
 *
 * Errors: NB_ERR_UNSUPPORTED in a build without Random123. */
nb_status nb_noise(const float *image, const nb_scene *scene,
                   const nb_noise_options *options, uint16_t *out, int64_t *overloads,
                   nb_error *err);

/** Can this build do it?  Errors: NB_ERR_UNSUPPORTED. */
nb_status nb_noise_check(nb_error *err);

/** The rows first ... first + rows - 1 of that, to out[rows][fpixels], by one thread; nb_noise_check
 * comes before.  Returns how many of their pixels were clipped. */
int64_t nb_noise_rows(const float *image, const nb_scene *scene,
                      const nb_noise_options *options, int first, int rows, uint16_t *out);

/** The photons of pixel s fpixels + f before offset and clamping. */
double nb_noise_photons(const float *image, const nb_scene *scene,
                        const nb_noise_options *options, size_t pixel);

/** nanoBragg's noise image (-compat): one serial ran1 stream through the region of interest,
 * masked pixels included; the sum is truncated.  frame, threads and error are not used. */
nb_status nb_noise_compat(const float *image, const nb_scene *scene,
                          const nb_noise_options *options, uint16_t *out,
                          int64_t *overloads, nb_error *err);

/** Where that stream stands; nb_free. */
typedef struct nb_compat_noise nb_compat_noise;
nb_compat_noise *nb_noise_compat_start(const nb_noise_options *options, nb_error *err);

/** The next `rows` rows, from `first` on; all rows must be asked for in order.  As
 * nb_noise_rows. */
int64_t nb_noise_compat_rows(nb_compat_noise *stream, const float *image,
                             const nb_scene *scene, int first, int rows, uint16_t *out);

#endif
