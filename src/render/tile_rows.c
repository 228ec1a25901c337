/* SPDX-License-Identifier: MIT */
#include "tile_rows.h"

#include "../base/memory.h"
#include "../physics/pixel.h"

static size_t row_of(const nb_scene *sc, const nb_span *span)
{
    return (size_t)(sc->panels[span->panel].first_row + span->slow);
}

nb_status nb_span_rows_build(const nb_scene *sc, const nb_span *spans, size_t n,
                             nb_span_rows *rows, nb_error *err)
{
    const size_t count = (size_t)sc->raster.rows;
    rows->spans = spans;
    rows->first = nb_alloc(count + 2, sizeof *rows->first, "rows", err);
    rows->order = nb_alloc_raw(n + 1, sizeof *rows->order, "rows", err);
    if (!rows->first || !rows->order)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        rows->first[row_of(sc, &spans[i]) + 2]++;
    for (size_t r = 1; r <= count; r++)
        rows->first[r + 1] += rows->first[r];
    for (size_t i = 0; i < n; i++)
        rows->order[rows->first[row_of(sc, &spans[i]) + 1]++] = i;
    return NB_OK;
}

void nb_span_rows_free(nb_span_rows *rows)
{
    nb_free(rows->first);
    nb_free(rows->order);
}

/** The terms of a pixel of the tile, added up over its sub-pixels. */
static double pixel_terms(const nb_spot_tile *t, int f, int s)
{
    const int os = t->plan->scene.oversample;
    double sum = 0;
    for (int v = s * os; v < (s + 1) * os; v++)
        for (int u = f * os; u < (f + 1) * os && t->touched[v]; u++)
            sum += t->sum[(size_t)v * t->pitch + (size_t)u];
    return sum;
}

/** Photons of a pixel of the tile. */
static double pixel_photons(const nb_spot_tile *t, int f, int s)
{
    const nb_scene *sc = &t->plan->scene;
    const double sum = pixel_terms(t, f, s);
    return sum > 0 ? sum * sc->intensity_scale *
                         nb_cached_factors(sc, &t->plan->panel, &t->plan->sensor,
                                           t->f0 + f, t->s0 + s)
                   : 0;
}

/** Add the pixels of row s of the tile to the image; returns the brightest. */
static double write_row(const nb_spot_tile *t, const nb_span_rows *rows, float *image,
                        int s)
{
    const nb_span *spans = rows->spans;
    const size_t row = (size_t)(t->plan->panel.first_row + t->s0 + s);
    double brightest = 0;
    for (size_t i = rows->first[row]; i < rows->first[row + 1]; i++) {
        const nb_span *span = &spans[rows->order[i]];
        int f = span->fast > t->f0 ? span->fast : t->f0, end = span->fast + span->n;
        end = end < t->f0 + t->nf ? end : t->f0 + t->nf;
        for (; f < end; f++) {
            double photons = pixel_photons(t, f - t->f0, s);
            float *to = image + span->at + (f - span->fast);
            if (photons > 0) {
                *to = (float)(*to + photons);
                brightest = photons > brightest ? photons : brightest; /* no call */
            }
        }
    }
    return brightest;
}

static double look_at_row(const nb_spot_tile *t, int s)
{
    double brightest = 0;
    for (int f = 0; f < t->nf; f++) {
        const double photons = pixel_photons(t, f, s);
        brightest = photons > brightest ? photons : brightest;
    }
    return brightest;
}

double nb_tile_finish(const nb_spot_tile *t, const nb_span_rows *rows, float *image)
{
    const int os = t->plan->scene.oversample;
    double brightest = 0;
    for (int s = 0; s < t->ns; s++) {
        int touched = 0;
        for (int v = s * os; v < (s + 1) * os; v++)
            touched |= t->touched[v];
        if (touched)
            brightest =
                fmax(brightest, rows ? write_row(t, rows, image, s) : look_at_row(t, s));
    }
    return brightest;
}
