/* SPDX-License-Identifier: MIT */
#include "search_pixels.h"

#include <math.h>
#include <string.h>

#include "../sim/sim.h"
#include "../base/memory.h"

/** Which pixels count. */
typedef struct choice {
    const nb_fit *fit;
    int spots; /* only those of spots */
    int every; /* of so many rows one */
} choice;

static int counts(const choice *c, size_t pixel)
{
    return !isnan(c->fit->chosen[pixel]) && (!c->spots || c->fit->spots[pixel]);
}

static size_t count_all(const choice *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->fit->pixels; i++)
        n += (size_t)counts(c, i);
    return n;
}

/** The pixels of row s of panel k. */
static void add_row(const choice *c, int k, int s, nb_search_pixels *out)
{
    nb_span *spans = out->spans + out->n_spans;
    const size_t n = nb_fit_row_spans(c->fit, c->fit->chosen,
                                      c->spots ? c->fit->spots : NULL, k, s, spans);
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < spans[i].n; f++)
            out->pixel[out->n++] = spans[i].at + (size_t)f;
    out->n_spans += n;
}

static void add_rows(const choice *c, nb_search_pixels *out)
{
    const nb_scene *sc = &c->fit->sim->model.scene;
    for (int k = 0; k < sc->n_panels; k++)
        for (int s = 0; s < sc->panels[k].rows; s++)
            if ((sc->panels[k].first_row + s) % c->every == 0)
                add_row(c, k, s, out);
}

nb_status nb_search_pixels_list(const nb_fit *fit, int spots, size_t most,
                                nb_search_pixels *out, nb_error *err)
{
    choice c = {fit, spots, 1};
    size_t n = count_all(&c);
    memset(out, 0, sizeof *out);
    if (n > most)
        c.every = (int)((n + most - 1) / most);
    if (n == 0 && c.spots) {
        c.spots = 0;
        n = count_all(&c);
    }
    out->pixel = nb_alloc_raw(n + 1, sizeof *out->pixel, "pixels of a search", err);
    out->spans = nb_alloc_raw(n + 1, sizeof *out->spans, "pixels of a search", err);
    if (!out->pixel || !out->spans)
        return NB_ERR_NOMEM;
    add_rows(&c, out);
    if (out->n == 0) { /* none in those rows */
        c.every = 1;
        add_rows(&c, out);
    }
    return NB_OK;
}

void nb_search_pixels_free(nb_search_pixels *p)
{
    nb_free(p->pixel);
    nb_free(p->spans);
    memset(p, 0, sizeof *p);
}
