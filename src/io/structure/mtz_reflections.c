/* SPDX-License-Identifier: MIT */
/* Reflections of an MTZ file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "structure_parts.h"

enum { INDICES = 3 };

void nb_mtz_free(nb_mtz *mtz)
{
    nb_free(mtz->columns);
    nb_free(mtz->table);
    memset(mtz, 0, sizeof *mtz);
}

static nb_status take_symmetry(const nb_mtz *mtz, const char *name,
                               nb_reflection_file *out, nb_error *err)
{
    nb_status status;
    if (!out->symmetry.count)
        return mtz->symbol[0] ? nb_symmetry_of_file(mtz->symbol, 0, mtz->cell, name,
                                                    &out->symmetry, err)
                              : NB_OK;
    status = nb_symmetry_complete(&out->symmetry, name, err);
    if (!status)
        nb_symmetry_give_name(&out->symmetry);
    return status;
}

static nb_status take_indices(const nb_mtz *mtz, const char *name,
                              nb_reflection_file *out, nb_error *err)
{
    const size_t width = (size_t)mtz->n_columns;
    for (int i = 0; i < INDICES; i++)
        if (mtz->columns[i].type != 'H')
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "the first three columns are not H, K and L");
    for (size_t row = 0; row < out->count; row++)
        for (int i = 0; i < INDICES; i++) {
            const float x = mtz->table[row * width + (size_t)i];
            if (!(fabsf(x) <= NB_INDEX_MOST) || x != rintf(x))
                return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                                  "reflection %zu: %g is no index (at most %d)", row + 1,
                                  (double)x, NB_INDEX_MOST);
            out->hkl[row][i] = (int)x;
        }
    return NB_OK;
}

static nb_status take_column(const nb_mtz *mtz, int from, nb_column *to, size_t count,
                             nb_error *err)
{
    *to = mtz->columns[from];
    if (!(to->wavelength > 0 && to->wavelength < 1e3))
        to->wavelength = 0;
    to->value = nb_alloc_raw(count, sizeof *to->value, "a column", err);
    if (!to->value)
        return NB_ERR_NOMEM;
    for (size_t row = 0; row < count; row++) {
        const float x = mtz->table[row * (size_t)mtz->n_columns + (size_t)from];
        to->value[row] = x == mtz->missing ? NAN : x;
    }
    return NB_OK;
}

static int by_index(const void *a, const void *b)
{
    const int *x = a, *y = b;
    for (int i = 0; i < INDICES; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* *found: some index is there twice. */
static nb_status find_repeats(const nb_reflection_file *file, int *found, nb_error *err)
{
    int(*sorted)[INDICES] = nb_alloc_raw(file->count, sizeof *sorted, "indices", err);
    *found = 0;
    if (!sorted)
        return NB_ERR_NOMEM;
    memcpy(sorted, file->hkl, file->count * sizeof *sorted);
    qsort(sorted, file->count, sizeof *sorted, by_index);
    for (size_t i = 1; i < file->count && !*found; i++)
        *found = !by_index(sorted[i - 1], sorted[i]);
    nb_free(sorted);
    return NB_OK;
}

nb_status nb_mtz_reflections(const nb_mtz *mtz, const char *name, nb_reflection_file *out,
                             nb_error *err)
{
    nb_status status = take_symmetry(mtz, name, out, err);
    if (status)
        return status;
    memcpy(out->cell, mtz->cell, sizeof out->cell);
    out->is_dump = mtz->is_dump;
    out->count = mtz->rows;
    out->hkl = nb_alloc_raw(out->count, sizeof *out->hkl, "indices", err);
    out->columns = nb_alloc((size_t)mtz->n_columns, sizeof *out->columns, "columns", err);
    if (!out->hkl || !out->columns)
        return NB_ERR_NOMEM;
    status = take_indices(mtz, name, out, err);
    if (!status && out->is_unmerged)
        status = find_repeats(out, &out->is_unmerged, err);
    for (int i = INDICES; i < mtz->n_columns && !status; i++) {
        status = take_column(mtz, i, &out->columns[out->n_columns], out->count, err);
        if (!(out->wavelength > 0))
            out->wavelength = out->columns[out->n_columns].wavelength;
        out->n_columns += !status;
    }
    return status;
}
