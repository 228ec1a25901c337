/* SPDX-License-Identifier: MIT */
/** The sums of one ray, and the parameters' slopes as weighted sums (contractions). */
#ifndef NB_RENDER_PIXEL_SUMS_H
#define NB_RENDER_PIXEL_SUMS_H

#include <stddef.h>
#include <string.h>

#include "../physics/panel_pull.h"
#include "sums.h"

enum { NB_DEVICE_ENTRIES = 8 }; /* largest number of entries of F, for a GPU's thread */
#ifdef NB_GPU
enum { NB_ENTRIES_MAX = NB_DEVICE_ENTRIES };
#else
enum { NB_ENTRIES_MAX = NB_VARIABLES_MAX };
#endif

/** The sums of nb_slope_sum, of a ray. */
typedef struct nb_slope_sums {
    double image;      /* F^2 L^2, the water and other materials */
    double crystal;    /* F^2 L^2 */
    double background; /* weight of the water, per electron^2 */
    double index[9], cells[3];
    double mosaic[NB_TURNS], phi, osc, fudge, wave, spectrum, polarization, default_F;
    /* slope by the ray's direction: the sum of w v/lambda, plus the slope of each
     * polarization */
    nb_vec3 ray;
#ifndef NB_GPU
    double beam[2];
#endif
    double entry[NB_ENTRIES_MAX];
} nb_slope_sums;

/* --- the totals of a pixel: sums over its rays, with slopes by the detector's position.
 * The slope by a parameter is a weighted sum of the totals (contraction) --- */

/** Indices of the totals. Those before NB_TOTAL_PANEL have the order of nb_slope_sums. */
enum nb_slope_total {
    NB_TOTAL_IMAGE,
    NB_TOTAL_POLAR = offsetof(nb_slope_sums, polarization) / sizeof(double),
    NB_TOTAL_PANEL = offsetof(nb_slope_sums, ray) / sizeof(double),
    NB_PANEL_NUMBERS = sizeof(nb_panel_slope) / sizeof(double), /* in its order */
    NB_TOTAL_ENTRY = NB_TOTAL_PANEL + NB_PANEL_NUMBERS,
    NB_TOTALS = NB_TOTAL_ENTRY + NB_DEVICE_ENTRIES
};

/** A pixel while its rays are added. */
typedef struct nb_pixel_totals {
    double sum[NB_TOTAL_PANEL];
    nb_panel_slope place;
    double entry[NB_ENTRIES_MAX];
#ifndef NB_GPU
    double beam[2];
#endif
} nb_pixel_totals;

/** The pixel whose rays are added. */
typedef struct nb_pixel_place {
    const nb_panel *panel;
    const nb_sensor *sensor;
    int f, s;
    int moves; /* some parameter moves the detector */
} nb_pixel_place;

NB_HD void nb_clear_sums(const nb_slope_job *job, nb_slope_sums *s)
{
    memset(s, 0, offsetof(nb_slope_sums, entry));
    for (int i = 0; i < job->n_entries; i++)
        s->entry[i] = 0;
}

NB_HD void nb_clear_totals(const nb_slope_job *job, nb_pixel_totals *t)
{
    const size_t entries = (int)NB_ENTRIES_MAX > (int)NB_DEVICE_ENTRIES
                               ? (size_t)job->n_entries
                               : (size_t)NB_DEVICE_ENTRIES;
    memset(t, 0, offsetof(nb_pixel_totals, entry) + entries * sizeof *t->entry);
#ifndef NB_GPU
    t->beam[0] = t->beam[1] = 0;
#endif
}

/** Add a ray with its sums to the totals. */
NB_HD void nb_totals_add(const nb_slope_job *job, const nb_pixel_place *pixel,
                         const nb_pull_point *at, const nb_slope_sums *ray,
                         nb_pixel_totals *to)
{
    const int by_ray = job->scene->oversample_omega;
    double omega = by_ray ? at->ray.omega : 1.0, weight = at->ray.capture * omega;
    const double *number = (const double *)ray;
    int i;
    for (i = 0; i < NB_TOTAL_PANEL; i++)
        to->sum[i] += weight * number[i];
#ifndef NB_GPU
    for (i = 0; i < 2; i++)
        to->beam[i] += weight * ray->beam[i];
#endif
    for (i = 0; i < job->n_entries; i++)
        to->entry[i] += weight * ray->entry[i];
    if (pixel->moves) {
        nb_ray_slope by;
        by.direction = nb_scale(weight, ray->ray);
        by.omega = by_ray ? at->ray.capture * ray->image : 0;
        by.capture = omega * ray->image;
        nb_panel_pull(pixel->panel, pixel->sensor, at, &by, &to->place);
    }
}

NB_HD void nb_pull_point_to(const nb_scene *sc, const nb_pixel_place *pixel, int subf,
                            int subs, int layer, nb_pull_point *at)
{
    at->F = nb_subpixel(pixel->panel->pixel_fast, sc->oversample, pixel->f, subf);
    at->S = nb_subpixel(pixel->panel->pixel_slow, sc->oversample, pixel->s, subs);
    at->layer = layer;
    at->ray = nb_ray_to(pixel->panel, pixel->sensor, at->F, at->S, layer);
}

/** Multiply the slopes by a panel's position by k. */
NB_HD void nb_scale_place(double k, nb_panel_slope *place)
{
    place->pix0 = nb_scale(k, place->pix0);
    place->fast = nb_scale(k, place->fast);
    place->slow = nb_scale(k, place->slow);
    place->normal = nb_scale(k, place->normal);
    place->close_distance *= k;
    place->distance *= k;
    place->Fbeam *= k;
    place->Sbeam *= k;
    place->roll *= k;
    place->layer_step *= k;
    place->mu *= k;
}

/** Multiply the totals by the factors that are calculated once per pixel. Add the slopes
 * that the factors have by K and by the panel's position. */
NB_HD void nb_totals_finish(const nb_slope_job *job, const nb_pixel_place *pixel,
                            const nb_pull_point *first, nb_pixel_totals *t)
{
    const nb_scene *sc = job->scene;
    const int polar = !sc->beam.nopolar && !sc->oversample_polar;
    double image = t->sum[NB_TOTAL_IMAGE], P = 1, by_K = 0, omega, factor;
    nb_ray_slope by;
    int i;
    omega = sc->oversample_omega ? 1 : first->ray.omega;
    by.direction = nb_v3(0, 0, 0);
    by.capture = 0;
    if (polar) {
        nb_vec3 from = sc->beam.sources[0].incident, d = first->ray.direction,
                axis = sc->beam.polar_axis;
        P = nb_polarization(sc->beam.polarization, from, d, axis);
        by_K = nb_polarization_by_K(from, d, axis);
        by.direction = nb_scale(
            image * omega, nb_polarization_slope(sc->beam.polarization, from, d, axis));
    }
    factor = P * omega;
    for (i = 0; i < NB_TOTAL_PANEL; i++)
        t->sum[i] *= factor;
    for (i = 0; i < job->n_entries; i++)
        t->entry[i] *= factor;
    t->sum[NB_TOTAL_POLAR] += image * by_K * omega;
#ifndef NB_GPU
    for (i = 0; i < 2; i++)
        t->beam[i] *= factor;
    for (i = 0; i < 2 && polar; i++)
        if (job->beam[i])
            t->beam[i] += image * omega *
                          nb_polarization_turn(
                              sc->beam.polarization, sc->beam.sources[0].incident,
                              first->ray.direction, sc->beam.polar_axis, job->beam[i][0]);
#endif
    if (!pixel->moves)
        return;
    nb_scale_place(factor, &t->place);
    by.omega = sc->oversample_omega ? 0 : image * P;
    nb_panel_pull(pixel->panel, pixel->sensor, first, &by, &t->place);
}

/* --- weights of the totals in each parameter's slope (contraction): sparse rows --- */

typedef struct nb_contraction_term {
    double weight; /* photons per unit of the parameter, per unit of the total */
    int total;     /* nb_slope_total */
} nb_contraction_term;

/** With r = (1 + count) k + p, plane p in panel k is the sum of terms first[r] ...
 * first[r + 1] - 1; plane 0 is the image. The struct owns its arrays. */
typedef struct nb_contraction {
    int *first;                 /* [n_panels (1 + count) + 1] */
    nb_contraction_term *terms; /* [n] */
    int n, rows;
} nb_contraction;

/** Errors: NB_ERR_NOMEM.  Free it after an error, too. */
nb_status nb_contraction_build(const nb_slope_job *job, nb_contraction *out,
                               nb_error *err);
void nb_contraction_free(nb_contraction *c); /* The contraction may be all zero. */

/** Set out[0] to the image and out[p stride], p = 1 ... count, to the parameters' slopes,
 * from the finished totals of a pixel of this panel. */
void nb_totals_contract(const nb_slope_job *job, int panel, const nb_pixel_totals *t,
                        double *out, size_t stride);

/** True if a parameter moves the detector. */
int nb_slope_job_moves(const nb_slope_job *job);

#endif
