/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"

#define COLUMNS 5
#define SHORTEST_WAVE 1e-16 /* m; as -lambda */
#define LONGEST_WAVE 1e-6   /* m; above it a wavelength is in angstroms by mistake */
#define FARTHEST 1e100      /* m; limit for finite squared lengths */

static int column_ends(char c)
{
    return nb_text_blank(c) || c == ',' || c == ';' || c == ':';
}

static int delimiter(char c)
{
    return column_ends(c) || c == '!';
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
    if (s->lambda >= SHORTEST_WAVE && s->lambda < LONGEST_WAVE)
        return NB_OK;
    if (line > 0)
        return nb_fail_at(
            err, NB_ERR_INPUT, name, line,
            "wavelength %g m must be from %g to %g m (column 5 is in metres)", s->lambda,
            SHORTEST_WAVE, LONGEST_WAVE);
    return nb_fail_at(err, NB_ERR_INPUT, name, line,
                      "wavelength %g A must be from %g to %g A%s", s->lambda * 1e10,
                      SHORTEST_WAVE * 1e10, LONGEST_WAVE * 1e10,
                      s->lambda >= LONGEST_WAVE ? ": is it an energy?"
                      : s->lambda > 0           ? ": is it in metres?"
                                                : "");
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
    nb_status st = NB_OK;
    size_t lines = nb_text_lines(data, n);
    memset(out, 0, sizeof *out);
    if (lines > INT_MAX)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "%zu lines are too many", lines);
    list.rows = nb_alloc_raw(lines, sizeof *list.rows, "sources", err);
    if (!list.rows)
        return NB_ERR_NOMEM;
    while (r.p < r.end && !st) {
        const char *newline = memchr(r.p, '\n', (size_t)(r.end - r.p));
        int columns = 0;
        r.line++;
        st = read_row(&r, defaults, &list.rows[list.count], &columns);
        list.count += columns > 0;
        r.p = newline ? newline + 1 : r.end;
    }
    NB_TRY(nb_source_list_check(&list, name, r.line, err));
    if (!st)
        *out = list;
    else
        nb_source_list_free(&list);
    return st;
}

void nb_source_list_free(nb_source_list *list)
{
    if (list) {
        nb_free(list->rows);
        memset(list, 0, sizeof *list);
    }
}

/* as in a source list */
#define SHORTEST_A 1e-6
#define LONGEST_A 1e4

typedef struct reader {
    const char *p, *end; /* of the line */
    const char *name;
    long line;
    const char *columns; /* what a line has */
    nb_vec3 position;
    nb_error *err;
} reader;

/** The next number of the line; 0: there is none, -1: it is not valid. */
static int next_number(reader *r, double *value)
{
    const char *after;
    while (r->p < r->end && column_ends(*r->p))
        r->p++;
    if (r->p == r->end)
        return 0;
    after = nb_text_double(r->p, r->end, value);
    if (!after || (after < r->end && !column_ends(*after))) {
        char token[NB_TEXT_QUOTE];
        nb_text_quote(r->p, r->end, token);
        nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line, "'%s' is not a number (%s)",
                   token, r->columns);
        return -1;
    }
    r->p = after;
    return 1;
}

/** The next pair; *there: the line had one. */
static nb_status next_pair(reader *r, nb_source_line *out, int *there)
{
    double A, weight;
    int got = *there = next_number(r, &A);
    if (got < 0)
        return NB_ERR_INPUT;
    if (got == 0)
        return NB_OK;
    if (!(A >= SHORTEST_A && A < LONGEST_A))
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "wavelength %g A must be from %g to %g", A, SHORTEST_A,
                          LONGEST_A);
    if ((got = next_number(r, &weight)) < 0)
        return NB_ERR_INPUT;
    if (got == 0)
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "the wavelength %g has no weight", A);
    if (!(weight >= 0))
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line, "weight %g is negative",
                          weight);
    *out = (nb_source_line){r->position.x, r->position.y, r->position.z, weight,
                            nb_metres_of(A)};
    return NB_OK;
}

/** Append the pairs of one line to *used others. */
static nb_status read_line(reader *r, nb_spectra *s, size_t *used)
{
    double sum;
    size_t begin = *used;
    int there;
    nb_status st;
    while (!(st = next_pair(r, &s->lines[*used], &there)) && there)
        ++*used;
    if (st || *used == begin)
        return st;
    if (!nb_beam_has_mean(s->lines + begin, *used - begin, &sum))
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "the weights add up to %g", sum);
    s->first[++s->count] = *used;
    return NB_OK;
}

/** Is there more than blanks and comments? */
static int has_more(const char *p, const char *end)
{
    while (p < end && (nb_text_blank(*p) || *p == '\n' || *p == '#')) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = *p != '#' ? p + 1 : newline ? newline : end;
    }
    return p < end;
}

/** Point the reader at the line that begins here, up to a comment.  Returns the next line. */
static const char *next_line(reader *r, const char *data, const char *end)
{
    const char *newline = memchr(data, '\n', (size_t)(end - data)), *hash;
    r->p = data;
    r->end = newline ? newline : end;
    hash = memchr(r->p, '#', (size_t)(r->end - r->p));
    r->end = hash ? hash : r->end;
    r->line++;
    return newline ? newline + 1 : end;
}

static nb_status read_lines(reader *r, const char *data, const char *end, int needed,
                            nb_spectra *s)
{
    size_t used = 0;
    nb_status st = NB_OK;
    while (!st && data < end && s->count < needed) {
        data = next_line(r, data, end);
        st = read_line(r, s, &used);
    }
    s->more = has_more(data, end);
    if (!st && s->count < needed)
        st = nb_fail_at(r->err, NB_ERR_INPUT, r->name, 0,
                        "%d spectra for %d stills; each still needs one", s->count,
                        needed);
    return st;
}

nb_status nb_spectra_parse(const char *data, size_t n, const char *name, nb_vec3 position,
                           int needed, nb_spectra *out, nb_error *err)
{
    reader r = {NULL,     NULL, name, 0, "wavelength weight wavelength weight ...",
                position, err};
    nb_spectra s = {0};
    nb_status st = NB_ERR_NOMEM;
    memset(out, 0, sizeof *out);
    s.lines = nb_alloc_raw(n / 4 + 1, sizeof *s.lines, "spectra", err); /* "1 1 " */
    s.first = nb_alloc((size_t)needed + 1, sizeof *s.first, "spectra", err);
    if (s.lines && s.first)
        st = read_lines(&r, nb_text_body(data, data + n), data + n, needed, &s);
    if (st)
        nb_spectra_free(&s);
    else
        *out = s;
    return st;
}

/** Columns of a row up to the last that has a weight. */
static size_t row_length(const nb_spectra_table *t, size_t row)
{
    size_t n = t->columns;
    while (n > 0 && t->weight[row * t->columns + n - 1] == 0)
        n--;
    return n;
}

static nb_status add_row(const nb_spectra_table *t, size_t row, const char *name,
                         nb_vec3 position, nb_spectra *s, nb_error *err)
{
    const double *A = t->A + (t->one_axis ? 0 : row * t->columns);
    const double *weight = t->weight + row * t->columns;
    size_t used = s->first[s->count], n = row_length(t, row);
    double sum;
    for (size_t i = 0; i < n; i++, used++) {
        if (!(A[i] >= SHORTEST_A && A[i] < LONGEST_A) || !(weight[i] >= 0))
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "spectrum %zu: wavelength %g A, weight %g", row, A[i],
                              weight[i]);
        s->lines[used] = (nb_source_line){position.x, position.y, position.z, weight[i],
                                          nb_metres_of(A[i])};
    }
    if (!nb_beam_has_mean(s->lines + used - n, n, &sum))
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "spectrum %zu: the weights add up to %g", row, sum);
    s->first[++s->count] = used;
    return NB_OK;
}

nb_status nb_spectra_from_table(const nb_spectra_table *table, const char *name,
                                nb_vec3 position, int needed, nb_spectra *out,
                                nb_error *err)
{
    nb_spectra s = {0};
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    if (table->rows < (size_t)needed)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "%zu spectra for %d stills; each still needs one", table->rows,
                          needed);
    s.lines =
        nb_alloc_raw((size_t)needed * table->columns, sizeof *s.lines, "spectra", err);
    s.first = nb_alloc((size_t)needed + 1, sizeof *s.first, "spectra", err);
    if (!s.lines || !s.first)
        st = NB_ERR_NOMEM;
    for (int row = 0; !st && row < needed; row++)
        st = add_row(table, (size_t)row, name, position, &s, err);
    if (st)
        nb_spectra_free(&s);
    else
        *out = s;
    return st;
}

void nb_spectra_say_odd(const nb_spectra *s, const char *name, const nb_hooks *hooks)
{
    if (s->more && s->count && s->first[s->count] == (size_t)s->count)
        nb_notice(hooks,
                  "-spectra %s: each line is a spectrum, and here it is one wavelength; "
                  "further lines are not read.  One spectrum stands in one line, "
                  "wavelength weight wavelength weight ...",
                  name);
}

void nb_spectra_free(nb_spectra *spectra)
{
    if (!spectra)
        return;
    nb_free(spectra->lines);
    nb_free(spectra->first);
    memset(spectra, 0, sizeof *spectra);
}

/** The point of a line; *n grows where it has one. */
static nb_status read_point(reader *r, nb_spectrum_point *points, int *n)
{
    nb_spectrum_point *point = &points[*n];
    double more;
    int got = next_number(r, &point->eV);
    if (got <= 0)
        return got ? NB_ERR_INPUT : NB_OK;
    got = next_number(r, &point->density);
    if (got > 0)
        got = next_number(r, &more) ? 0 : 1;
    if (got <= 0)
        return got ? NB_ERR_INPUT
                   : nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                                "a line has two numbers: %s", r->columns);
    if (!(point->eV > 0 && point->eV < 1e9) || (*n > 0 && !(point->eV > point[-1].eV)))
        return nb_fail_at(
            r->err, NB_ERR_INPUT, r->name, r->line,
            "photon energy %g eV: must be above 0 and increase from line to line",
            point->eV);
    if (!(point->density >= 0 && point->density < 1e100))
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "%g photons per eV: must be 0 or more", point->density);
    ++*n;
    return NB_OK;
}

nb_status nb_spectrum_parse(const char *data, size_t bytes, const char *name,
                            nb_spectrum_point **points, int *n, nb_error *err)
{
    reader r = {NULL,      NULL, name, 0, "photon energy in eV, photons per eV",
                {0, 0, 0}, err};
    const char *end = data + bytes;
    const size_t lines = nb_text_lines(data, bytes);
    nb_spectrum_point *p;
    double sum = 0;
    nb_status st = NB_OK;
    *points = NULL;
    *n = 0;
    if (lines > INT_MAX)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "%zu lines are too many", lines);
    if (!(p = nb_alloc_raw(lines, sizeof *p, "spectrum", err)))
        return NB_ERR_NOMEM;
    for (data = nb_text_body(data, end); data < end && !st;) {
        data = next_line(&r, data, end);
        st = read_point(&r, p, n);
        sum += st || !*n ? 0 : p[*n - 1].density;
    }
    if (!st && (*n < 2 || !(sum > 0)))
        st =
            nb_fail_at(err, NB_ERR_INPUT, name, r.line,
                       "%d points and no photons between them; a spectrum needs two (%s)",
                       *n, r.columns);
    if (st)
        nb_free(p);
    else
        *points = p;
    return st;
}
