/* SPDX-License-Identifier: MIT */
/* The reference engine: every sum in double, one term after the other. */
#include "pixel_slopes.h"
#include "ray_sums.h"

/** All rays of a pixel. */
static void sum_pixel(const nb_slope_job *job, nb_pixel_slopes *pixel)
{
    const nb_panel *panel = pixel->panel;
    int layer, subf, subs, os = job->scene->oversample;
    nb_slope_sums ray;
    nb_clear_sums(job, &pixel->sums);
    for (int i = 0; i < job->count; i++)
        pixel->place[i] = 0;
    for (layer = 0; layer < pixel->sensor->layers; layer++)
        for (subs = 0; subs < os; subs++)
            for (subf = 0; subf < os; subf++) {
                nb_pixel_point at = {.layer = layer};
                at.F = nb_subpixel(panel->pixel_fast, os, pixel->f, subf);
                at.S = nb_subpixel(panel->pixel_slow, os, pixel->s, subs);
                at.ray = nb_ray_to(panel, pixel->sensor, at.F, at.S, layer);
                nb_sum_ray(job, &at.ray, &ray);
                nb_slopes_add(job, &at, &ray, pixel);
            }
}

static void scalar_row(const nb_slope_job *job, const void *state, const nb_span *spans,
                       size_t n, double *out, size_t stride)
{
    double place[NB_VARIABLES_MAX];
    nb_pixel_slopes pixel;
    (void)state;
    pixel.place = place;
    pixel.panel = &job->scene->panels[spans->panel];
    pixel.sensor = &job->scene->sensors[pixel.panel->sensor];
    pixel.s = spans->slow;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < spans[i].n; k++) {
            pixel.f = spans[i].fast + k;
            sum_pixel(job, &pixel);
            nb_slopes_finish(job, &pixel, out++, stride);
        }
}

static int scalar_applies(const nb_slope_job *job, const nb_slope_way *way,
                          const char **why)
{
    (void)job;
    (void)way;
    (void)why;
    return 1;
}

const nb_slope_engine nb_slope_scalar = {
    .name = "scalar double", .applies = scalar_applies, .row = scalar_row};
