/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/ray.h"
#include "simd.h"

nb_status nb_background_rows_build(const nb_scene *sc, const nb_vector_plan *plans,
                                   int threads, nb_background_rows *rows, nb_error *err)
{
    const size_t n = (size_t)sc->n_panels;
    const int team = threads > 0 ? threads : 1;
    nb_status st = NB_OK;
    if (!sc->amorphous)
        return NB_OK;
    rows->plans = nb_alloc(n, sizeof *rows->plans, "plan", err);
    if (!rows->plans)
        return NB_ERR_NOMEM;
    if (rows->smooth)
        st = nb_background_tiles_build(sc, team, &rows->tiles, err);
    for (size_t k = 0; k < n; k++) {
        nb_vector_plan *p = &rows->plans[k];
        *p = plans[k];
        p->amorphous = 1;
        p->simple = 0;
    }
    if (st)
        nb_background_rows_free(rows);
    return st;
}

void nb_background_rows_free(nb_background_rows *rows)
{
    nb_background_tiles_free(rows->tiles);
    nb_free(rows->plans);
    rows->tiles = NULL;
    rows->plans = NULL;
}

/** Number in the panel of the tile that holds pixel (f, s). */
static int tile_of(const nb_background_panel *p, int f, int s)
{
    return s / p->edge * p->across + f / p->edge;
}

/** Set *to to the polynomials of row s in the tile that holds pixel (f, s). */
static void strip_of(const nb_background_rows *rows, int panel, int f, int s,
                     nb_background_strip *to)
{
    const nb_background_panel *p = &rows->tiles->panels[panel];
    const int number = tile_of(p, f, s), column = f / p->edge * p->edge;
    const int parts = p->layers * rows->tiles->n_groups;
    const nb_background_part *part = p->part + (size_t)number * (size_t)parts;
    const double v = nb_background_place(p->edge, s);
    to->scale = 2.0 / p->edge;
    to->shift = (1.0 - 2.0 * column) / p->edge - 1;
    to->grid = &rows->tiles->grids[p->level];
    to->one = rows->tiles->one;
    to->groups = rows->tiles->n_groups;
    to->parts = parts;
    for (int l = 0; l < parts; l++, part++) {
        nb_background_line *line = &to->line[l];
        for (int i = 0; i < NB_BACKGROUND_LAWS * NB_BACKGROUND_ORDER; i++) {
            line->c[i / NB_BACKGROUND_ORDER][i % NB_BACKGROUND_ORDER] =
                nb_background_polynomial(
                    part->c[i / NB_BACKGROUND_ORDER][i % NB_BACKGROUND_ORDER], v);
        }
    }
}

/** True if the piece of a row that contains pixel f is smooth (NB_BACKGROUND_PIECE). */
static int is_smooth(const nb_background_rows *rows, const nb_span *span, int f)
{
    const nb_background_panel *p = &rows->tiles->panels[span->panel];
    const nb_background_kind kind = nb_background_kind_of(p, f, span->slow);
    const int first = f / NB_BACKGROUND_PIECE * NB_BACKGROUND_PIECE;
    return kind == NB_BACKGROUND_SMOOTH ||
           (kind == NB_BACKGROUND_SOME &&
            !nb_background_piece_is_rough(rows->tiles, &rows->plans[span->panel].scene,
                                          span->panel, first, span->slow));
}

/** Add the materials to pixels f to end - 1 of the span, all in one tile. row: pixel f. */
static void add_part(const nb_background_rows *rows, const nb_span *span, int f, int end,
                     int smooth, float *row)
{
    nb_background_strip strip;
    nb_span part = *span;
    part.fast = f;
    part.n = end - f;
    part.at += (size_t)(f - span->fast);
    if (smooth) {
        strip_of(rows, span->panel, f, span->slow, &strip);
        rows->smooth(&part, &strip, row);
    } else {
        rows->kernel(&rows->plans[span->panel], &part, 1, row);
    }
}

/** Add the materials to a span in parts, each in one tile and either smooth or rough.
 * row: first pixel of the span. */
static void add_span(const nb_background_rows *rows, const nb_span *span, float *row)
{
    const int edge = rows->tiles->panels[span->panel].edge, end = span->fast + span->n;
    int from = span->fast, smooth = is_smooth(rows, span, from);
    for (int f = from; f < end;) {
        const int next = (f / NB_BACKGROUND_PIECE + 1) * NB_BACKGROUND_PIECE;
        const int is = next < end ? is_smooth(rows, span, next) : !smooth;
        if (is != smooth || next % edge == 0) {
            const int to = next < end ? next : end;
            add_part(rows, span, from, to, smooth, row + (from - span->fast));
            from = to;
            smooth = is;
        }
        f = next;
    }
}

void nb_background_row(void *context, const nb_span *spans, size_t n, float *row)
{
    const nb_background_rows *rows = context;
    if (!rows->tiles || !rows->tiles->panels[spans->panel].kind) {
        rows->kernel(&rows->plans[spans->panel], spans, n, row);
        return;
    }
    for (size_t i = 0; i < n; i++)
        add_span(rows, &spans[i], row + (spans[i].fast - spans->fast));
}

enum { SOME = 32 }; /* number of spans that are cut at once */

/** True if the sum of a dark pixel is 0 and all its factors are finite and not negative,
 * so that their product is +0. */
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
        p->fixed = 1; /* the fixed-point kernel knows that nothing scatters */
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

/** Copy columns first..last of spans[*next], ... to cuts[SOME]; returns their number. */
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

/** Render columns[0]..columns[1] of a row; lit: they may see the crystal. */
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

/** Render the crystal and the water of a row. */
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
    if (last < first) { /* no lit column: the last part is the whole row */
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
