/* SPDX-License-Identifier: MIT */
#include "ray_tile.h"

#include <math.h>

#include "../base/memory.h"
#include "../terms/tile_bounds.h"

static int least(int a, int b)
{
    return a < b ? a : b;
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
