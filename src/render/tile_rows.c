/* SPDX-License-Identifier: MIT */
#include "tile_rows.h"

#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/pixel.h"

#define ROUNDING 1e-9 /* largest rounding error, relative to a pixel's photons */

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

/** Sum of the terms of a pixel of the tile over its sub-pixels. The pixel has a touched
 * row of sub-pixels. */
static inline double pixel_terms(const nb_spot_tile *t, int f, int s)
{
    const int os = t->plan->scene.oversample;
    double sum = 0;
    if (os == 1)
        return t->sum[(size_t)s * t->pitch + (size_t)f];
    for (int v = s * os; v < (s + 1) * os; v++)
        for (int u = f * os; u < (f + 1) * os && t->touched[v]; u++)
            sum += t->sum[(size_t)v * t->pitch + (size_t)u];
    return sum;
}

/** Photons of a pixel of the tile with these terms. */
static double photons_of(const nb_spot_tile *t, int f, int s, double terms)
{
    const nb_scene *sc = &t->plan->scene;
    return terms * sc->intensity_scale *
           nb_cached_factors(sc, &t->plan->panel, &t->plan->sensor, t->f0 + f, t->s0 + s);
}

/** Add the pixels of row s of the tile to the image; returns the photons of the brightest
 * pixel. */
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
            const double terms = pixel_terms(t, f - t->f0, s);
            if (!(terms > 0))
                continue;
            const double photons = photons_of(t, f - t->f0, s, terms);
            float *to = image + span->at + (f - span->fast);
            if (photons > 0) {
                *to = (float)(*to + photons);
                /* a comparison, not fmax, which would be a call */
                brightest = photons > brightest ? photons : brightest;
            }
        }
    }
    return brightest;
}

static int row_is_touched(const nb_spot_tile *t, int s)
{
    const int os = t->plan->scene.oversample;
    int touched = 0;
    for (int v = s * os; v < (s + 1) * os; v++)
        touched |= t->touched[v];
    return touched;
}

double nb_tile_finish(const nb_spot_tile *t, const nb_span_rows *rows, float *image,
                      double brightest)
{
    for (int s = 0; s < t->ns; s++)
        if (row_is_touched(t, s))
            brightest = fmax(brightest, write_row(t, rows, image, s));
    return brightest;
}

nb_bright nb_brighter(nb_bright a, nb_bright b)
{
    if (a.photons > b.photons || a.photons < b.photons)
        return a.photons > b.photons ? a : b;
    if (a.panel != b.panel)
        return a.panel < b.panel ? a : b;
    return a.s < b.s || (a.s == b.s && a.f < b.f) ? a : b;
}

/** The brighter one of `best` and the brightest pixel of row s. A pixel whose terms are
 * too small is skipped: its photons are at most per_term times the terms. */
static nb_bright look_at_row(const nb_spot_tile *t, int panel, int s, double per_term,
                             nb_bright best)
{
    for (int f = 0; f < t->nf; f++) {
        const double terms = pixel_terms(t, f, s);
        if (terms > 0 && terms * per_term >= best.photons) {
            const double photons = photons_of(t, f, s, terms);
            best = nb_brighter(best, (nb_bright){photons, panel, t->f0 + f, t->s0 + s});
        }
    }
    return best;
}

nb_bright nb_tile_look(const nb_spot_tile *t, int panel, nb_bright best)
{
    const nb_scene *sc = &t->plan->scene;
    /* the polarization is at most 1 (see nb_spots_refuse_beam) */
    const double omega =
        sc->oversample_omega ? 1 : nb_largest_solid_angle(&t->plan->panel);
    for (int s = 0; s < t->ns; s++)
        if (row_is_touched(t, s))
            best = look_at_row(t, panel, s, sc->intensity_scale * omega * (1 + ROUNDING),
                               best);
    return best;
}
