/* SPDX-License-Identifier: MIT */
#include "light.h"

#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../physics/panels.h"
#include "fibre.h"
#include "../base/threads.h"

/** A panel's place in the data, and the sum along the slow edge that is still to be made. */
typedef struct panel_light {
    size_t at, stride; /* doubles */
    int reach;         /* displacements -reach ... reach; -1: the sum is made */
    double *weights;   /* [2 reach + 1], in `pool` */
} panel_light;

struct nb_light {
    const nb_scene *scene;
    const nb_image_kernels *kernels;
    int threads;
    double *data; /* free() */
    panel_light *panels;
    double *pool;
};

/* --- Gaussian: along the fast edge when it is made, along the slow one when a row is asked for --- */

/** The Gaussian of one panel, along its fast edge. */
typedef struct gauss_rows {
    const nb_light *light;
    const nb_light_source *source;
    const nb_panel *panel;
    const panel_light *to;
    const double *weights; /* [2 reach + 1] */
    int reach;
    nb_asking *asking;
} gauss_rows;

/** Rows first, first + step, ... of the panel, by one thread. */
static int spread_rows(const gauss_rows *g, int first, int step)
{
    size_t width = (size_t)g->panel->columns, taps = 2 * (size_t)g->reach + 1;
    double *n = nb_alloc(width + 2 * (size_t)g->reach + NB_PIECE, sizeof *n, "row", NULL);
    const double **from = nb_alloc(taps, sizeof *from, "row", NULL);
    int ok = n && from;
    for (size_t t = 0; ok && t < taps;
         t++) /* displacement t - reach: from that pixel back */
        from[t] = n + taps - 1 - t;
    for (int s = first; ok && s < g->panel->rows && !nb_stop_asked(g->asking); s += step) {
        nb_light_counts(g->source, g->panel->first_row + s, n + g->reach);
        g->light->kernels->taps(from, g->weights, (int)taps, g->panel->columns,
                                g->light->data + g->to->at + (size_t)s * g->to->stride);
    }
    nb_free(from);
    nb_free(n);
    return ok;
}

static nb_status gauss_panel(const gauss_rows *g, nb_error *err)
{
    int threads =
        nb_image_threads(g->light->threads, (int64_t)g->panel->columns * g->panel->rows);
    int failed = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : failed)
    for (int i = 0; i < threads; i++)
        failed |= !spread_rows(g, i, threads);
    return failed ? nb_fail_memory(err, (size_t)g->panel->columns, "point spread")
                  : nb_stop_status(g->asking, err);
}

/** The weights of a panel along both edges, the slow ones into the pool. */
static nb_status gauss_of_panel(nb_light *light, const nb_light_source *source,
                                const nb_stage *stage, int i, double *pool, nb_error *err)
{
    const nb_panel *panel = &light->scene->panels[i];
    panel_light *to = &light->panels[i];
    double *along = nb_alloc(2 * (size_t)panel->columns, sizeof *along, "weights", err);
    gauss_rows g = {light, source, panel, to, NULL, 0, nb_asking_now()};
    nb_status st = NB_ERR_NOMEM;
    if (!along)
        return st;
    g.reach = nb_gauss_weights(stage->amount, panel->pixel_fast, panel->columns, along);
    g.weights = along + panel->columns - 1 - g.reach;
    to->reach = nb_gauss_weights(stage->amount, panel->pixel_slow, panel->rows, pool);
    to->weights = pool + panel->rows - 1 - to->reach;
    st = gauss_panel(&g, err);
    nb_free(along);
    return st;
}

static nb_status make_gauss(nb_light *light, const nb_light_source *source,
                            const nb_stage *stage, nb_error *err)
{
    const nb_scene *sc = light->scene;
    nb_status st = NB_OK;
    double *pool = nb_alloc(2 * (size_t)sc->raster.rows, sizeof *pool, "weights", err);
    if (!(light->pool = pool))
        return NB_ERR_NOMEM;
    for (int i = 0; i < sc->n_panels && !st; i++) {
        st = gauss_of_panel(light, source, stage, i, pool, err);
        pool += 2 * (size_t)sc->panels[i].rows;
    }
    return st;
}

/** One row of a Gaussian along the slow edge. */
static void gauss_row(const nb_light *light, const panel_light *p, const nb_panel *panel,
                      int s, double *out)
{
    enum { TOGETHER = 2048 };
    const double *rows[TOGETHER];
    const double *start = light->data + p->at;
    int from = s - p->reach,
        to = s + p->reach; /* pixels: displacement s - from downwards */
    int first, taps = 0;
    from = from > 0 ? from : 0;
    to = to < panel->rows - 1 ? to : panel->rows - 1;
    first = s - to;
    if (to - from + 1 <= TOGETHER) {
        for (int r = to; r >= from; r--)
            rows[taps++] = start + (size_t)r * p->stride;
        light->kernels->taps(rows, p->weights + p->reach + first, taps, panel->columns,
                             out);
        return;
    }
    /* wide: the same sums, pixel after pixel of the sum in memory */
    memset(out, 0, (size_t)panel->columns * sizeof *out);
    for (int r = to; r >= from; r--) {
        const double weight = p->weights[p->reach + s - r];
        const double *row = start + (size_t)r * p->stride;
        for (int f = 0; f < panel->columns; f++)
            out[f] += weight * row[f];
    }
}

/* --- all --- */

/** Place the panels in the data; returns how many doubles. */
static size_t place_panels(nb_light *light, int fibre)
{
    size_t at = 0;
    for (int i = 0; i < light->scene->n_panels; i++) {
        const nb_panel *panel = &light->scene->panels[i];
        size_t columns = (size_t)panel->columns;
        light->panels[i] =
            (panel_light){at, fibre ? nb_fibre_stride(panel->columns) : columns, -1, NULL};
        at += light->panels[i].stride * (size_t)panel->rows;
    }
    return at;
}

static nb_status make_fibre(nb_light *light, const nb_light_source *source,
                            const nb_stage *stage, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < light->scene->n_panels && !st; i++)
        st = nb_fibre_spread(stage->fibres, source, i, stage->amount,
                             light->data + light->panels[i].at, err);
    return st;
}

static nb_status fill(nb_light *light, const nb_light_source *source,
                      const nb_stage *stage, nb_error *err)
{
    int fibre = stage->shape != NB_PSF_GAUSS;
    size_t doubles = place_panels(light, fibre);
    light->data = nb_image_memory(doubles * sizeof *light->data);
    if (!light->data)
        return nb_fail_memory(err, doubles * sizeof *light->data, "point spread");
    return fibre ? make_fibre(light, source, stage, err)
                 : make_gauss(light, source, stage, err);
}

nb_status nb_light_make(const nb_photons *photons, const nb_stage *stages, int at,
                        nb_light **out, nb_error *err)
{
    const nb_light_source source = {photons, stages, at};
    nb_light *light = nb_alloc(1, sizeof *light, "point spread", err);
    nb_status st = NB_ERR_NOMEM;
    *out = NULL;
    if (!light)
        return st;
    light->scene = nb_photons_stack(photons);
    light->kernels = photons->kernels;
    light->threads = photons->threads;
    light->panels = nb_alloc((size_t)light->scene->n_panels, sizeof *light->panels,
                             "point spread", err);
    if (light->panels)
        st = fill(light, &source, &stages[at], err);
    if (st)
        nb_light_free(light);
    else
        *out = light;
    return st;
}

void nb_light_free(nb_light *light)
{
    if (!light)
        return;
    free(light->data);
    nb_free(light->panels);
    nb_free(light->pool);
    nb_free(light);
}

void nb_light_row(const nb_light *light, int row, double *out)
{
    int k = nb_panel_of_row(light->scene, row);
    const nb_panel *panel = &light->scene->panels[k];
    const panel_light *p = &light->panels[k];
    int s = row - panel->first_row;
    if (p->reach < 0)
        memcpy(out, light->data + p->at + (size_t)s * p->stride,
               (size_t)panel->columns * sizeof *out);
    else
        gauss_row(light, p, panel, s, out);
}
