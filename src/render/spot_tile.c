/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "../base/memory.h"
#include "../terms/spot_terms.h"
#include "../terms/tile_bounds.h"
#include "tile_rows.h"

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

double nb_tile_solid_angle(const nb_ray_tile *t, int u, int v, int n)
{
    const nb_vector_plan *p = t->rays.plan;
    const int os = p->scene.oversample;
    const double from[2] = {t->rays.f0 * os + u, t->rays.s0 * os + v},
                 count[2] = {least(n, t->rays.nu - u), least(n, t->rays.nv - v)};
    return nb_tile_largest_angle(&p->panel, &p->sensor, os, from, count);
}

int nb_tile_wanted(const nb_ray_tile *t, int u, int v, int n)
{
    const int os = t->rays.plan->scene.oversample;
    const int f1 = (least(u + n, t->rays.nu) - 1) / os,
              s1 = (least(v + n, t->rays.nv) - 1) / os;
    for (int s = v / os; s <= s1; s++)
        for (int f = u / os; f <= f1; f++)
            if (t->want[s * t->rays.nf + f])
                return 1;
    return 0;
}

nb_status nb_ray_tile_alloc(nb_ray_tile *t, const nb_tiles *tiles, int edge, nb_error *err)
{
    const size_t groups = tiles->row_stride * (size_t)tiles->columns;
    t->tiles = tiles;
    t->want = nb_alloc((size_t)edge, (size_t)edge, "tile", err);
    t->bounds = nb_alloc(groups + NB_TILE_STEPS, sizeof *t->bounds, "tile", err);
    t->weights = nb_alloc((size_t)tiles->sources, sizeof *t->weights, "tile", err);
    if (!t->want || !t->bounds || !t->weights)
        return NB_ERR_NOMEM;
    for (int i = 0; i < NB_TILE_LEVELS; i++)
        if (!(t->lists[i] = nb_alloc_raw(groups, sizeof *t->lists[i], "tile", err)))
            return NB_ERR_NOMEM;
    return nb_spot_tile_alloc(&t->rays, edge, err);
}

void nb_ray_tile_free(nb_ray_tile *t)
{
    nb_free(t->want);
    nb_free(t->bounds);
    nb_free(t->weights);
    for (int i = 0; i < NB_TILE_LEVELS; i++)
        nb_free(t->lists[i]);
    nb_spot_tile_free(&t->rays);
}
