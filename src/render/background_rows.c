/* SPDX-License-Identifier: MIT */
#include "background_rows.h"

#include "../base/memory.h"
#include "../physics/ray.h"

static nb_status build_tiles(const nb_scene *sc, int threads, nb_background_rows *rows,
                             nb_error *err)
{
    nb_status st = NB_OK;
    rows->tiles = nb_alloc((size_t)sc->n_panels, sizeof *rows->tiles, "panels", err);
    if (!rows->tiles)
        return NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels && !st; k++)
        st = nb_background_tiles_build(sc, &sc->panels[k], rows->table, threads,
                                       &rows->tiles[k], err);
    return st;
}

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
        st = nb_background_table_build(sc, team, &rows->table, err);
    if (!st && rows->table)
        st = build_tiles(sc, team, rows, err);
    for (size_t k = 0; k < n; k++) {
        nb_vector_plan *p = &rows->plans[k];
        *p = plans[k];
        p->amorphous = 1;
        p->simple = 0;
        p->background = rows->table;
    }
    if (st)
        nb_background_rows_free(rows);
    return st;
}

void nb_background_rows_free(nb_background_rows *rows)
{
    for (int k = 0; rows->tiles && k < rows->plans->scene.n_panels; k++)
        nb_background_tiles_free(&rows->tiles[k]);
    nb_free(rows->tiles);
    nb_background_table_free(rows->table);
    nb_free(rows->plans);
    rows->tiles = NULL;
    rows->table = NULL;
    rows->plans = NULL;
}

/** The line of row s in a tile; column: the tile's first. */
static nb_background_line line_in(const nb_panel *panel, const nb_background_tiles *t,
                                  const nb_background_tile *tile, int column, int s)
{
    const double v = nb_background_place(t, s);
    nb_background_line line = {.start = nb_panel_point(panel, 0.5 * panel->pixel_fast,
                                                       (s + 0.5) * panel->pixel_slow,
                                                       t->depth),
                               .step = nb_scale(panel->pixel_fast, panel->fast),
                               .scale = 2.0 / t->edge,
                               .shift = (1.0 - 2.0 * column) / t->edge - 1};
    for (int i = 0; i < NB_BACKGROUND_ORDER; i++)
        for (int j = NB_BACKGROUND_ORDER - 1; j >= 0; j--)
            line.c[i] = line.c[i] * v + tile->c[i][j];
    return line;
}

/** Is the piece of pixel f smooth? */
static int is_smooth(const nb_background_rows *rows, const nb_span *span, int f)
{
    const nb_background_tiles *t = &rows->tiles[span->panel];
    const int first = f / NB_BACKGROUND_PIECE * NB_BACKGROUND_PIECE;
    return t->tiles[span->slow / t->edge * t->across + f / t->edge].smooth &&
           !nb_background_is_rough(t, &rows->plans[span->panel].panel, rows->table, first,
                                   span->slow);
}

/** Add to pixels f to end - 1 of the span, which are in a tile; row: pixel f. */
static void add_part(const nb_background_rows *rows, const nb_span *span, int f, int end,
                     int smooth, float *row)
{
    const nb_vector_plan *plan = &rows->plans[span->panel];
    const nb_background_tiles *t = &rows->tiles[span->panel];
    nb_span part = *span;
    part.fast = f;
    part.n = end - f;
    part.at += (size_t)(f - span->fast);
    if (smooth) {
        const nb_background_tile *tile =
            &t->tiles[span->slow / t->edge * t->across + f / t->edge];
        const nb_background_line line =
            line_in(&plan->panel, t, tile, f / t->edge * t->edge, span->slow);
        rows->smooth(plan, &part, &line, row);
    } else {
        rows->kernel(plan, &part, 1, row);
    }
}

/** A span in parts that are in one tile and smooth, or not; row: its first pixel. */
static void add_span(const nb_background_rows *rows, const nb_span *span, float *row)
{
    const int edge = rows->tiles[span->panel].edge, end = span->fast + span->n;
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
    if (!rows->tiles || !rows->tiles[spans->panel].tiles) {
        rows->kernel(&rows->plans[spans->panel], spans, n, row);
        return;
    }
    for (size_t i = 0; i < n; i++)
        add_span(rows, &spans[i], row + (spans[i].fast - spans->fast));
}
