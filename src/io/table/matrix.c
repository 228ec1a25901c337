/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"

#define FLATTEST 1e-9 /* |a* x b* . c*| / (|a*| |b*| |c*|) of a usable lattice */

/* Volume of the cell over that of a box with the same edges: 0 for vectors in one plane. */
static double relative_volume(const double m[9])
{
    double v[9];
    for (int j = 0; j < 3; j++) {
        double length = hypot(hypot(m[j], m[3 + j]), m[6 + j]);
        for (int i = 0; i < 3; i++)
            v[3 * i + j] = m[3 * i + j] / length; /* 0/0: NaN, refused by the caller */
    }
    return v[0] * (v[4] * v[8] - v[5] * v[7]) - v[1] * (v[3] * v[8] - v[5] * v[6]) +
           v[2] * (v[3] * v[7] - v[4] * v[6]);
}

nb_status nb_matrix_take(const double v[9], const char *name, double m[9], nb_error *err)
{
    if (!(fabs(relative_volume(v)) > FLATTEST))
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "the matrix is singular: a*, b* and c* (the columns) lie in one plane");
    memcpy(m, v, 9 * sizeof *m);
    return NB_OK;
}

nb_status nb_matrix_parse(const char *data, size_t n, const char *name, double m[9],
                          nb_error *err)
{
    const char *end = data + n, *p = nb_text_body(data, end);
    double v[9];
    long line = 1;
    for (int i = 0; i < 9; i++) {
        const char *after;
        for (; p < end && (nb_text_blank(*p) || *p == '\n'); p++)
            line += *p == '\n';
        if (p == end)
            return nb_fail_at(err, NB_ERR_INPUT, name, line,
                              "%d numbers, but an orientation matrix has nine", i);
        after = nb_text_double(p, end, &v[i]);
        if (!after || (after < end && !nb_text_blank(*after) && *after != '\n')) {
            char token[NB_TEXT_QUOTE];
            nb_text_quote(p, end, token);
            return nb_fail_at(err, NB_ERR_INPUT, name, line,
                              "'%s' is not a finite number (matrix element %d of 9)",
                              token, i + 1);
        }
        p = after;
    }
    return nb_matrix_take(v, name, m, err);
}
