/* SPDX-License-Identifier: MIT */
/** Sums of images that do not depend on the order of the images: -sumfile. */
#ifndef NB_IMAGE_SUM_H
#define NB_IMAGE_SUM_H

#include <pthread.h>

#include "../physics/scene.h"
#include "product.h"

/** A pixel's sum in whole units and parts of 2^-52, so that it does not depend on the order of the frames. */
typedef struct nb_sum_pixel {
    int64_t whole;
    uint64_t part; /* below 2^52 */
} nb_sum_pixel;

/** The sum of images of one scene. */
typedef struct nb_sum {
    nb_sum_pixel *pixel; /* owned, [pixels] of the stack; NULL: no sum is wanted */
    size_t pixels;
    pthread_mutex_t lock;
} nb_sum;

/** Errors: NB_ERR_NOMEM. */
nb_status nb_sum_open(nb_sum *sum, size_t pixels, nb_error *err);
void nb_sum_close(nb_sum *sum); /* zero or open */

/** Add another's, pixel by pixel. */
void nb_sum_pixel_add(nb_sum_pixel *to, const nb_sum_pixel *more);

/** Add an image: pixels of this type, of the scene's stack.  What is not rendered, or not finite, does not count.  From any
 * thread. */
void nb_sum_add(nb_sum *sum, const nb_scene *scene, nb_pixel_type type,
                const void *pixels);

/** Write it as 64-bit floats, [slow][fast].  Errors: NB_ERR_NOMEM, NB_ERR_IO. */
nb_status nb_sum_write(const nb_sum *sum, const char *path, nb_error *err);

#endif
