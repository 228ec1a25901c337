/* SPDX-License-Identifier: MIT */
#include "light.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../physics/panels.h"
#include "fibre.h"
#include "stages.h"
#include "../base/threads.h"

struct nb_light {
    const nb_scene *scene; /* scene with the rows of the panels */
    double *data;          /* owned; [pixels] */
};

/* --- Gaussian: along the fast edge, then along the slow one --- */

/** The Gaussian of one panel. */
typedef struct gaussian {
    const nb_light_source *source;
    const nb_panel *panel;
    const double *weights[2]; /* along fast and slow; [2 reach + 1] */
    int reach[2];
    double *rows, *data; /* [rows][columns]: after the pass along fast, and after both */
    nb_asking *asking;
} gaussian;

/** Make rows first, first + step, ... of a pass along slow (1) or fast, by one thread. */
static int spread_rows(const gaussian *g, int slow, int first, int step)
{
    const size_t columns = (size_t)g->panel->columns;
    const int reach = g->reach[slow], last = g->panel->rows - 1;
    double *n = nb_alloc(columns + 2 * (size_t)reach + NB_PIECE, sizeof *n, "row", NULL);
    const double **from = nb_alloc(2 * (size_t)reach + 1, sizeof *from, "row", NULL);
    const int ok = n && from;
    for (int s = first; ok && s <= last && !nb_stop_asked(g->asking); s += step) {
        /* light of pixel r moves by s - r, so the index `from` of the weights falls while
         * r rises */
        const int low = slow && s - reach < 0 ? 0 : s - reach,
                  high = slow && s + reach > last ? last : s + reach;
        double *to = (slow ? g->data : g->rows) + (size_t)s * columns;
        if (!slow)
            nb_light_counts(g->source, g->panel->first_row + s, n + reach);
        for (int r = high; r >= low; r--)
            from[high - r] = slow ? g->rows + (size_t)r * columns : n + (r - (s - reach));
        g->source->photons->kernels->taps(from, g->weights[slow] + reach + s - high,
                                          high - low + 1, (int)columns, to);
    }
    nb_free(from);
    nb_free(n);
    return ok;
}

static nb_status gauss_of_panel(const nb_light_source *source, const nb_panel *panel,
                                const nb_stage *stage, double *data, nb_error *err)
{
    const size_t columns = (size_t)panel->columns, rows = (size_t)panel->rows;
    const int threads =
        nb_image_threads(source->photons->threads, (int64_t)(columns * rows));
    double *along = nb_alloc(2 * (columns + rows), sizeof *along, "weights", err);
    gaussian g = {.source = source,
                  .panel = panel,
                  .rows =
                      nb_alloc_large(columns * rows, sizeof *g.rows, "point spread", err),
                  .data = data,
                  .asking = nb_asking_now()};
    nb_status st = along && g.rows ? NB_OK : NB_ERR_NOMEM;
    for (int slow = 0; slow < 2 && !st; slow++) {
        const int n = slow ? panel->rows : panel->columns;
        double *k = along + (slow ? 2 * columns : 0);
        int failed = 0;
        g.reach[slow] = nb_gauss_weights(
            stage->amount, slow ? panel->pixel_slow : panel->pixel_fast, n, k);
        g.weights[slow] = k + n - 1 - g.reach[slow];
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : failed)
        for (int t = 0; t < threads; t++)
            failed |= !spread_rows(&g, slow, t, threads);
        st = failed ? nb_fail_memory(err, columns, "point spread")
                    : nb_stop_status(g.asking, err);
    }
    nb_free(g.rows);
    nb_free(along);
    return st;
}

/* --- all --- */

nb_status nb_light_make(const nb_photons *photons, const nb_stage *stages, int at,
                        nb_light **out, nb_error *err)
{
    const nb_scene *sc = nb_photons_stack(photons);
    const nb_light_source source = {photons, stages, at};
    const nb_stage *stage = &stages[at];
    nb_light *light = *out = nb_alloc(1, sizeof *light, "point spread", err);
    nb_status st = NB_OK;
    if (!light)
        return NB_ERR_NOMEM;
    light->scene = sc;
    light->data =
        nb_alloc_large(sc->raster.pixels, sizeof *light->data, "point spread", err);
    if (!light->data)
        st = NB_ERR_NOMEM;
    for (int i = 0; i < sc->n_panels && !st; i++) {
        double *data = light->data + sc->panels[i].first_pixel;
        st = stage->shape == NB_PSF_GAUSS
                 ? gauss_of_panel(&source, &sc->panels[i], stage, data, err)
                 : nb_fibre_spread(stage->fibres, &source, i, stage->amount, data, err);
    }
    if (st) {
        nb_light_free(light);
        *out = NULL;
    }
    return st;
}

void nb_light_free(nb_light *light)
{
    if (light)
        nb_free(light->data);
    nb_free(light);
}

void nb_light_row(const nb_light *light, int row, double *out)
{
    const nb_panel *panel = &light->scene->panels[nb_panel_of_row(light->scene, row)];
    memcpy(out, light->data + nb_row_start(light->scene, row),
           (size_t)panel->columns * sizeof *out);
}
