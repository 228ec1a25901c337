/* SPDX-License-Identifier: MIT */
#include "orientations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../../base/text.h"
#include "arrays.h"
#include "sources.h"
#include "../../model/crystal.h"

enum { ENDS = 18, MAX_NUMBERS = ENDS + 1 };

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && nb_text_blank(*p))
        p++;
    return p;
}

/** Read up to nineteen numbers of a line, separated by blanks or one comma; -1 for other
 * text. `#` starts a comment. */
static int read_numbers(const char *p, const char *end, double *values)
{
    int n = 0;
    p = skip_blanks(p, end);
    while (p < end && *p != '#') {
        const char *after = n < MAX_NUMBERS ? nb_text_double(p, end, &values[n++]) : NULL;
        if (!after)
            return -1;
        p = skip_blanks(after, end);
        if (p == end || *p == '#')
            break;
        if (*p != ',' && p == after) /* a separator is missing, as in "1-2" */
            return -1;
        if (*p == ',' && ((p = skip_blanks(p + 1, end)) == end || *p == '#'))
            return -1; /* there is no number after the comma */
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

/** Convert the numbers of A at both ends of a frame to a crystal. */
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

/** Append the numbers of line `line` to *out. */
static nb_status take_line(const double *values, int n, const char *path, long line,
                           nb_orientations *out, nb_error *err)
{
    const int k = out->n++;
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

/** Read `needed` lines into allocated arrays; 18 numbers need out->crystals. */
static nb_status read_lines(const char *data, size_t bytes, const char *path, int needed,
                            nb_orientations *out, nb_error *err)
{
    const char *last = data + bytes, *p = nb_text_body(data, last), *end;
    double values[MAX_NUMBERS];
    long line = 0;
    for (; p < last && out->n < needed; p = end + 1) {
        nb_status st;
        int n;
        if (!(end = memchr(p, '\n', (size_t)(last - p))))
            end = last;
        line++;
        n = read_numbers(p, end, values);
        if (n != 0)
            NB_FORWARD(take_line(values, n, path, line, out, err));
    }
    if (out->n >= needed)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "%d orientations for %d stills; each still needs one", out->n,
                      needed);
}

void nb_orientations_free(nb_orientations *all)
{
    nb_free(all->missets);
    nb_free(all->crystals);
    memset(all, 0, sizeof *all);
}

nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, nb_orientations *out, nb_error *err)
{
    int given = 0;
    nb_status st;
    *out = (nb_orientations){
        nb_alloc((size_t)needed, sizeof *out->missets, "orientations", err),
        nb_alloc((size_t)needed, sizeof *out->crystals, "orientations", err), 0};
    st = out->missets && out->crystals ? read_lines(data, bytes, path, needed, out, err)
                                       : NB_ERR_NOMEM;
    for (int i = 0; !st && i < needed; i++)
        given |= out->crystals[i].given;
    if (st) {
        nb_orientations_free(out);
    } else if (!given) {
        nb_free(out->crystals);
        out->crystals = NULL;
    }
    return st;
}

nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               nb_error *err)
{
    nb_orientations all = {0};
    char *data;
    size_t bytes;
    nb_status st = nb_read_file(path, "-orientations", 0, &data, &bytes, err);
    all.missets = nb_alloc((size_t)needed, sizeof *all.missets, "orientations", err);
    if (!st && !all.missets)
        st = NB_ERR_NOMEM;
    NB_TRY(read_lines(data, bytes, path, needed, &all, err));
    nb_free(data);
    *missets = all.missets;
    return st;
}
