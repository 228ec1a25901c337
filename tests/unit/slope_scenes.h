/* SPDX-License-Identifier: MIT */
/** Random simulations for comparisons of derivatives: crystals, beams and detectors of
 * every kind. */
#ifndef NB_TESTS_SLOPE_SCENES_H
#define NB_TESTS_SLOPE_SCENES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/picture.h"

enum { SLOPE_EDGE = 32 };

/** Random number between low and high; a seed gives the same numbers on every machine. */
static double slope_draw(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

static void slope_set(nb_config *cfg, const char *name, const char *form, double x,
                      double y, double z)
{
    char text[100];
    nb_error err;
    snprintf(text, sizeof text, form, x, y, z);
    if (nb_put(cfg, name, text, &err) == NB_OK)
        return;
    fprintf(stderr, "%s %s: %s\n", name, text, err.message);
    exit(1);
}

static void slope_crystal(nb_config *cfg, uint64_t *seed, int scene)
{
    const int gauss = scene % 5 == 4, round = scene % 10 == 7,
              many = !gauss && scene % 4 == 3, whole = scene % 3 != 2;
    double N = many ? slope_draw(seed, 101, 400) : slope_draw(seed, 1.5, gauss ? 12 : 40);
    slope_set(cfg, "cell", "%.3f %.3f %.3f 75 95 102", slope_draw(seed, 40, 90),
              slope_draw(seed, 40, 90), slope_draw(seed, 40, 90));
    slope_set(cfg, "misset", "%.4f %.4f %.4f", slope_draw(seed, -90, 90),
              slope_draw(seed, -90, 90), slope_draw(seed, -90, 90));
    N = whole ? floor(N) : N;
    slope_set(cfg, "Na", "%.6f", N, 0, 0);
    slope_set(cfg, "Nb", "%.6f", whole ? N + 2 : N + 2.3, 0, 0);
    slope_set(cfg, "Nc", "%.6f", scene % 7 == 5 ? 1 : N + 1, 0, 0);
    slope_set(cfg, "default_F", "%.2f", slope_draw(seed, 10, 500), 0, 0);
    if (gauss)
        slope_set(cfg, "gauss_xtal", "1", 0, 0, 0);
    else if (round)
        slope_set(cfg, "round_xtal", "1", 0, 0, 0);
    if (scene % 2)
        slope_set(cfg, "mosaic", "%.3f", slope_draw(seed, 0.05, 1), 0, 0);
    slope_set(cfg, "mosaic_dom", "%.0f", 1 + scene % 2 * 5, 0, 0);
}

static int slope_has_materials(int scene)
{
    return scene % 12 == 10 || scene % 12 == 5;
}

static void slope_beam(nb_config *cfg, uint64_t *seed, int scene)
{
    slope_set(cfg, "lambda", "%.4f", slope_draw(seed, 0.8, 2), 0, 0);
    slope_set(cfg, "phi", "%.3f", slope_draw(seed, 0, 90), 0, 0);
    if (scene % 4 == 1) {
        slope_set(cfg, "dispersion", "%.3f", slope_draw(seed, 0.2, 2), 0, 0);
        slope_set(cfg, "dispsteps", "4", 0, 0, 0);
    }
    if (scene % 9 == 8) {
        slope_set(cfg, "hdivrange", "%.3f", slope_draw(seed, 0.2, 2), 0, 0);
        slope_set(cfg, "hdivsteps", "3", 0, 0, 0);
    }
    if (scene % 4 == 2) {
        slope_set(cfg, "osc", "%.3f", slope_draw(seed, 0.1, 2), 0, 0);
        slope_set(cfg, "phisteps", "3", 0, 0, 0);
    }
    if (scene % 6 == 4)
        slope_set(cfg, "dmin", "%.3f", slope_draw(seed, 3, 6), 0, 0);
    if (scene % 8 == 7)
        slope_set(cfg, "water", "1", 0, 0, 0);
    if (scene % 3 == 1)
        slope_set(cfg, "polar", "%.3f", slope_draw(seed, -1, 1), 0, 0);
    if (scene % 11 == 3)
        slope_set(cfg, "oversample_polar", "1", 0, 0, 0);
    if (slope_has_materials(scene))
        slope_set(cfg, "background", "water:%.2f,air:30", slope_draw(seed, 0.1, 1), 0, 0);
}

/** Sets large pixels, far from each other, so that planes have values of usual size. */
static void slope_detector(nb_config *cfg, uint64_t *seed, int scene)
{
    slope_set(cfg, "distance", "%.3f", slope_draw(seed, 60, 150), 0, 0);
    slope_set(cfg, "pixel", "%.3f", slope_draw(seed, 0.5, 3), 0, 0);
    slope_set(cfg, "detpixels", "%.0f", SLOPE_EDGE, 0, 0);
    slope_set(cfg, "oversample", "%.0f", 1 + scene % 3, 0, 0);
    if (scene % 6 == 3) {
        slope_set(cfg, "detector_thick", "300", 0, 0, 0);
        slope_set(cfg, "detector_abs", "250", 0, 0, 0);
        slope_set(cfg, "thicksteps", "2", 0, 0, 0);
    }
    if (scene % 7 == 2)
        slope_set(cfg, "oversample_omega", "1", 0, 0, 0);
    if (scene % 13 == 6)
        slope_set(cfg, "curved_det", "1", 0, 0, 0);
    slope_set(cfg, "detector_rotx", "%.3f", slope_draw(seed, -10, 10), 0, 0);
    slope_set(cfg, "twotheta", "%.3f", slope_draw(seed, -5, 15), 0, 0);
}

/** Sets scene number `scene`. Every scene has derivatives by the variables in
 * slope_names. */
static void slope_scene(nb_config *cfg, int scene)
{
    uint64_t seed = 977 + 7919 * (uint64_t)scene;
    nb_config_defaults(cfg);
    slope_crystal(cfg, &seed, scene);
    slope_beam(cfg, &seed, scene);
    slope_detector(cfg, &seed, scene);
    slope_set(cfg, "device", "cpu", 0, 0, 0);
}

static const char slope_names[] =
    "rot,cell,N,mosaic,phi,osc,lambda,dispersion,distance,Xbeam,Ybeam,tilt,shift,shift_"
    "fast,"
    "shift_normal,detector_thick,detector_abs,polar,fudge,water,fluence,default_F";

#endif
