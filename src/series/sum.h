/* SPDX-License-Identifier: MIT */
/** -sumfile: the sum of all frames of a series. */
#ifndef NB_SERIES_SUM_H
#define NB_SERIES_SUM_H

#include <pthread.h>

#include "../image/product.h"
#include "../physics/scene.h"
#include "ranks.h"

/** A pixel's sum in whole units and parts of 2^-52, so that it does not depend on the order of the frames. */
typedef struct nb_sum_pixel {
    int64_t whole;
    uint64_t part; /* below 2^52 */
} nb_sum_pixel;

typedef struct nb_sum {
    nb_sum_pixel *pixel; /* owned, [pixels] of the stack; NULL: no sum is wanted */
    size_t pixels;
    pthread_mutex_t lock;
} nb_sum;

/** Errors: NB_ERR_NOMEM. */
nb_status nb_sum_open(nb_sum *sum, size_t pixels, nb_error *err);
void nb_sum_close(nb_sum *sum); /* zero or open */

/** Add a frame: pixels of this type, of the scene's stack.  What is not rendered, or not finite, does not count.  From any
 * thread. */
void nb_sum_add(nb_sum *sum, const nb_scene *scene, nb_pixel_type type,
                const void *pixels);

/** Let rank 0 have the sum of all processes.  All call it.  Errors: NB_ERR_NOMEM. */
nb_status nb_sum_join(nb_sum *sum, nb_ranks *ranks, nb_error *err);

/** Write it as 64-bit floats, [slow][fast].  Errors: NB_ERR_NOMEM, NB_ERR_IO. */
nb_status nb_sum_write(const nb_sum *sum, const char *path, nb_error *err);

#endif
