/* SPDX-License-Identifier: MIT */
#include "arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/matrix.h"
#include "../../base/memory.h"
#include "../common/lines.h"

#define FLATTEST 1e-9 /* limit of |a* x b* . c*| / (|a*| |b*| |c*|) */

/* Volume of the cell divided by the volume of a box with the same edges. It is 0 for
 * vectors in one plane, and for lengths whose products overflow or underflow a double. */
static double relative_volume(const double m[9])
{
    double v[9];
    for (int j = 0; j < 3; j++) {
        double length = hypot(hypot(m[j], m[3 + j]), m[6 + j]);
        if (!(length > 1e-90 && length < 1e90))
            return 0;
        for (int i = 0; i < 3; i++)
            v[3 * i + j] = m[3 * i + j] / length;
    }
    return nb_determinant(v);
}

/* Copy nine finite numbers into m, unless the matrix is singular (NB_ERR_INPUT). */
static nb_status matrix_take(const double v[9], const char *name, double m[9],
                             nb_error *err)
{
    if (!(fabs(relative_volume(v)) > FLATTEST))
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "the matrix is singular: a*, b* and c* (the columns) lie in one plane");
    memcpy(m, v, 9 * sizeof *m);
    return NB_OK;
}

/** Read the first `limit` numbers of a text; returns their number, or -1 if the text is
 * something else. */
static int numbers_of(nb_lines *l, int limit, double *v)
{
    int n = 0, more = 0;
    l->between = "";
    l->comment = "";
    for (; n < limit && nb_lines_next(l) && more >= 0; n += more)
        more = nb_lines_numbers(l, limit - n, v + n);
    return more < 0 ? -1 : n;
}

nb_status nb_matrix_parse(const char *data, size_t n, const char *name, double m[9],
                          nb_error *err)
{
    nb_lines l = nb_lines_of(data, n, name, "nine elements of a matrix", err);
    double v[9];
    const int got = numbers_of(&l, 9, v);
    if (got >= 0 && got < 9)
        return nb_fail_at(err, NB_ERR_INPUT, name, l.line + 1,
                          "%d numbers, but an orientation matrix has nine", got);
    return got < 0 ? NB_ERR_INPUT : matrix_take(v, name, m, err);
}

int nb_matrix_two(const char *data, size_t n, double ends[2][9])
{
    nb_lines l = nb_lines_of(data, n, "", "", NULL);
    double v[19];
    const int count = numbers_of(&l, 19, v);
    if (count == 18)
        memcpy(ends, v, 18 * sizeof *v);
    return count == 18;
}

nb_status nb_matrix_ends(double ends[2][9], const char *name, long line, double m[9],
                         nb_error *err)
{
    double mean[9], back[9];
    for (int i = 0; i < 9; i++)
        mean[i] = 0.5 * (ends[0][i] + ends[1][i]);
    for (int k = 0; k < 3; k++)
        if (!(fabs(relative_volume(k < 2 ? ends[k] : mean)) > FLATTEST))
            return nb_fail_at(err, NB_ERR_INPUT, name, line,
                              "%s is singular: a*, b* and c* (the columns) lie in one "
                              "plane",
                              k == 0   ? "the matrix of the begin"
                              : k == 1 ? "the matrix of the end"
                                       : "the mean of the two matrices");
    nb_invert(mean, back);
    memcpy(m, mean, sizeof mean);
    for (int k = 0; k < 2; k++)
        nb_multiply(back, ends[k], ends[k]);
    return NB_OK;
}

enum { PLACE = 40 }; /* bytes of "sources[18446744073709551615]" */

const nb_arrays *nb_in_memory(const nb_config *cfg, const char *name, const char *memory)
{
    return cfg->arrays && strcmp(name, memory) == 0 ? cfg->arrays : NULL;
}

/** Write a text such as "hkl[5]" into place. */
static const char *place_of(char place[PLACE], const char *array, size_t i)
{
    snprintf(place, PLACE, "%s[%zu]", array, i);
    return place;
}

/** Fail because the name of an array was typed, but the array is missing. */
static nb_status missing(const char *array, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "memory:%s: no such array was given (nb_config_use_arrays)", array);
}

/* --- reflections --- */

static nb_status take_reflection(const int32_t hkl[3], double F, size_t i,
                                 nb_hkl_row *row, nb_error *err)
{
    char place[PLACE];
    for (int axis = 0; axis < 3; axis++) {
        if (hkl[axis] < -NB_SF_MAX_INDEX || hkl[axis] > NB_SF_MAX_INDEX)
            return nb_fail_at(err, NB_ERR_INPUT, place_of(place, "hkl", i), 0,
                              "Miller index %d is beyond +-%d", (int)hkl[axis],
                              NB_SF_MAX_INDEX);
        row->index[axis] = (int16_t)hkl[axis];
    }
    row->F = F;
    if (isfinite(F) && fabs(F) <= NB_SF_MAX_F)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, place_of(place, "hkl", i), 0,
                      isfinite(F) ? "F = %g is beyond %g electrons"
                                  : "F = %g is not a finite number",
                      F, NB_SF_MAX_F);
}

nb_status nb_arrays_hkl(const nb_arrays *a, nb_hkl_list *out, nb_error *err)
{
    nb_status st = NB_OK;
    *out = (nb_hkl_list){.name = "hkl"};
    if (!a->hkl)
        return missing("hkl", err);
    out->rows = nb_alloc_raw(a->reflections, sizeof *out->rows, "reflections", err);
    NB_NEED(out->rows);
    for (size_t i = 0; i < a->reflections && !st; i++)
        if (!isnan(a->F[i]))
            st = take_reflection(a->hkl[i], a->F[i], i, &out->rows[out->count++], err);
    if (!st && out->count == 0)
        st = nb_fail_at(err, NB_ERR_INPUT, "hkl", 0,
                        "none of the %zu reflections has a value", a->reflections);
    if (st)
        nb_hkl_list_free(out);
    return st;
}

/* --- sources --- */

nb_status nb_arrays_sources(const nb_arrays *a, const double position[3],
                            nb_source_list *out, nb_error *err)
{
    nb_source_list list = {0};
    char place[PLACE];
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    if (!a->wavelength)
        return missing("sources", err);
    list.rows = nb_alloc_raw((size_t)a->sources, sizeof *list.rows, "sources", err);
    NB_NEED(list.rows);
    for (; list.count < a->sources && !st; list.count++) {
        const size_t i = (size_t)list.count;
        const double *p = a->position ? a->position[i] : position;
        list.rows[i] = (nb_source_line){p[0], p[1], p[2], a->weight ? a->weight[i] : 1,
                                        a->wavelength[i]};
        st = nb_source_line_check(&list.rows[i], place_of(place, "sources", i), 0, err);
    }
    NB_TRY(nb_source_list_check(&list, "sources", 0, err));
    if (st)
        nb_source_list_free(&list);
    else
        *out = list;
    return st;
}

/* --- matrix and mask --- */

nb_status nb_arrays_matrix(const nb_arrays *a, double m[9], nb_error *err)
{
    const double *axes = a->matrix ? a->matrix : a->A;
    const char *name = a->matrix ? "matrix" : "A";
    char place[PLACE];
    if (!axes)
        return missing("matrix", err);
    for (size_t i = 0; i < 9; i++)
        if (!isfinite(axes[i]))
            return nb_fail_at(err, NB_ERR_INPUT, place_of(place, name, i), 0,
                              "%g is not a finite number", axes[i]);
    return matrix_take(axes, name, m, err);
}

nb_status nb_arrays_mask(const nb_arrays *a, nb_image *out, nb_error *err)
{
    const size_t n = (size_t)a->mask_fast * (size_t)a->mask_slow;
    memset(out, 0, sizeof *out);
    if (!a->mask)
        return missing("mask", err);
    if (!(out->pixels = nb_alloc_raw(n, sizeof *out->pixels, "mask", err)))
        return NB_ERR_NOMEM;
    out->fast = a->mask_fast;
    out->slow = a->mask_slow;
    for (size_t i = 0; i < n; i++)
        out->pixels[i] = a->mask[i] != 0;
    return NB_OK;
}
