/* SPDX-License-Identifier: MIT */
#include "background_rows.h"

#include "../base/memory.h"
#include "../physics/ray.h"

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
        st = nb_background_tiles_build(sc, rows->table, team, &rows->tiles, err);
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
    nb_background_tiles_free(rows->tiles);
    nb_background_table_free(rows->table);
    nb_free(rows->plans);
    rows->tiles = NULL;
    rows->table = NULL;
    rows->plans = NULL;
}

/** The tile of a pixel; its number in its panel. */
static int tile_of(const nb_background_panel *p, int f, int s)
{
    return s / p->edge * p->across + f / p->edge;
}

/** Row s of the tile of pixel f. */
static void strip_of(const nb_background_rows *rows, int panel, int f, int s,
                     nb_background_strip *to)
{
    const nb_panel *on = &rows->plans[panel].panel;
    const nb_background_panel *p = &rows->tiles->panels[panel];
    const int number = tile_of(p, f, s), column = f / p->edge * p->edge;
    const nb_background_layer *layer = p->layer + (size_t)number * (size_t)p->layers;
    const double v = nb_background_place(p->edge, s);
    to->scale = 2.0 / p->edge;
    to->shift = (1.0 - 2.0 * column) / p->edge - 1;
    to->mean = nb_background_tile_mean(rows->tiles, &p->tiles[number]);
    to->mean = to->mean && !to->mean->one ? to->mean : NULL;
    to->layers = p->layers;
    for (int l = 0; l < p->layers; l++, layer++) {
        nb_background_line *line = &to->line[l];
        line->start = nb_panel_point(on, 0.5 * on->pixel_fast, (s + 0.5) * on->pixel_slow,
                                     layer->depth);
        line->step = nb_scale(on->pixel_fast, on->fast);
        for (int i = 0; i < NB_BACKGROUND_ORDER; i++) {
            double sum = 0;
            for (int j = NB_BACKGROUND_ORDER - 1; j >= 0; j--)
                sum = sum * v + layer->c[i][j];
            line->c[i] = sum;
        }
    }
}

/** Is the piece of pixel f smooth? */
static int is_smooth(const nb_background_rows *rows, const nb_span *span, int f)
{
    const nb_background_panel *p = &rows->tiles->panels[span->panel];
    const nb_background_kind kind = p->tiles[tile_of(p, f, span->slow)].kind;
    const int first = f / NB_BACKGROUND_PIECE * NB_BACKGROUND_PIECE;
    return kind == NB_BACKGROUND_SMOOTH ||
           (kind == NB_BACKGROUND_SOME &&
            !nb_background_piece_is_rough(rows->tiles, &rows->plans[span->panel].scene,
                                          span->panel, first, span->slow));
}

/** Add to pixels f to end - 1 of the span, which are in a tile; row: pixel f. */
static void add_part(const nb_background_rows *rows, const nb_span *span, int f, int end,
                     int smooth, float *row)
{
    const nb_vector_plan *plan = &rows->plans[span->panel];
    nb_background_strip strip;
    nb_span part = *span;
    part.fast = f;
    part.n = end - f;
    part.at += (size_t)(f - span->fast);
    if (smooth) {
        strip_of(rows, span->panel, f, span->slow, &strip);
        rows->smooth(plan, &part, &strip, row);
    } else {
        rows->kernel(plan, &part, 1, row);
    }
}

/** A span in parts that are in one tile and smooth, or not; row: its first pixel. */
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
    if (!rows->tiles || !rows->tiles->panels[spans->panel].tiles) {
        rows->kernel(&rows->plans[spans->panel], spans, n, row);
        return;
    }
    for (size_t i = 0; i < n; i++)
        add_span(rows, &spans[i], row + (spans[i].fast - spans->fast));
}
