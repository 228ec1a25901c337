/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../base/memory.h"
#include "tile_factors.h"

enum {
    RIM = 2
}; /* border around the table: places outside, and places with a neighbour inside */

static int bits_of(int n)
{
    int bits = 0;
    while (n > 1 << bits)
        bits++;
    return bits;
}

/** Row (h, k) of the pairs, along l. */
static float *row_of(const nb_tile_factors *f, int h, int k)
{
    return f->pairs + 2 * (((size_t)h << f->shift[0]) + ((size_t)k << f->shift[1]));
}

/** F^2 of a row, and the largest F^2 of each place and its neighbours along the row. */
static void fill_row(const nb_factor_table *sf, double per_unit, nb_tile_factors *f,
                     int h, int k)
{
    float *row = row_of(f, h, k);
    const int n = f->n[2];
    int at[3] = {h, k, 0};
    for (; at[2] < n; at[2]++)
        row[2 * at[2]] = nb_tile_square(sf, f, at, per_unit);
    row[1] = fmaxf(row[0], row[2]);
    for (int l = 1; l < n - 1; l++) {
        const float most =
            row[2 * l - 2] > row[2 * l + 2] ? row[2 * l - 2] : row[2 * l + 2];
        row[2 * l + 1] = most > row[2 * l] ? most : row[2 * l];
    }
    row[2 * n - 1] = fmaxf(row[2 * n - 2], row[2 * n - 4]);
}

/** For n rows at a stride: replace each second number of a pair by the largest of it and its
 * neighbours in the rows before and after. before: [length]. */
static void spread_rows(float *row, size_t apart, int n, int length,
                        float *restrict before)
{
    memset(before, 0, (size_t)length * sizeof *before);
    for (int i = 0; i < n; i++, row += apart) {
        const float *after = i + 1 < n ? row + apart : row; /* the last has no next row */
        for (int l = 0; l < length; l++) {
            const float here = row[2 * l + 1], next = after[2 * l + 1],
                        most = before[l] > next ? before[l] : next;
            row[2 * l + 1] = most > here ? most : here;
            before[l] = here;
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
    float *before;
    nb_tile_factors_shape(sf, f);
    before = nb_alloc((size_t)f->n[2], sizeof *before, "bounds of structure factors", err);
    f->pairs = nb_alloc((size_t)f->n[0] << f->shift[0], 2 * sizeof *f->pairs,
                        "bounds of structure factors", err);
    for (int h = 0; h < f->n[0] && before && f->pairs; h++) {
        for (int k = 0; k < f->n[1]; k++)
            fill_row(sf, 1 / unit, f, h, k);
        spread_rows(row_of(f, h, 0), (size_t)2 << f->shift[1], f->n[1], f->n[2], before);
    }
    for (int k = 0; k < f->n[1] && before && f->pairs; k++)
        spread_rows(row_of(f, 0, k), (size_t)2 << f->shift[0], f->n[0], f->n[2], before);
    nb_free(before);
    return before && f->pairs ? NB_OK : NB_ERR_NOMEM;
}
