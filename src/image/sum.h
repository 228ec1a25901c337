/* SPDX-License-Identifier: MIT */
/** Sums of images that do not depend on the order of the images: -sumfile. */
#ifndef NB_IMAGE_SUM_H
#define NB_IMAGE_SUM_H

#include <pthread.h>

#include "../physics/scene.h"
#include "product.h"

/** Sum of a pixel in whole units and parts of 2^-52, so that any order of frames gives
 * the same sum. */
typedef struct nb_sum_pixel {
    int64_t whole;
    uint64_t part; /* below 2^52 */
} nb_sum_pixel;

/** The sum of images of one scene. */
typedef struct nb_sum {
    nb_sum_pixel *pixel; /* owned, [pixels] of the stack, or NULL without a sum */
    size_t pixels;
    pthread_mutex_t lock;
} nb_sum;

/** Open the sum. Errors: NB_ERR_NOMEM. */
nb_status nb_sum_open(nb_sum *sum, size_t pixels, nb_error *err);
void nb_sum_close(nb_sum *sum); /* The sum may be all zero. */

/** Add the pixel of another sum. */
void nb_sum_pixel_add(nb_sum_pixel *to, const nb_sum_pixel *more);

/** Add the rendered, finite pixels of this type of the scene's stack. Any thread may call
 * it. */
void nb_sum_add(nb_sum *sum, const nb_scene *scene, nb_pixel_type type,
                const void *pixels);

/** Write the sum as 64-bit floats, [slow][fast]. Errors: NB_ERR_NOMEM, NB_ERR_IO. */
nb_status nb_sum_write(const nb_sum *sum, const char *path, nb_error *err);

#endif
