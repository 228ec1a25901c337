/* SPDX-License-Identifier: MIT */
/** Products of slopes: planes, gradients of a loss, normal equations of a fit. */
#ifndef NB_DERIVE_PRODUCTS_H
#define NB_DERIVE_PRODUCTS_H

#include <string.h>

#include "../render/fit_pixel.h"
#include "../render/sums.h"

/** Pixels of a stack, in order. Calls over scenes of the same pixels may share a list. */
typedef struct nb_slope_pixels {
    nb_span *spans; /* owned, [n] */
    size_t n;
    uint64_t number; /* a device stores the list under this number; 0: it is not stored */
} nb_slope_pixels;
void nb_slope_pixels_free(nb_slope_pixels *pixels); /* The pixels may be all zero. */

/** Places of the pixels of a list in planes that have only these pixels. */
typedef struct nb_slope_list {
    const nb_slope_pixels *pixels; /* borrowed */
    size_t n;                      /* number of pixels */
    uint32_t *place; /* owned; [pixels of the stack]: number of a pixel in the list */
} nb_slope_list;

/** Job and open renderer of slopes. */
typedef struct nb_slope_run {
    const nb_slope_job *job;
    const nb_backend *backend;
    nb_backend_state *state;
    nb_precision precision;
    int threads; /* number of threads for work outside of the renderer */
    const nb_hooks *hooks;
    /* [1 + count][given_of->n]: image and slopes of the caller; NULL: render them */
    const double *given;
    const nb_slope_list *given_of; /* pixels of `given` */
} nb_slope_run;

/** Write the wanted planes and images, 0 outside of the region and the mask. */
nb_status nb_slope_fill(const nb_slope_run *run, const nb_slope_planes_out *out,
                        nb_error *err);

/** Write image[pixels], 0 outside of the region and the mask. */
nb_status nb_slope_image(const nb_slope_run *run, double *image, nb_error *err);

/** gradient[count] = sum of dloss[pixels] dI/dp. */
nb_status nb_slope_pullback(const nb_slope_run *run, nb_real_type type, const void *dloss,
                            double *gradient, nb_error *err);

/** Give the slopes of `pixels`, or of all pixels if NULL, to a sink. Errors:
 * NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_slope_render(const nb_slope_run *run, const nb_slope_pixels *pixels,
                          const nb_slope_sink *sink, nb_error *err);

/** Number i of an array of `type`. */
static inline double nb_real(nb_real_type type, const void *array, size_t i)
{
    return type == NB_REAL_FLOAT32 ? ((const float *)array)[i]
                                   : ((const double *)array)[i];
}

/** Copy n numbers from number `at` on. */
static inline void nb_reals(nb_real_type type, const void *array, size_t at, int n,
                            double *to)
{
    if (type == NB_REAL_FLOAT32)
        for (int i = 0; i < n; i++)
            to[i] = ((const float *)array)[at + (size_t)i];
    else
        memcpy(to, (const double *)array + at, (size_t)n * sizeof *to);
}

/** List the pixels of region and mask. Free *out, also after an error: NB_ERR_NOMEM. */
nb_status nb_slope_scene_pixels(const nb_scene *scene, nb_slope_pixels *out,
                                nb_error *err);

/** List the used pixels of an observation. Free *out, also after errors: NB_ERR_NOMEM. */
nb_status nb_slope_observed(const nb_slope_job *job, const nb_observation *seen,
                            nb_slope_pixels *out, nb_error *err);

/** Calculate loss, gradient[n] and fisher[n][n], n = count + knots. Pointers may be
 * NULL. */
nb_status nb_slope_normal(const nb_slope_run *run, const nb_slope_fit *fit,
                          const nb_slope_pixels *pixels, double *loss, double *gradient,
                          double *fisher, nb_error *err);

/** Write the image at the observed pixels, 0 elsewhere. */
nb_status nb_slope_expected(const nb_slope_run *run, const nb_observation *seen,
                            double *expected, nb_error *err);

/** Open *list. The caller frees *list, also after an error: NB_ERR_NOMEM. */
nb_status nb_slope_list_open(const nb_scene *scene, const nb_slope_pixels *pixels,
                             nb_slope_list *list, nb_error *err);
void nb_slope_list_free(nb_slope_list *list); /* The list may be all zero. */

/** Write image and slopes of the pixels of a list to the first n numbers of each row of
 * values[1 + count][stride]. Errors as nb_slope_render. */
nb_status nb_slope_list_fill(const nb_slope_run *run, const nb_slope_list *list,
                             size_t stride, double *values, nb_error *err);

/** Copy a plane of a list to a plane of the stack. Other pixels stay. */
void nb_slope_list_scatter(const nb_slope_list *list, const double *values, double *plane);

/** Copy values[planes][stride] from whole planes, all[planes][stack]. */
void nb_slope_list_gather(const nb_slope_list *list, const double *all, size_t stack,
                          size_t planes, size_t stride, double *values);

/** Gradient by every entry of the table of F that a pixel sees. */
nb_status nb_slope_F(const nb_slope_run *run, nb_real_type type, const void *dloss,
                     nb_hkl_gradient *F, nb_error *err);

/* --- Sum of products of two rows, in the same order on every processor --- */

typedef double nb_dot_pair __attribute__((vector_size(2 * sizeof(double))));

static inline nb_dot_pair nb_pair_at(const double *from)
{
    nb_dot_pair v;
    memcpy(&v, from, sizeof v);
    return v;
}

/** Sum of a[i] b[i], from eight partial sums in a fixed order. */
static inline double nb_dot_of(const double *a, const double *b, int n)
{
    nb_dot_pair s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    double rest = 0;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s0 += nb_pair_at(a + i) * nb_pair_at(b + i);
        s1 += nb_pair_at(a + i + 2) * nb_pair_at(b + i + 2);
        s2 += nb_pair_at(a + i + 4) * nb_pair_at(b + i + 4);
        s3 += nb_pair_at(a + i + 6) * nb_pair_at(b + i + 6);
    }
    for (; i < n; i++)
        rest += a[i] * b[i];
    s0 = (s0 + s1) + (s2 + s3);
    return s0[0] + s0[1] + rest;
}

#endif
