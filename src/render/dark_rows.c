/* SPDX-License-Identifier: MIT */
#include "dark_rows.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"

enum { SOME = 32 }; /* spans that are cut at a time */

/** No factor is negative or infinite, so that none makes a -0 or worse of 0. */
int nb_dark_is_zero(const nb_scene *sc)
{
    if (sc->background != 0 || !(sc->intensity_scale >= 0) ||
        !isfinite(sc->intensity_scale) ||
        !(sc->beam.nopolar || fabs(sc->beam.polarization) <= 1))
        return 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        if (panel->curved || !(nb_dot(panel->pix0, panel->normal) > 0) ||
            !(panel->close_distance > 0))
            return 0;
    }
    return 1;
}

nb_status nb_plans_without_crystal(const nb_vector_plan *plans, int n,
                                   nb_vector_plan **without, nb_error *err)
{
    *without = nb_alloc((size_t)n, sizeof **without, "plan", err);
    if (!*without)
        return NB_ERR_NOMEM;
    for (int k = 0; k < n; k++) {
        nb_vector_plan *p = &(*without)[k];
        *p = plans[k];
        if (!p->fixed)
            p->table.unit = 1;
        p->fixed = 1; /* where the kernel knows that nothing scatters */
        p->table.kind = NB_F_ZERO;
    }
    return NB_OK;
}

static nb_status build_lit(const nb_plan *plan, nb_dark_rows *rows, nb_error *err)
{
    const nb_scene *sc = plan->scene;
    const nb_lit_cone cone = nb_lit_cone_of(plan);
    const int zero = nb_dark_is_zero(sc);
    if (cone.all || (rows->plans->simple && !zero))
        return NB_OK;
    rows->lit = nb_alloc((size_t)sc->n_panels, sizeof *rows->lit, "panels", err);
    if (!rows->lit)
        return NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels; k++)
        rows->lit[k] =
            nb_lit_panel_of(&cone, &sc->panels[k], &sc->sensors[sc->panels[k].sensor]);
    return zero ? NB_OK
                : nb_plans_without_crystal(rows->plans, sc->n_panels, &rows->without, err);
}

nb_status nb_dark_rows_build(const nb_plan *plan, nb_dark_rows *rows, nb_error *err)
{
    nb_status st;
    rows->materials.kernel = rows->kernel;
    rows->materials.smooth = rows->background;
    st = nb_background_rows_build(plan->scene, rows->plans, rows->threads,
                                  &rows->materials, err);
    return st ? st : build_lit(plan, rows, err);
}

void nb_dark_rows_free(nb_dark_rows *rows)
{
    nb_free(rows->lit);
    nb_free(rows->without);
    nb_background_rows_free(&rows->materials);
}

/** Up to SOME spans from *next on, cut to the columns first..last; how many. */
static int cut(const nb_span *spans, size_t n, size_t *next, int first, int last,
               nb_span *cuts)
{
    int count = 0;
    for (; *next < n && count < SOME; (*next)++) {
        nb_span s = spans[*next];
        int end = s.fast + s.n < last + 1 ? s.fast + s.n : last + 1;
        int off = s.fast < first ? first - s.fast : 0;
        s.fast += off;
        s.at += (size_t)off;
        s.n = end - s.fast;
        if (s.n > 0)
            cuts[count++] = s;
    }
    return count;
}

static void render_dark(const nb_dark_rows *rows, const nb_span *spans, size_t n,
                        float *to)
{
    if (rows->without) {
        rows->kernel(&rows->without[spans->panel], spans, n, to);
        return;
    }
    for (size_t i = 0; i < n; i++)
        memset(to + (spans[i].fast - spans->fast), 0, (size_t)spans[i].n * sizeof *to);
}

/** The columns first..last of a row. */
static void render_part(const nb_dark_rows *rows, const nb_span *spans, size_t n,
                        float *row, const int columns[2], int lit)
{
    nb_span cuts[SOME];
    size_t next = 0;
    int count;
    while ((count = cut(spans, n, &next, columns[0], columns[1], cuts)) > 0) {
        float *to = row + (cuts->fast - spans->fast);
        if (lit)
            rows->kernel(&rows->plans[spans->panel], cuts, (size_t)count, to);
        else
            render_dark(rows, cuts, (size_t)count, to);
    }
}

/** The crystal and the water. */
static void render_row(const nb_dark_rows *rows, const nb_span *spans, size_t n,
                       float *row)
{
    const nb_lit_panel *lit = rows->lit ? &rows->lit[spans->panel] : NULL;
    int first, last;
    if (!lit || lit->all) {
        rows->kernel(&rows->plans[spans->panel], spans, n, row);
        return;
    }
    nb_lit_columns(lit, spans->slow, &first, &last);
    if (last < first) { /* all of the row goes to the last part */
        first = 0;
        last = -1;
    }
    const int parts[3][2] = {{0, first - 1}, {first, last}, {last + 1, lit->columns - 1}};
    for (int i = 0; i < 3; i++)
        render_part(rows, spans, n, row, parts[i], i == 1);
}

void nb_dark_row(void *context, const nb_span *spans, size_t n, float *row)
{
    nb_dark_rows *rows = context;
    render_row(rows, spans, n, row);
    if (rows->materials.plans)
        nb_background_row(&rows->materials, spans, n, row);
}
