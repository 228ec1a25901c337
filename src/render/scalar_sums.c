/* SPDX-License-Identifier: MIT */
/* The reference of slopes: sums of pixels in double, one term after the other, and their
 * contractions by parameters. */
#include <string.h>

#include "../base/memory.h"
#include "pixel_sums.h"
#include "ray_sums.h"

const char *nb_slopes_need_double(const nb_plan *plan, const nb_slope_job *job)
{
    const nb_scene *sc = plan->scene;
    const nb_factor_table *sf = &sc->factors.table;
    const nb_law law = nb_shape_law(sc->lattice.shape);
    if (plan->precision == NB_PRECISION_DOUBLE)
        return "double precision was asked for";
    if (law != NB_LAW_FRINGES && law != NB_LAW_DECAY)
        return "only parallelepipeds and Gaussians have fast kernels";
    if (sc->oversample_polar && !sc->beam.nopolar)
        return "each term has its own polarization";
    if (sf->interpolate)
        return "F is interpolated";
    if (job->n_entries > 0 || (sf->nh > 0 && job->sums & NB_SLOPE_F))
        return "slopes by entries of a table are wanted";
    return NULL;
}

double nb_slope_steepest(const nb_plan *plan)
{
    return 2 * NB_PI * plan->cells * (plan->index + 1);
}

/** Add weight times *from to *to, all members but `ray`. */
static void add_sums(const nb_slope_job *job, double weight, const nb_slope_sums *from,
                     nb_slope_sums *to)
{
    int i;
    to->image += weight * from->image;
    to->crystal += weight * from->crystal;
    to->background += weight * from->background;
    for (i = 0; i < 9; i++)
        to->index[i] += weight * from->index[i];
    for (i = 0; i < 3; i++)
        to->cells[i] += weight * from->cells[i];
    to->mosaic += weight * from->mosaic;
    to->phi += weight * from->phi;
    to->osc += weight * from->osc;
    to->fudge += weight * from->fudge;
    to->wave += weight * from->wave;
    to->spectrum += weight * from->spectrum;
    to->beam[0] += weight * from->beam[0];
    to->beam[1] += weight * from->beam[1];
    to->polarization += weight * from->polarization;
    to->default_F += weight * from->default_F;
    for (i = 0; i < job->n_entries; i++)
        to->entry[i] += weight * from->entry[i];
}

void nb_slopes_add(const nb_slope_job *job, const nb_pixel_point *at,
                   const nb_slope_sums *ray, nb_pixel_slopes *pixel)
{
    const nb_panel *panel = pixel->panel;
    double omega = job->scene->oversample_omega ? at->ray.omega : 1.0;
    double weight = at->ray.capture * omega;
    int i, k = (int)(panel - job->scene->panels);
    add_sums(job, weight, ray, &pixel->sums);
    for (i = 0; i < job->count; i++) {
        const nb_panel_slope *by = job->tangents[i].panels;
        nb_ray_slope slope;
        double factor;
        if (!by)
            continue;
        slope = nb_ray_slope_to(panel, pixel->sensor, &by[k], at->F, at->S, at->layer,
                                &at->ray);
        factor = slope.capture * omega;
        if (job->scene->oversample_omega)
            factor += at->ray.capture * slope.omega;
        pixel->place[i] +=
            factor * ray->image + weight * nb_dot(ray->ray, slope.direction);
    }
}

/** The factors that are calculated once per pixel, for its first point. */
typedef struct cached {
    nb_pixel_point at;
    double polar, omega; /* 1 if each term was multiplied by its factor */
    nb_vec3 polar_slope; /* slope of the polarization by the direction */
    double polar_by_K;
} cached;

static cached cached_factors(const nb_slope_job *job, const nb_pixel_slopes *pixel)
{
    const nb_scene *sc = job->scene;
    const nb_panel *panel = pixel->panel;
    cached c = {.polar = 1, .omega = 1};
    c.at.F = nb_subpixel(panel->pixel_fast, sc->oversample, pixel->f, 0);
    c.at.S = nb_subpixel(panel->pixel_slow, sc->oversample, pixel->s, 0);
    c.at.ray = nb_ray_to(panel, pixel->sensor, c.at.F, c.at.S, 0);
    if (!sc->beam.nopolar && !sc->oversample_polar) {
        nb_vec3 i = sc->beam.sources[0].incident, d = c.at.ray.direction,
                axis = sc->beam.polar_axis;
        c.polar = nb_polarization(sc->beam.polarization, i, d, axis);
        c.polar_slope = nb_polarization_slope(sc->beam.polarization, i, d, axis);
        c.polar_by_K = nb_polarization_by_K(i, d, axis);
    }
    if (!sc->oversample_omega)
        c.omega = c.at.ray.omega;
    return c;
}

/** Contract the sums over rays by a parameter, before the scale and the cached
 * factors. */
static double contract(const nb_tangent *t, const nb_slope_sums *s)
{
    double sum = t->mosaic * s->mosaic + t->phi * s->phi + t->osc * s->osc +
                 t->fudge * s->fudge + t->wave * s->wave + t->spectrum * s->spectrum +
                 t->polarization * s->polarization + t->default_F * s->default_F +
                 t->background * s->background + t->image * s->image +
                 t->crystal * s->crystal;
    int i;
    for (i = 0; i < 9; i++)
        sum += t->index[i] * s->index[i];
    for (i = 0; i < 3; i++)
        sum += t->cells[i] * s->cells[i];
    for (i = 0; i < 2; i++)
        sum += t->beam[i] * s->beam[i];
    return t->entry >= 0 ? sum + s->entry[t->entry] : sum;
}

/** Slope of the product of the cached factors by a parameter. */
static double cached_slope(const nb_slope_job *job, const nb_tangent *t,
                           const nb_pixel_slopes *pixel, const cached *c)
{
    double sum = t->polarization * c->polar_by_K * c->omega;
    nb_ray_slope slope;
    const nb_beam *beam = &job->scene->beam;
    for (int a = 0; a < 2; a++)
        if (t->beam[a] != 0 && job->beam[a] && !beam->nopolar &&
            !job->scene->oversample_polar)
            sum += t->beam[a] * c->omega *
                   nb_polarization_turn(beam->polarization, beam->sources[0].incident,
                                        c->at.ray.direction, beam->polar_axis,
                                        job->beam[a][0]);
    if (!t->panels)
        return sum;
    slope = nb_ray_slope_to(pixel->panel, pixel->sensor,
                            &t->panels[pixel->panel - job->scene->panels], c->at.F,
                            c->at.S, 0, &c->at.ray);
    sum += nb_dot(c->polar_slope, slope.direction) * c->omega;
    return job->scene->oversample_omega ? sum : sum + c->polar * slope.omega;
}

void nb_slopes_finish(const nb_slope_job *job, const nb_pixel_slopes *pixel, double *out,
                      size_t stride)
{
    const nb_slope_sums *s = &pixel->sums;
    double scale = job->scene->intensity_scale, factor;
    cached c = cached_factors(job, pixel);
    factor = c.polar * c.omega;
    out[0] = scale * s->image * factor;
    for (int i = 0; i < job->count; i++) {
        const nb_tangent *t = &job->tangents[i];
        double terms = contract(t, s) + pixel->place[i];
        double once =
            t->panels || t->polarization != 0 || t->beam[0] != 0 || t->beam[1] != 0
                ? cached_slope(job, t, pixel, &c)
                : 0;
        out[(size_t)(i + 1) * stride] = scale * (terms * factor + s->image * once);
    }
}

/** Add all rays of a pixel. */
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

void nb_slopes_reference(const void *of, const nb_span *spans, size_t n, double *out,
                         size_t stride)
{
    const nb_slope_job *job = of;
    double place[NB_VARIABLES_MAX];
    nb_pixel_slopes pixel;
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

int nb_slope_job_moves(const nb_slope_job *job)
{
    for (int i = 0; i < job->count; i++)
        if (job->tangents[i].panels)
            return 1;
    return 0;
}

/** Set the weights of all totals in the slope by a parameter, before the scale. */
static void weigh(const nb_tangent *t, int panel, double weight[NB_TOTALS])
{
    memset(weight, 0, NB_TOTALS * sizeof *weight);
    weight[NB_TOTAL_IMAGE] = t->image;
    weight[NB_TOTAL_CRYSTAL] = t->crystal;
    weight[NB_TOTAL_BACKGROUND] = t->background;
    memcpy(weight + NB_TOTAL_INDEX, t->index, sizeof t->index);
    memcpy(weight + NB_TOTAL_CELLS, t->cells, sizeof t->cells);
    weight[NB_TOTAL_MOSAIC] = t->mosaic;
    weight[NB_TOTAL_PHI] = t->phi;
    weight[NB_TOTAL_OSC] = t->osc;
    weight[NB_TOTAL_FUDGE] = t->fudge;
    weight[NB_TOTAL_WAVE] = t->wave;
    weight[NB_TOTAL_SPECTRUM] = t->spectrum;
    weight[NB_TOTAL_POLAR] = t->polarization;
    weight[NB_TOTAL_DEFAULT_F] = t->default_F;
    if (t->panels)
        memcpy(weight + NB_TOTAL_PANEL, &t->panels[panel], sizeof t->panels[panel]);
    if (t->entry >= 0 && t->entry < NB_DEVICE_ENTRIES)
        weight[NB_TOTAL_ENTRY + t->entry] = 1;
}

static void add_row(const nb_slope_job *job, const nb_tangent *t, int panel,
                    nb_contraction *to)
{
    double weight[NB_TOTALS];
    weigh(t, panel, weight);
    for (int i = 0; i < NB_TOTALS; i++)
        if (weight[i] != 0) {
            to->terms[to->n].weight = job->scene->intensity_scale * weight[i];
            to->terms[to->n++].total = i;
        }
    to->first[++to->rows] = to->n;
}

nb_status nb_contraction_build(const nb_slope_job *job, nb_contraction *out, nb_error *err)
{
    const nb_tangent image = {.image = 1, .entry = -1};
    const size_t rows = (size_t)job->scene->n_panels * (size_t)(job->count + 1);
    memset(out, 0, sizeof *out);
    out->first = nb_alloc(rows + 1, sizeof *out->first, "tables for derivatives", err);
    out->terms =
        nb_alloc_raw(rows * NB_TOTALS, sizeof *out->terms, "tables for derivatives", err);
    if (!out->first || !out->terms)
        return NB_ERR_NOMEM;
    for (int k = 0; k < job->scene->n_panels; k++) {
        add_row(job, &image, k, out);
        for (int i = 0; i < job->count; i++)
            add_row(job, &job->tangents[i], k, out);
    }
    return NB_OK;
}

void nb_contraction_free(nb_contraction *c)
{
    nb_free(c->first);
    nb_free(c->terms);
    memset(c, 0, sizeof *c);
}
