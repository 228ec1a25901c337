/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"

/** Add the point of a line; a line may be empty. */
static nb_status add_point(nb_lines *l, double factor, nb_stol_table *t)
{
    double v[2]; /* sin(theta)/lambda divided by factor, F */
    const int columns = nb_lines_numbers(l, 2, v);
    if (columns <= 0)
        return columns ? NB_ERR_INPUT : NB_OK;
    if (columns == 1)
        return nb_lines_fail(l,
                             "one column, but a table has two: sin(theta)/lambda and F");
    if (!(v[0] >= 0))
        return nb_lines_fail(l, "the first column is %g; it must be 0 or more", v[0]);
    if (t->n == NB_STOL_MAX)
        return nb_lines_fail(l, "more than %d points in a table", NB_STOL_MAX);
    v[0] *= factor;
    if (t->n > 0 && !(v[0] > t->points[t->n - 1].stol))
        return nb_lines_fail(
            l, "the first column does not increase; sort the table and remove doubles");
    t->points[t->n++] = (nb_stol_point){v[0], v[1]};
    return NB_OK;
}

nb_status nb_stol_parse(const char *data, size_t n, const char *name, double factor,
                        nb_stol_table *out, nb_error *err)
{
    nb_lines l = nb_lines_of(data, n, name, "sin(theta)/lambda F", err);
    const size_t lines = nb_text_lines(data, n);
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    out->points = nb_alloc_raw(lines < NB_STOL_MAX ? lines : NB_STOL_MAX,
                               sizeof *out->points, "table", err);
    NB_NEED(out->points);
    while (!st && nb_lines_next(&l))
        st = add_point(&l, factor, out);
    if (!st && out->n == 0)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0, "no point in the table (%s)",
                        l.columns);
    if (st)
        nb_stol_free(out);
    return st;
}

void nb_stol_free(nb_stol_table *table)
{
    if (!table)
        return;
    nb_free(table->points);
    memset(table, 0, sizeof *table);
}
