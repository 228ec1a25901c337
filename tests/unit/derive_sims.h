/* SPDX-License-Identifier: MIT */
/** Simulations, images and planes for the tests of derivatives. */
#ifndef NB_TESTS_DERIVE_SIMS_H
#define NB_TESTS_DERIVE_SIMS_H

#include "../support/check.h"

static uint64_t dice = 88172645463325252u;

static inline double uniform(double low, double high)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return low + (high - low) * (double)(dice >> 11) / 9007199254740992.0;
}

static inline void set(nb_config *cfg, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void set(nb_config *cfg, const char *name, const char *format, ...)
{
    char text[200];
    nb_error err = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (nb_put(cfg, name, text, &err))
        fail_msg("%s %s: %s", name, text, err.message);
}

static inline nb_sim *opened(const nb_config *cfg)
{
    nb_sim *sim = NULL;
    nb_error err = {0};
    if (nb_sim_create(cfg, NULL, &sim, &err))
        fail_msg("%s", err.message);
    return sim;
}

static inline size_t pixels_of(const nb_sim *sim)
{
    int fast, slow;
    nb_sim_size(sim, &fast, &slow);
    return (size_t)fast * (size_t)slow;
}

/** Renders the image and returns it in doubles; free it with nb_free. */
static inline double *image_of(nb_sim *sim)
{
    const size_t n = pixels_of(sim);
    float *photons = calloc(n, sizeof *photons);
    double *image = calloc(n, sizeof *image);
    const nb_observation seen = {.photons = photons};
    nb_error err = {0};
    if (nb_sim_expected(sim, &seen, image, &err))
        fail_msg("%s", err.message);
    free(photons);
    return image;
}

/** Plane of derivatives by the variable `name`; free it with free. */
static inline double *plane_of(nb_sim *sim, const char *name)
{
    double *plane = calloc(pixels_of(sim), sizeof *plane);
    nb_error err = {0};
    if (nb_sim_derivatives(sim, &name, 1, NB_REAL_FLOAT64, plane, NULL, &err))
        fail_msg("%s: %s", name, err.message);
    return plane;
}

static inline double largest(const double *x, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, fabs(x[i]));
    return max;
}

static inline void check_equal(const double *a, const double *b, size_t n, double limit)
{
    const double max = fmax(largest(a, n), largest(b, n));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= limit * max))
            fail_msg("pixel %zu: %.15g and %.15g, largest %.6g", i, a[i], b[i], max);
}

#endif
