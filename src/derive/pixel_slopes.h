/* SPDX-License-Identifier: MIT */
/** The sums of one ray, and what the parameters make of them: for every engine. */
#ifndef NB_DERIVE_PIXEL_SLOPES_H
#define NB_DERIVE_PIXEL_SLOPES_H

#include "slope_job.h"

enum { NB_DEVICE_ENTRIES = 8 }; /* what a thread of a GPU has room for */
#ifdef NB_GPU
enum { NB_ENTRIES_MAX = NB_DEVICE_ENTRIES };
#else
enum { NB_ENTRIES_MAX = NB_VARIABLES_MAX };
#endif

/** The sums of nb_slope_sum. */
typedef struct nb_slope_sums {
    double image;      /* F^2 L^2, the water and other materials */
    double crystal;    /* F^2 L^2 */
    double background; /* weight of the water, per electron^2 */
    double index[9], cells[3];
    double mosaic, phi, osc, fudge, wave, spectrum, polarization, default_F;
    nb_vec3 ray; /* by the direction: w v/lambda, and the slope of each term's polarization */
    double entry[NB_ENTRIES_MAX];
} nb_slope_sums;

/** A pixel while its rays are added. */
typedef struct nb_pixel_slopes {
    nb_slope_sums sums; /* of all rays, with their weights; `ray` is not used */
    double *place;      /* [count]: what the detector's motion makes, before the scale */
    const nb_panel *panel;
    const nb_sensor *sensor;
    int f, s;
} nb_pixel_slopes;

/** A point of the pixel. */
typedef struct nb_pixel_point {
    double F, S; /* m */
    int layer;
    nb_ray ray;
} nb_pixel_point;

/** Add a ray with its sums to a pixel. */
void nb_slopes_add(const nb_slope_job *job, const nb_pixel_point *at,
                   const nb_slope_sums *ray, nb_pixel_slopes *pixel);

/** The image and each parameter's slope: out[p stride], p = 0 ... count. */
void nb_slopes_finish(const nb_slope_job *job, const nb_pixel_slopes *pixel, double *out,
                      size_t stride);

#endif
