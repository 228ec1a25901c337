/* SPDX-License-Identifier: MIT */
#include "orientations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/text.h"
#include "../model/misset.h"
#include "../model/units.h"

static int is_rotation(const nb_mat3 *U)
{
    nb_vec3 x = nb_v3(U->m[0], U->m[1], U->m[2]), y = nb_v3(U->m[3], U->m[4], U->m[5]);
    nb_vec3 z = nb_v3(U->m[6], U->m[7], U->m[8]);
    return fabs(nb_norm(x) - 1) < 1e-4 && fabs(nb_norm(y) - 1) < 1e-4 &&
           fabs(nb_dot(x, y)) < 1e-4 && nb_norm(nb_sub(nb_cross(x, y), z)) < 1e-4;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && nb_text_blank(*p))
        p++;
    return p;
}

/** The numbers of a line, at most ten, separated by blanks or one comma; -1 for any other
 * text. `#` starts a comment. */
static int read_numbers(const char *p, const char *end, double *values)
{
    int n = 0;
    p = skip_blanks(p, end);
    while (p < end && *p != '#') {
        const char *after = n < 10 ? nb_text_double(p, end, &values[n++]) : NULL;
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
        if (!is_rotation(&U))
            return 0;
        nb_rotation_angles(&U, misset);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%.12g", n == 9 ? misset[i] / NB_DEG : values[i]);
        misset[i] = strtod(text, NULL);
    }
    return 1;
}

static nb_status parse(const char *p, const char *last, const char *path, int needed,
                       double (*missets)[3], int *count, nb_error *err)
{
    double values[10];
    long line = 0;
    for (const char *end; p < last && *count < needed; p = end + 1) {
        int n;
        if (!(end = memchr(p, '\n', (size_t)(last - p))))
            end = last;
        line++;
        n = read_numbers(p, end, values);
        if (n == 0)
            continue;
        if (n != 3 && n != 9)
            return nb_fail_at(err, NB_ERR_INPUT, path, line,
                              "a line needs three misset angles or the nine numbers of a "
                              "rotation matrix, separated by blanks or one comma");
        if (!to_misset(values, n, missets[*count]))
            return nb_fail_at(err, NB_ERR_INPUT, path, line,
                              "these nine numbers are not a rotation matrix");
        ++*count;
    }
    return NB_OK;
}

nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, double (*missets)[3], nb_error *err)
{
    int count = 0;
    nb_status st = parse(data, data + bytes, path, needed, missets, &count, err);
    if (!st && count < needed)
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0,
                        "%d orientations for %d stills; each still needs one", count,
                        needed);
    return st;
}

nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               int *count, nb_error *err)
{
    char *data;
    size_t bytes;
    nb_status st = nb_read_file(path, "-orientations", 0, &data, &bytes, err);
    *missets = NULL;
    *count = needed;
    if (st)
        return st;
    *missets = nb_alloc((size_t)needed, sizeof **missets, "orientations", err);
    st = *missets ? nb_orientations_parse(data, bytes, path, needed, *missets, err)
                  : NB_ERR_NOMEM;
    nb_free(data);
    return st;
}
