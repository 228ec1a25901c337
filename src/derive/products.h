/* SPDX-License-Identifier: MIT */
/** What is made of slopes: planes, the gradient of a loss, the normal equations of a fit. */
#ifndef NB_DERIVE_PRODUCTS_H
#define NB_DERIVE_PRODUCTS_H

#include <string.h>

#include "../render/fit_pixel.h"
#include "../render/sums.h"

/** Pixels of a stack, in order.  Many calls over scenes of the same pixels may share a list. */
typedef struct nb_slope_pixels {
    nb_span *spans; /* owned, [n] */
    size_t n;
    uint64_t number; /* tells lists of a simulation apart, so that a device is sent each once; 0: it is used once */
} nb_slope_pixels;
void nb_slope_pixels_free(nb_slope_pixels *pixels); /* zeroed is fine */

/** Where the pixels of a list are in planes that have only these. */
typedef struct nb_slope_list {
    const nb_slope_pixels *pixels; /* borrowed */
    size_t n;                      /* their number */
    uint32_t *place; /* owned; [pixels of the stack], set where a pixel is in the list: its number there */
} nb_slope_list;

/** What renders the slopes of a job, open. */
typedef struct nb_slope_run {
    const nb_slope_job *job;
    const nb_backend *backend;
    nb_backend_state *state;
    nb_precision precision;
    int threads; /* for what is not rendered */
    const nb_hooks *hooks;
    const double *given; /* [1 + count][given_of->n]: image and slopes; NULL: they are rendered */
    const nb_slope_list *given_of;
} nb_slope_run;

/** Planes and images that are wanted, 0 outside of the region and the mask. */
nb_status nb_slope_fill(const nb_slope_run *run, const nb_slope_planes_out *out,
                        nb_error *err);

/** image[pixels], 0 outside of the region and the mask. */
nb_status nb_slope_image(const nb_slope_run *run, double *image, nb_error *err);

/** gradient[count] = sum of dloss[pixels] dI/dp. */
nb_status nb_slope_pullback(const nb_slope_run *run, nb_real_type type, const void *dloss,
                            double *gradient, nb_error *err);

/** Give the slopes of these pixels, or of all if NULL, to a sink.  Errors: NB_ERR_NOMEM, NB_ERR_DEVICE,
 * NB_ERR_CANCELLED. */
nb_status nb_slope_render(const nb_slope_run *run, const nb_slope_pixels *pixels,
                          const nb_slope_sink *sink, nb_error *err);

/** Number i of an array of `type`. */
static inline double nb_real(nb_real_type type, const void *array, size_t i)
{
    return type == NB_REAL_FLOAT32 ? ((const float *)array)[i]
                                   : ((const double *)array)[i];
}

/** n numbers from number `at` on. */
static inline void nb_reals(nb_real_type type, const void *array, size_t at, int n,
                            double *to)
{
    if (type == NB_REAL_FLOAT32)
        for (int i = 0; i < n; i++)
            to[i] = ((const float *)array)[at + (size_t)i];
    else
        memcpy(to, (const double *)array + at, (size_t)n * sizeof *to);
}

/** The pixels of a scene's region and mask.  Free the list after an error, too.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_scene_pixels(const nb_scene *scene, nb_slope_pixels *out,
                                nb_error *err);

/** The pixels of an observation that are used.  Free the list after an error, too.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_observed(const nb_slope_job *job, const nb_observation *seen,
                            nb_slope_pixels *out, nb_error *err);

/** loss, gradient[n], fisher[n][n] with n = count + knots; each may be NULL.  pixels: nb_slope_observed, or NULL. */
nb_status nb_slope_normal(const nb_slope_run *run, const nb_slope_fit *fit,
                          const nb_slope_pixels *pixels, double *loss, double *gradient,
                          double *fisher, nb_error *err);

/** The image at the observed pixels, 0 elsewhere. */
nb_status nb_slope_expected(const nb_slope_run *run, const nb_observation *seen,
                            double *expected, nb_error *err);

/** nb_slope_list_free after an error, too.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_list_open(const nb_scene *scene, const nb_slope_pixels *pixels,
                             nb_slope_list *list, nb_error *err);
void nb_slope_list_free(nb_slope_list *list); /* zeroed is fine */

/** The image and the slopes of a list's pixels: values[1 + count][stride], of which the first n of each are set.  Errors as
 * nb_slope_render. */
nb_status nb_slope_list_fill(const nb_slope_run *run, const nb_slope_list *list,
                             size_t stride, double *values, nb_error *err);

/** A plane of the stack from that of a list; other pixels stay. */
void nb_slope_list_scatter(const nb_slope_list *list, const double *values, double *plane);

/** values[planes][stride] from whole planes, all[planes][stack]. */
void nb_slope_list_gather(const nb_slope_list *list, const double *all, size_t stack,
                          size_t planes, size_t stride, double *values);

/** The gradient of every entry of the table that a pixel sees. */
nb_status nb_slope_F(const nb_slope_run *run, nb_real_type type, const void *dloss,
                     nb_hkl_gradient *F, nb_error *err);

/* --- The sum of products of two rows, in the same order on every processor --- */

typedef double nb_dot_pair __attribute__((vector_size(2 * sizeof(double))));

static inline nb_dot_pair nb_pair_at(const double *from)
{
    nb_dot_pair v;
    memcpy(&v, from, sizeof v);
    return v;
}

/** sum of a[i] b[i]: eight partial sums, which are added in a fixed order. */
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
