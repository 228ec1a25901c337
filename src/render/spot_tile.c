/* SPDX-License-Identifier: MIT */
#include "spot_tile.h"

#include "../base/memory.h"
#include "../terms/spot_boxes.h"

int nb_spot_box(const nb_spot_tile *t, const nb_spot *spot, const nb_spot_cell *cell,
                const nb_spot_run *run, const double g[3], int box[2][2])
{
    const int os = t->plan->scene.oversample;
    const nb_spot_field field[2] = {{os, t->f0 * os, t->nu}, {os, t->s0 * os, t->nv}};
    const nb_spot_view view =
        nb_spot_view_of(t->plane, &t->plan->sensor, t->layer, run, cell, 0);
    double ends[2][2];
    const int lit = nb_spot_box_of(t->spots, &view, spot, g, field, ends);
    for (int k = 0; lit && k < 4; k++)
        box[k / 2][k % 2] = (int)ends[k / 2][k % 2];
    return lit;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int nb_spot_tile_place(nb_spot_tile *t, const nb_spots *spots, const nb_spot_list *list,
                       const nb_vector_plan *plans, size_t number)
{
    const nb_scene *sc = spots->scene;
    int panel = 0;
    while (panel + 1 < sc->n_panels && list->grids[panel + 1].first <= number)
        panel++;
    const nb_spot_grid *grid = &list->grids[panel];
    const int i = (int)(number - grid->first);
    t->spots = spots;
    t->list = list;
    t->plan = &plans[panel];
    t->plane = &list->planes[panel];
    t->tile = number;
    t->tophat = nb_shape_law(sc->lattice.shape) == NB_LAW_EDGE;
    t->has_factor = t->plan->sensor.absorb || sc->oversample_omega;
    t->f0 = grid->region.fmin + i % grid->across * list->edge;
    t->s0 = grid->region.smin + i / grid->across * list->edge;
    t->nf = least(list->edge, grid->region.fmax + 1 - t->f0);
    t->ns = least(list->edge, grid->region.smax + 1 - t->s0);
    t->nu = t->nf * sc->oversample;
    t->nv = t->ns * sc->oversample;
    return panel;
}

nb_status nb_spot_tile_alloc(nb_spot_tile *t, int edge, nb_error *err)
{
    const size_t pitch = (size_t)edge + 2 * NB_SPOT_PAD, n = (size_t)edge * pitch;
    double **arrays[] = {&t->x, &t->y, &t->z, &t->factor, &t->sum};
    t->pitch = pitch;
    t->aimed = nb_alloc((size_t)edge, 1, "tile", err);
    t->touched = nb_alloc((size_t)edge, 1, "tile", err);
    for (int i = 0; i < 5; i++)
        *arrays[i] = nb_alloc(n, sizeof(double), "tile", err);
    return t->aimed && t->touched && t->x && t->y && t->z && t->factor && t->sum
               ? NB_OK
               : NB_ERR_NOMEM;
}

void nb_spot_tile_free(nb_spot_tile *t)
{
    nb_free(t->x);
    nb_free(t->y);
    nb_free(t->z);
    nb_free(t->factor);
    nb_free(t->sum);
    nb_free(t->aimed);
    nb_free(t->touched);
}
