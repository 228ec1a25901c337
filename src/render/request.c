/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "sums.h"

/** The first rendered pixel of a row from f on, or `end` if the mask excludes all
 * pixels. */
static int next_lit(const uint8_t *mask, int f, int end)
{
    uint64_t eight = 0;
    for (; end - f >= (int)sizeof eight; f += (int)sizeof eight) {
        memcpy(&eight, mask + f, sizeof eight);
        if (eight)
            break;
    }
    while (f < end && !mask[f])
        f++;
    return f;
}

/** Find the runs of rendered pixels of a row and write them to spans, which may be NULL;
 * returns their number. */
static size_t split_row(const nb_scene *sc, int k, const nb_region *r, int slow,
                        nb_span *spans)
{
    const nb_panel *panel = &sc->panels[k];
    const size_t row = nb_panel_pixel(panel, 0, slow);
    const uint8_t *mask = sc->raster.mask ? sc->raster.mask + row : NULL;
    size_t n = 0;
    for (int f = r->fmin, end; f <= r->fmax; f = end) {
        const uint8_t *dark = NULL;
        if (mask)
            f = next_lit(mask, f, r->fmax + 1);
        if (f > r->fmax)
            break;
        if (mask)
            dark = memchr(mask + f, 0, (size_t)(r->fmax + 1 - f));
        end = dark ? (int)(dark - mask) : r->fmax + 1;
        if (spans)
            spans[n] = (nb_span){k, f, slow, end - f, row + (size_t)f};
        n++;
    }
    return n;
}

static size_t split_scene(const nb_scene *sc, nb_span *spans)
{
    size_t n = 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_region r = nb_panel_region(sc, &sc->panels[k]);
        for (int s = r.smin; s <= r.smax; s++)
            n += split_row(sc, k, &r, s, spans ? spans + n : NULL);
    }
    return n;
}

static size_t rendered_rows(const nb_scene *sc)
{
    size_t n = 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_region r = nb_panel_region(sc, &sc->panels[k]);
        if (nb_region_pixels(r) > 0)
            n += (size_t)(r.smax - r.smin + 1);
    }
    return n;
}

nb_status nb_spans_build(const nb_scene *sc, nb_span **spans, size_t *n, nb_error *err)
{
    *n = sc->raster.mask ? split_scene(sc, NULL) : rendered_rows(sc);
    *spans = nb_alloc_raw(*n ? *n : 1, sizeof **spans, "list of pixels", err);
    if (!*spans)
        return NB_ERR_NOMEM;
    split_scene(sc, *spans);
    return NB_OK;
}

nb_span nb_span_of_pixel(const nb_scene *sc, int fast, int row)
{
    const int k = nb_panel_of_row(sc, row);
    return (nb_span){k, fast, row - sc->panels[k].first_row, 1,
                     nb_row_start(sc, row) + (size_t)fast};
}

/** The end of the spans, from `first` on, that lie in one row and whose distances in the
 * planes equal those in the panel. */
static size_t row_end(const nb_request *request, size_t first)
{
    const nb_span *a = &request->spans[first], *b = a;
    size_t end = first + 1;
    while (end < request->n && (++b)->panel == a->panel && b->slow == a->slow &&
           b->fast > a->fast && b->at - a->at == (size_t)(b->fast - a->fast))
        end++;
    return end;
}

nb_status nb_request_rows(const nb_request *request, size_t **first, int *rows,
                          nb_error *err)
{
    *rows = 0;
    *first = nb_alloc_raw(request->n + 1, sizeof **first, "list of rows", err);
    if (!*first)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < request->n; i = row_end(request, i))
        (*first)[(*rows)++] = i;
    (*first)[*rows] = request->n;
    return NB_OK;
}

nb_scene nb_request_scene(const nb_request *request, const nb_scene *sc, int *filled)
{
    nb_scene part = *sc;
    nb_region r = {sc->raster.columns, -1, sc->raster.rows, -1};
    double pixels = 0;
    if (filled)
        *filled = 1;
    if (!request->spans && request->n > 0)
        return part;
    for (size_t i = 0; i < request->n; i++) {
        const nb_span *span = &request->spans[i];
        int row = sc->panels[span->panel].first_row + span->slow;
        int last = span->fast + span->n - 1;
        r.fmin = span->fast < r.fmin ? span->fast : r.fmin;
        r.fmax = last > r.fmax ? last : r.fmax;
        r.smin = row < r.smin ? row : r.smin;
        r.smax = row > r.smax ? row : r.smax;
        pixels += span->n;
    }
    part.raster.roi = r;
    part.raster.mask = NULL;
    if (filled)
        *filled = pixels == nb_rendered_pixels(&part);
    return part;
}

nb_status nb_request_check(const nb_request *request, const nb_scene *sc, size_t pixels,
                           const char *name, nb_error *err)
{
    size_t end = 0;
    if (request->sums && request->sums->job->scene != sc)
        return nb_fail(err, NB_ERR_INTERNAL,
                       "the %s renderer was asked for slopes of another scene", name);
    for (size_t i = 0; request->spans && i < request->n; i++) {
        const nb_span *s = &request->spans[i];
        const nb_panel *panel = &sc->panels[s->panel < sc->n_panels ? s->panel : 0];
        if (s->panel < 0 || s->panel >= sc->n_panels || s->fast < 0 || s->n < 1 ||
            s->fast + s->n > panel->columns || s->slow < 0 || s->slow >= panel->rows ||
            s->at < end || s->at + (size_t)s->n > pixels)
            return nb_fail(
                err, NB_ERR_INTERNAL,
                "span %zu of a request: %d pixels from %d %d of panel %d to %zu", i, s->n,
                s->fast, s->slow, s->panel, s->at);
        end = s->at + (size_t)s->n;
    }
    return NB_OK;
}

nb_status nb_render_scene_as(const nb_backend *backend, nb_backend_state *state,
                             const nb_scene *sc, const nb_request *as, float *image,
                             nb_error *err)
{
    const nb_planes planes = {image, sc->raster.pixels};
    nb_request request = *as;
    nb_span *spans = NULL;
    nb_status st = NB_OK;
    request.n = rendered_rows(sc);
    if (sc->raster.mask)
        st = nb_spans_build(sc, &spans, &request.n, err);
    request.spans = spans;
    NB_TRY(backend->render(state, sc, &request, &planes, err));
    nb_free(spans);
    return st;
}
