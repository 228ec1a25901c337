/* SPDX-License-Identifier: MIT */
#include "../base/memory.h"
#include "tile_factors.h"

enum { RIM = 2 }; /* around the table: what is outside, and what has a neighbour inside */

static int bits_of(int n)
{
    int bits = 0;
    while (n > 1 << bits)
        bits++;
    return bits;
}

static size_t index_of(const nb_tile_factors *f, const int at[3])
{
    return ((size_t)at[0] << f->shift[0]) + ((size_t)at[1] << f->shift[1]) + (size_t)at[2];
}

/** Make each second number of a pair the largest of it and its neighbours along an axis. */
static void spread_along(const nb_tile_factors *f, int axis)
{
    const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
    int at[3];
    for (at[b] = 0; at[b] < f->n[b]; at[b]++)
        for (at[c] = 0; at[c] < f->n[c]; at[c]++) {
            float before = 0, here;
            at[axis] = 0;
            here = f->pairs[2 * index_of(f, at) + 1];
            for (; at[axis] < f->n[axis]; at[axis]++) {
                float *to = &f->pairs[2 * index_of(f, at) + 1], after = 0;
                if (at[axis] + 1 < f->n[axis]) {
                    at[axis]++;
                    after = f->pairs[2 * index_of(f, at) + 1];
                    at[axis]--;
                }
                *to = fmaxf(here, fmaxf(before, after));
                before = here;
                here = after;
            }
        }
}

void nb_tile_factors_shape(const nb_factor_table *sf, nb_tile_factors *f)
{
    const int first[3] = {sf->hmin, sf->kmin, sf->lmin}, n[3] = {sf->nh, sf->nk, sf->nl};
    for (int i = 0; i < 3; i++) {
        f->low[i] = first[i] - RIM;
        f->n[i] = n[i] + 2 * RIM;
    }
    f->shift[1] = bits_of(f->n[2]);
    f->shift[0] = f->shift[1] + bits_of(f->n[1]);
}

nb_status nb_tile_factors_build(const nb_factor_table *sf, double unit,
                                nb_tile_factors *f, nb_error *err)
{
    int at[3];
    nb_tile_factors_shape(sf, f);
    f->pairs = nb_alloc((size_t)f->n[0] << f->shift[0], 2 * sizeof *f->pairs,
                        "bounds of structure factors", err);
    if (!f->pairs)
        return NB_ERR_NOMEM;
    for (at[0] = 0; at[0] < f->n[0]; at[0]++)
        for (at[1] = 0; at[1] < f->n[1]; at[1]++)
            for (at[2] = 0; at[2] < f->n[2]; at[2]++) {
                float *pair = &f->pairs[2 * index_of(f, at)];
                pair[0] = pair[1] = nb_tile_square(sf, f, at, unit);
            }
    for (int axis = 0; axis < 3; axis++)
        spread_along(f, axis);
    return NB_OK;
}
