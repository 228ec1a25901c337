/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"

#define COLUMNS 5
#define SHORTEST_WAVE 1e-16 /* m; as -lambda */
#define LONGEST_WAVE 1e-6   /* m; above: a wavelength in angstroms typed as metres */
#define FARTHEST 1e100      /* m; keeps squared lengths finite */

static int delimiter(char c)
{
    return nb_text_blank(c) || c == ',' || c == ';' || c == ':' || c == '!';
}

static int line_ends(const char *p, const char *end)
{
    return p == end || *p == '\n' || *p == '#';
}

typedef struct source_reader {
    const char *p, *end;
    const char *name;
    long line;
    nb_error *err;
} source_reader;

nb_status nb_source_line_check(const nb_source_line *s, const char *name, long line,
                               nb_error *err)
{
    double longest = fmax(fmax(fabs(s->x), fabs(s->y)), fabs(s->z));
    if (!(longest > 1 / FARTHEST && longest < FARTHEST && isfinite(s->x + s->y + s->z)))
        return nb_fail_at(err, NB_ERR_INPUT, name, line,
                          "X Y Z = %g %g %g gives no direction", s->x, s->y, s->z);
    if (!(s->intensity >= 0 && isfinite(s->intensity)))
        return nb_fail_at(err, NB_ERR_INPUT, name, line, "intensity %g is %s",
                          s->intensity, s->intensity < 0 ? "negative" : "not finite");
    if (!(s->lambda >= SHORTEST_WAVE && s->lambda < LONGEST_WAVE))
        return nb_fail_at(
            err, NB_ERR_INPUT, name, line,
            "wavelength %g m must be from %g to %g m (column 5 is in metres)", s->lambda,
            SHORTEST_WAVE, LONGEST_WAVE);
    return NB_OK;
}

/* Read one line into *s; *columns is its number of columns, 0 for a blank line. */
static nb_status read_row(source_reader *r, const nb_source_defaults *d,
                          nb_source_line *s, int *columns)
{
    double v[COLUMNS] = {d->position[0], d->position[1], d->position[2], 1, d->lambda};
    int n = 0;
    for (;;) {
        const char *after;
        while (r->p < r->end && delimiter(*r->p))
            r->p++;
        if (line_ends(r->p, r->end) || n == COLUMNS)
            break;
        after = nb_text_double(r->p, r->end, &v[n]);
        if (!after || !(line_ends(after, r->end) || delimiter(*after))) {
            char token[NB_TEXT_QUOTE];
            nb_text_quote(r->p, r->end, token);
            return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                              "'%s' is not a finite number (X Y Z I lambda)", token);
        }
        r->p = after;
        n++;
    }
    *columns = n;
    *s = (nb_source_line){v[0], v[1], v[2], v[3], v[4]};
    return n ? nb_source_line_check(s, r->name, r->line, r->err) : NB_OK;
}

static size_t count_lines(const char *data, size_t n)
{
    size_t lines = 1, i;
    for (i = 0; i < n; i++)
        lines += data[i] == '\n';
    return lines;
}

nb_status nb_source_list_check(const nb_source_list *list, const char *name, long line,
                               nb_error *err)
{
    double sum;
    if (list->count == 0)
        return nb_fail_at(err, NB_ERR_INPUT, name, line,
                          "no source in the file (X Y Z I lambda)");
    if (!nb_beam_has_mean(list->rows, (size_t)list->count, &sum))
        return nb_fail_at(err, NB_ERR_INPUT, name, line,
                          "the intensities (column 4) add up to %g", sum);
    return NB_OK;
}

nb_status nb_sources_parse(const char *data, size_t n, const char *name,
                           const nb_source_defaults *defaults, nb_source_list *out,
                           nb_error *err)
{
    source_reader r = {nb_text_body(data, data + n), data + n, name, 0, err};
    nb_source_list list = {0};
    nb_status status = NB_OK;
    size_t lines = count_lines(data, n);
    memset(out, 0, sizeof *out);
    if (lines > INT_MAX)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "%zu lines are too many", lines);
    list.rows = nb_alloc_raw(lines, sizeof *list.rows, "sources", err);
    if (!list.rows)
        return NB_ERR_NOMEM;
    while (r.p < r.end && status == NB_OK) {
        const char *newline = memchr(r.p, '\n', (size_t)(r.end - r.p));
        int columns = 0;
        r.line++;
        status = read_row(&r, defaults, &list.rows[list.count], &columns);
        list.count += columns > 0;
        r.p = newline ? newline + 1 : r.end;
    }
    if (status == NB_OK)
        status = nb_source_list_check(&list, name, r.line, err);
    if (status == NB_OK)
        *out = list;
    else
        nb_source_list_free(&list);
    return status;
}

void nb_source_list_free(nb_source_list *list)
{
    if (list) {
        nb_free(list->rows);
        memset(list, 0, sizeof *list);
    }
}
