/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/panels.h"
#include "light.h"
#include "stages.h"

/** Rank of a stage in the order in which an instrument has the stages. */
static int rank_of(nb_stage_kind kind)
{
    static const int ranks[] = {
        [NB_STAGE_FLICKER] = 0, [NB_STAGE_DEADTIME] = 1,    [NB_STAGE_POISSON] = 2,
        [NB_STAGE_SPREAD] = 3,  [NB_STAGE_CALIBRATION] = 4, [NB_STAGE_GAINMAP] = 5,
        [NB_STAGE_GAIN] = 6,    [NB_STAGE_READOUT] = 7};
    return ranks[kind];
}

const char *nb_chained_fault(const nb_product *p)
{
    for (int i = 0; i < p->stages; i++) {
        const nb_stage *s = &p->chain[i];
        if (s->kind == NB_STAGE_POISSON_COMPAT)
            return "the old program's noise stands alone";
        if (i > 0 && rank_of(s->kind) <= rank_of(s[-1].kind))
            return "its stages are not in the order of the instrument";
        if (s->kind == NB_STAGE_GAINMAP && !s->map)
            return "a gain map without numbers";
        if (s->kind == NB_STAGE_SPREAD && s->shape != NB_PSF_GAUSS && !s->fibres)
            return "a point spread without room for its transforms";
    }
    return NULL;
}

/** Make a row of ADU before rounding. x holds NB_PIECE numbers more than the row. */
static void make_row(const nb_product *p, int row, const nb_stack_row *r, double *x)
{
    const int spread = nb_stage_at(p->chain, p->stages, NB_STAGE_SPREAD);
    const int has_gain = nb_stage_at(p->chain, p->stages, NB_STAGE_GAIN) >= 0;
    if (spread >= 0)
        nb_light_row(p->light, row, x);
    for (int f = r->first; f < r->end; f += NB_PIECE) {
        int left = r->end - f;
        const nb_stage_piece piece = {p->photons, r->start + (size_t)f,
                                      left < NB_PIECE ? left : NB_PIECE, r->panel};
        double v[NB_PIECE] = {0};
        if (spread >= 0)
            memcpy(v, x + f, (size_t)piece.count * sizeof *v);
        else
            nb_piece_load(&piece, v);
        for (int i = 0; !p->stages && i < NB_PIECE; i++)
            v[i] = v[i] * p->scale;
        nb_piece_apply(&piece, p->chain, spread + 1, p->stages, p->adc_offset, v);
        for (int i = 0; !has_gain && i < NB_PIECE; i++)
            v[i] = v[i] + p->adc_offset;
        memcpy(x + f, v, (size_t)piece.count * sizeof *v);
    }
}

/** Set masked pixels to `value`, and pixels outside of the region of interest to 0. */
static void hide_unseen(const nb_product *p, const nb_stack_row *r, double value,
                        double *x)
{
    const uint8_t *mask = p->photons->scene->raster.mask;
    for (int f = 0; f < r->columns; f++)
        if (f < r->first || f >= r->end)
            x[f] = 0;
        else if (mask && !mask[r->start + (size_t)f])
            x[f] = value;
}

/** Round half up and limit to the file's type. Returns the number of overloads (pixels
 * above the largest trusted value). */
static int64_t to_whole(const double *x, int n, nb_pixel_type type, nb_adu_range held,
                        void *out)
{
    int64_t over = 0;
    for (int i = 0; i < n; i++) {
        const int32_t whole = nb_whole_adu(x[i], held);
        over += whole > held.max;
        if (type == NB_PIXEL_I32)
            ((int32_t *)out)[i] = whole;
        else /* signed and unsigned types have the same 16 bits */
            ((uint16_t *)out)[i] = (uint16_t)whole;
    }
    return over;
}

/** Make a row of the file's type. Returns the number of too bright pixels. */
static int64_t finish_row(const nb_product *p, const nb_stack_row *r, double *x, void *out)
{
    nb_adu_range held = nb_adu_range_of(p->type);
    float *floats = out;
    if (p->type == NB_PIXEL_F32) {
        hide_unseen(p, r, 0, x);
        for (int f = 0; f < r->columns; f++)
            floats[f] = (float)x[f];
        return 0;
    }
    if (p->trusted > 0)
        held.max = fmin(held.max, p->trusted);
    if (p->trusted_of && p->trusted_of[r->panel] > 0)
        held.max = fmin(held.max, p->trusted_of[r->panel]);
    hide_unseen(p, r, fmin(p->adc_offset, held.max), x);
    return to_whole(x, r->columns, p->type, held, out);
}

/** Buffers of a row. */
typedef struct row_room {
    double *x;
    char *row; /* row of the file's type */
} row_room;

static void whole_row(nb_product *p, int row, const nb_stack_row *r, row_room *room,
                      void *out)
{
    int64_t over;
    make_row(p, row, r, room->x);
    over = finish_row(p, r, room->x, out);
    __atomic_fetch_add(&p->overloads, over, __ATOMIC_RELAXED);
}

/** Make pixels first to end - 1, which may begin or end within a row of the stack. If two
 * calls share a row, both make the row, and the call that has its first pixel counts its
 * overloads. */
static void make_pixels(nb_product *p, size_t first, size_t end, row_room *room, char *out)
{
    const nb_scene *sc = nb_photons_stack(p->photons);
    const size_t bytes = nb_pixel_bytes(p->type);
    const nb_panel *panel = &sc->panels[nb_panel_of_pixel(sc, first)];
    int row =
        panel->first_row + (int)((first - panel->first_pixel) / (size_t)panel->columns);
    for (size_t at = first; at < end; row++) {
        const nb_stack_row r = nb_stack_row_of(sc, row);
        const size_t stop = r.start + (size_t)r.columns, to = stop < end ? stop : end;
        if (at == r.start && to == stop) {
            whole_row(p, row, &r, room, out);
        } else {
            /* only the call with the row's first pixel counts overloads */
            nb_product part = *p;
            part.overloads = 0;
            whole_row(&part, row, &r, room, room->row);
            memcpy(out, room->row + (at - r.start) * bytes, (to - at) * bytes);
            if (at == r.start)
                __atomic_fetch_add(&p->overloads, part.overloads, __ATOMIC_RELAXED);
        }
        out += (to - at) * bytes;
        at = to;
    }
}

nb_status nb_chained_rows(nb_product *p, int first, int rows, void *out, nb_error *err)
{
    const nb_scene *sc = nb_photons_stack(p->photons);
    const size_t columns = (size_t)p->photons->scene->raster.columns;
    const size_t size = (size_t)sc->raster.columns + NB_PIECE;
    row_room room = {nb_alloc(size, sizeof *room.x, "row of an image", err),
                     nb_alloc(size, sizeof(double), "row of an image", err)};
    const int ok = room.x && room.row;
    if (ok)
        make_pixels(p, (size_t)first * columns, (size_t)(first + rows) * columns, &room,
                    out);
    nb_free(room.x);
    nb_free(room.row);
    return ok ? NB_OK : NB_ERR_NOMEM;
}
