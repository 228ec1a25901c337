/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/text.h"
#include "../io/table/arrays.h"
#include "../io/table/blocks.h"
#include "../model/misset.h"

enum { ENDS = 18, MOST_NUMBERS = ENDS + 1 };

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && nb_text_blank(*p))
        p++;
    return p;
}

/** The numbers of a line, at most nineteen, separated by blanks or one comma; -1 for any other
 * text. `#` starts a comment. */
static int read_numbers(const char *p, const char *end, double *values)
{
    int n = 0;
    p = skip_blanks(p, end);
    while (p < end && *p != '#') {
        const char *after = n < MOST_NUMBERS ? nb_text_double(p, end, &values[n++]) : NULL;
        if (!after)
            return -1;
        p = skip_blanks(after, end);
        if (p == end || *p == '#')
            break;
        if (*p != ',' && p == after) /* "1-2" */
            return -1;
        if (*p == ',' && ((p = skip_blanks(p + 1, end)) == end || *p == '#'))
            return -1; /* no number after the comma */
    }
    return n;
}

static int to_misset(const double *values, int n, double misset[3])
{
    char text[40];
    nb_mat3 U;
    if (n == 9) {
        memcpy(U.m, values, sizeof U.m);
        if (!nb_is_rotation(U.m))
            return 0;
        nb_rotation_angles(&U, misset);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%.12g", n == 9 ? misset[i] / NB_DEG : values[i]);
        misset[i] = strtod(text, NULL);
    }
    return 1;
}

/** A at both ends of frame k. */
static nb_status to_crystal(const double *values, const char *path, long line,
                            nb_frame_crystal *out, nb_error *err)
{
    if (!out)
        return nb_fail_at(err, NB_ERR_INPUT, path, line,
                          "two matrices, of a frame's begin and end: here a line needs "
                          "three misset angles or a rotation matrix");
    memcpy(out->ends, values, sizeof out->ends);
    out->given = 1;
    return nb_matrix_ends(out->ends, path, line, out->A, err);
}

/** Line `line` as frame k. */
static nb_status take_line(const double *values, int n, const char *path, long line,
                           int k, const nb_orientations *out, nb_error *err)
{
    if (n == ENDS)
        return to_crystal(values, path, line, out->crystals ? &out->crystals[k] : NULL,
                          err);
    if (n != 3 && n != 9)
        return nb_fail_at(err, NB_ERR_INPUT, path, line,
                          "a line needs three misset angles or the nine numbers of a "
                          "rotation matrix, separated by blanks or one comma; or "
                          "eighteen, A at the begin and the end of the frame");
    if (!to_misset(values, n, out->missets[k]))
        return nb_fail_at(err, NB_ERR_INPUT, path, line,
                          "these nine numbers are not a rotation matrix");
    return NB_OK;
}

nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, const nb_orientations *out, nb_error *err)
{
    const char *last = data + bytes, *p = nb_text_body(data, last), *end;
    double values[MOST_NUMBERS];
    long line = 0;
    int count = 0;
    for (; p < last && count < needed; p = end + 1) {
        nb_status st;
        int n;
        if (!(end = memchr(p, '\n', (size_t)(last - p))))
            end = last;
        line++;
        n = read_numbers(p, end, values);
        if (n == 0)
            continue;
        NB_FORWARD(take_line(values, n, path, line, count, out, err));
        count++;
    }
    if (count >= needed)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "%d orientations for %d stills; each still needs one", count,
                      needed);
}

static int any_given(const nb_frame_crystal *crystals, int n)
{
    for (int i = 0; i < n; i++)
        if (crystals[i].given)
            return 1;
    return 0;
}

nb_status nb_orientations_take(const char *data, size_t bytes, const char *path,
                               int needed, double (**missets)[3],
                               nb_frame_crystal **crystals, nb_error *err)
{
    nb_status st;
    if (crystals)
        *crystals = NULL;
    *missets = nb_alloc((size_t)needed, sizeof **missets, "orientations", err);
    if (crystals)
        *crystals = nb_alloc((size_t)needed, sizeof **crystals, "orientations", err);
    st = *missets && (!crystals || *crystals)
             ? nb_orientations_parse(
                   data, bytes, path, needed,
                   &(nb_orientations){*missets, crystals ? *crystals : NULL}, err)
             : NB_ERR_NOMEM;
    if (!st && crystals && !any_given(*crystals, needed)) {
        nb_free(*crystals);
        *crystals = NULL;
    }
    return st;
}

nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               nb_frame_crystal **crystals, nb_error *err)
{
    char *data;
    size_t bytes;
    nb_status st = nb_read_file(path, "-orientations", 0, &data, &bytes, err);
    *missets = NULL;
    if (crystals)
        *crystals = NULL;
    NB_TRY(nb_orientations_take(data, bytes, path, needed, missets, crystals, err));
    nb_free(data);
    return st;
}
