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

void nb_totals_contract(const nb_slope_job *job, int panel, const nb_pixel_totals *t,
                        double *out, size_t stride)
{
    const double scale = job->scene->intensity_scale, *place = (const double *)&t->place;
    out[0] = scale * t->sum[NB_TOTAL_IMAGE];
    for (int i = 0; i < job->count; i++) {
        const nb_tangent *by = &job->tangents[i];
        double sum = by->beam[0] * t->beam[0] + by->beam[1] * t->beam[1];
        for (int k = 0; k < NB_TOTAL_PANEL; k++)
            sum += ((const double *)by)[k] * t->sum[k];
        for (int k = 0; by->panels && k < NB_PANEL_NUMBERS; k++)
            sum += ((const double *)&by->panels[panel])[k] * place[k];
        if (by->entry >= 0)
            sum += t->entry[by->entry];
        out[(size_t)(i + 1) * stride] = scale * sum;
    }
}

void nb_slopes_reference(const void *of, const nb_span *spans, size_t n, double *out,
                         size_t stride)
{
    const nb_slope_job *job = of;
    const nb_scene *sc = job->scene;
    const nb_panel *panel = &sc->panels[spans->panel];
    nb_pixel_place pixel = {panel, &sc->sensors[panel->sensor], 0, spans->slow,
                            nb_slope_job_moves(job)};
    nb_pixel_totals totals;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < spans[i].n; k++) {
            pixel.f = spans[i].fast + k;
            nb_pixel_exact(job, &pixel, &totals);
            nb_totals_contract(job, spans->panel, &totals, out++, stride);
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
    memcpy(weight, t, NB_TOTAL_PANEL * sizeof *weight);
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
