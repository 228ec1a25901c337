/* SPDX-License-Identifier: MIT */
#include "contraction.h"

#include <string.h>

#include "../base/memory.h"

int nb_slope_job_moves(const nb_slope_job *job)
{
    for (int i = 0; i < job->count; i++)
        if (job->tangents[i].panels)
            return 1;
    return 0;
}

/** A parameter's weights of all totals, before the scale. */
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
