/* SPDX-License-Identifier: MIT */
/** The totals of one pixel by one thread, in double or with terms in single precision.  Plain C, as
 * slope_terms.h. */
#ifndef NB_CUDA_SLOPE_PIXEL_H
#define NB_CUDA_SLOPE_PIXEL_H

#include "../../src/render/pixel_sums.h"
#include "slope_terms.h"

/** Not inlined on a GPU: each of many kernels would have its own copy. */
NB_HD_CALL void nb_pixel_aim(const nb_scene *sc, const nb_pixel_place *pixel, int ray,
                             nb_pull_point *at)
{
    const int os = sc->oversample;
    nb_pull_point_to(sc, pixel, ray % os, ray / os % os, ray / os / os, at);
}

NB_HD_CALL void nb_pixel_take(const nb_slope_job *job, const nb_pixel_place *pixel,
                              const nb_pull_point *at, const nb_slope_sums *ray,
                              nb_pixel_totals *to)
{
    nb_totals_add(job, pixel, at, ray, to);
}

NB_HD_CALL void nb_pixel_finish(const nb_slope_job *job, const nb_pixel_place *pixel,
                                const nb_pull_point *first, nb_pixel_totals *t)
{
    nb_totals_finish(job, pixel, first, t);
}

NB_TERM int nb_pixel_rays(const nb_scene *sc, const nb_pixel_place *pixel)
{
    return sc->oversample * sc->oversample * pixel->sensor->layers;
}

/** Every operation in double. */
NB_TERM void nb_pixel_exact(const nb_slope_job *job, const nb_pixel_place *pixel,
                            nb_pixel_totals *t)
{
    const int rays = nb_pixel_rays(job->scene, pixel);
    nb_slope_sums sums;
    nb_pull_point at, first;
    int i;
    memset(t, 0, sizeof *t);
    for (i = 0; i < rays; i++) {
        nb_pixel_aim(job->scene, pixel, i, &at);
        if (i == 0)
            first = at;
        nb_sum_ray(job, &at.ray, &sums);
        nb_pixel_take(job, pixel, &at, &sums, t);
    }
    nb_pixel_finish(job, pixel, &first, t);
}

/** Terms in single precision. */
NB_TERM void nb_pixel_fast(const nb_term_tables *tables, const nb_slope_job *job,
                           const nb_pixel_place *pixel, nb_pixel_totals *t,
                           const nb_term_case how)
{
    const int rays = nb_pixel_rays(job->scene, pixel);
    nb_slope_sums sums;
    nb_pull_point at, first;
    int i;
    memset(t, 0, sizeof *t);
    for (i = 0; i < rays; i++) {
        nb_pixel_aim(job->scene, pixel, i, &at);
        if (i == 0)
            first = at;
        nb_term_ray(tables, job, &at.ray, &sums, how);
        nb_pixel_take(job, pixel, &at, &sums, t);
    }
    nb_pixel_finish(job, pixel, &first, t);
}

/** Plane p of panel k. */
NB_TERM double nb_contract(const int *first, const nb_contraction_term *terms, int row,
                           const nb_pixel_totals *t)
{
    const double *number = (const double *)t;
    double sum = 0;
    int i;
    for (i = first[row]; i < first[row + 1]; i++)
        sum += terms[i].weight * number[terms[i].total];
    return sum;
}

#endif
