/* SPDX-License-Identifier: MIT */
/** Random simulations for the tests of derivatives. */
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

static inline int chance(int percent)
{
    return uniform(0, 100) < percent;
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
    if (nb_config_set(cfg, name, text, &err))
        fail_msg("%s %s: %s", name, text, err.message);
}

static inline void random_crystal(nb_config *cfg)
{
    static const char *const shapes[] = {"square_xtal", "square_xtal", "round_xtal",
                                         "gauss_xtal"};
    static const char *const models[] = {"nanobragg", "uniform", "gauss"};
    set(cfg, "cell", "%g %g %g %g %g %g", uniform(40, 90), uniform(40, 90),
        uniform(40, 90), uniform(78, 102), uniform(78, 102), uniform(78, 102));
    set(cfg, "misset", "%g %g %g", uniform(-180, 180), uniform(-80, 80),
        uniform(-180, 180));
    for (int i = 0; i < 3; i++)
        cfg->N[i] = chance(60) ? floor(uniform(2, 12)) : uniform(1.2, 12);
    set(cfg, shapes[(int)uniform(0, 4)], "1");
    set(cfg, "fudge", "%g", chance(50) ? 1 : uniform(0.6, 1.6));
    if (chance(25))
        set(cfg, "crystal_volume", "%g", uniform(0.1, 3));
    if (chance(50)) {
        set(cfg, "mosaic", "%g", uniform(0.2, 1.5));
        set(cfg, "mosaic_dom", "%d", (int)uniform(2, 5));
        set(cfg, "mosaic_model", "%s", models[(int)uniform(0, 3)]);
    }
    if (chance(40)) {
        set(cfg, "phi", "%g", uniform(-90, 90));
        set(cfg, "osc", "%g", uniform(0.2, 2));
        set(cfg, "phisteps", "%d", (int)uniform(1, 4));
    }
    set(cfg, "default_F", "%g", uniform(20, 200));
}

static inline void random_detector(nb_config *cfg)
{
    static const char *const conventions[] = {"mosflm", "xds", "denzo", "adxv", "dials"};
    set(cfg, conventions[(int)uniform(0, 5)], "1");
    set(cfg, "detpixels_x", "%d", (int)uniform(7, 10));
    set(cfg, "detpixels_y", "%d", (int)uniform(6, 9));
    set(cfg, "pixel", "%g", uniform(0.8, 1.6));
    set(cfg, chance(70) ? "distance" : "close_distance", "%g", uniform(50, 120));
    if (chance(60)) {
        set(cfg, "detector_rotx", "%g", uniform(-25, 25));
        set(cfg, "detector_roty", "%g", uniform(-25, 25));
        set(cfg, "detector_rotz", "%g", uniform(-25, 25));
        set(cfg, "twotheta", "%g", uniform(-25, 25));
    }
    if (chance(30))
        set(cfg, "pivot", chance(50) ? "beam" : "sample");
    if (chance(50)) {
        set(cfg, "Xbeam", "%g", uniform(-5, 12));
        set(cfg, "Ybeam", "%g", uniform(-5, 12));
    } else if (chance(50)) {
        set(cfg, "ORGX", "%g", uniform(-5, 12));
        set(cfg, "ORGY", "%g", uniform(-5, 12));
    }
    if (chance(20)) {
        set(cfg, "curved_det", "1");
        set(cfg, "curved_omega", chance(50) ? "exact" : "square");
    } else if (chance(20)) {
        set(cfg, "point_pixel", "1");
    }
    if (chance(40)) {
        set(cfg, "detector_thick", "%g", uniform(100, 900));
        if (chance(70))
            set(cfg, "detector_abs", "%g", uniform(100, 900));
        set(cfg, "detector_thicksteps", "%d", (int)uniform(1, 4));
        set(cfg, "layer_depth", chance(30) ? "front" : "mean");
    }
}

static inline nb_config random_config(void)
{
    nb_config cfg = nb_test_config();
    random_crystal(&cfg);
    random_detector(&cfg);
    set(&cfg, "lambda", "%g", uniform(0.8, 1.6));
    set(&cfg, "oversample", "%d", (int)uniform(1, 3));
    if (chance(40)) {
        set(&cfg, "dispersion", "%g", uniform(0.3, 3));
        set(&cfg, "dispsteps", "%d", (int)uniform(2, 5));
    }
    if (chance(20)) {
        set(&cfg, "hdivrange", "%g", uniform(0.5, 3));
        set(&cfg, "hdivsteps", "2");
    }
    if (chance(20))
        set(&cfg, "nopolar", "1");
    else
        set(&cfg, "polar", "%g", uniform(-1, 1));
    if (chance(30))
        set(&cfg, "oversample_polar", "1");
    if (chance(30))
        set(&cfg, "oversample_omega", "1");
    if (chance(40))
        set(&cfg, "water", "%g", uniform(1, 20));
    if (chance(30))
        set(&cfg, "background", "water:0.5,air:30");
    if (chance(20))
        set(&cfg, "dmin", "%g", uniform(1.5, 4));
    return cfg;
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

/** The image in double; nb_free. */
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

/** One plane; free. */
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
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static inline void check_equal(const double *a, const double *b, size_t n, double limit)
{
    const double most = fmax(largest(a, n), largest(b, n));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= limit * most))
            fail_msg("pixel %zu: %.15g and %.15g, largest %.6g", i, a[i], b[i], most);
}

#endif
