/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"

typedef struct table_reader {
    const char *p, *end; /* of a line */
    const char *name;
    long line;
    nb_error *err;
} table_reader;

static int delimiter(char c)
{
    return nb_text_blank(c) || c == ',';
}

/** The next number of the line; *found = 0: the line ends. */
static nb_status read_number(table_reader *r, double *value, int *found)
{
    char token[NB_TEXT_QUOTE];
    const char *after;
    while (r->p < r->end && delimiter(*r->p))
        r->p++;
    *found = r->p < r->end && *r->p != '#';
    if (!*found)
        return NB_OK;
    after = nb_text_double(r->p, r->end, value);
    if (after && (after == r->end || *after == '#' || delimiter(*after))) {
        r->p = after;
        return NB_OK;
    }
    nb_text_quote(r->p, r->end, token);
    return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                      "'%s' is not a finite number (sin(theta)/lambda F)", token);
}

/** Read a line into *point; *found = 0: it has none. */
static nb_status read_point(table_reader *r, nb_stol_point *point, int *found)
{
    int second = 0;
    nb_status st = read_number(r, &point->stol, found);
    if (st || !*found)
        return st;
    NB_FORWARD(read_number(r, &point->F, &second));
    if (!second)
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "one column, but a table has two: sin(theta)/lambda and F");
    if (!(point->stol >= 0))
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "the first column is %g; it must be 0 or more", point->stol);
    return NB_OK;
}

static nb_status add_point(const table_reader *r, nb_stol_table *t, nb_stol_point point)
{
    if (t->n == NB_STOL_MOST)
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "more than %d points in a table", NB_STOL_MOST);
    if (t->n > 0 && !(point.stol > t->points[t->n - 1].stol))
        return nb_fail_at(
            r->err, NB_ERR_INPUT, r->name, r->line,
            "the first column does not increase; sort the table and remove doubles");
    t->points[t->n++] = point;
    return NB_OK;
}

static size_t count_lines(const char *data, size_t n)
{
    size_t lines = 1;
    for (size_t i = 0; i < n; i++)
        lines += data[i] == '\n';
    return lines < NB_STOL_MOST ? lines : NB_STOL_MOST;
}

nb_status nb_stol_parse(const char *data, size_t n, const char *name, double factor,
                        nb_stol_table *out, nb_error *err)
{
    const char *end = data + n, *p = nb_text_body(data, end);
    table_reader r = {NULL, NULL, name, 0, err};
    nb_stol_table t = {0};
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    t.points = nb_alloc_raw(count_lines(data, n), sizeof *t.points, "table", err);
    if (!t.points)
        return NB_ERR_NOMEM;
    while (p < end && !st) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        nb_stol_point point = {0, 0};
        int found = 0;
        r.p = p;
        r.end = newline ? newline : end;
        r.line++;
        st = read_point(&r, &point, &found);
        point.stol *= factor;
        if (!st && found)
            st = add_point(&r, &t, point);
        p = newline ? newline + 1 : end;
    }
    if (!st && t.n == 0)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0,
                        "no point in the table (sin(theta)/lambda F)");
    if (st)
        nb_stol_free(&t);
    *out = t;
    return st;
}

void nb_stol_free(nb_stol_table *table)
{
    if (!table)
        return;
    nb_free(table->points);
    memset(table, 0, sizeof *table);
}
