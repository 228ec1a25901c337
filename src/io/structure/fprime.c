/* SPDX-License-Identifier: MIT */
#include "fprime.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "structure_parts.h"

#define LARGEST 1e6 /* electrons */

typedef struct reader {
    const char *p, *end; /* of the line, or of the words */
    const char *name;    /* NULL: of -fprime */
    long line;
    nb_error *err;
} reader;

static int is_delimiter(char c)
{
    return nb_text_blank(c) || c == ',';
}

static nb_status fail(const reader *r, const char *at, const char *what)
{
    char token[NB_TEXT_QUOTE];
    nb_text_quote(at, r->end, token);
    if (r->name)
        return nb_fail_at(r->err, NB_ERR_INPUT, r->name, r->line,
                          "'%s' is not %s (a line is: element energy f' f'')", token,
                          what);
    return nb_fail(r->err, NB_ERR_INPUT,
                   "-fprime '%s': not %s; write -fprime El:f':f''[,...] (electrons)",
                   token, what);
}

/** One or two letters and no more. */
static nb_status read_element(reader *r, char element[4])
{
    size_t n = 0;
    const char *start = r->p;
    while (r->p < r->end && nb_is_letter(*r->p) && n < 3)
        element[n++] = *r->p++;
    element[n] = '\0';
    return n > 0 && n < 3 ? NB_OK : fail(r, start, "the symbol of an element");
}

static nb_status read_number(reader *r, double most, const char *what, double *out)
{
    const char *after = nb_text_double(r->p, r->end, out);
    if (!after || !(*out >= -most && *out <= most))
        return fail(r, r->p, what);
    r->p = after;
    return NB_OK;
}

/** Move behind what separates two words; 0: the line ends, or the word goes on. */
static int next_word(reader *r)
{
    const char *start = r->p;
    while (r->p < r->end && is_delimiter(*r->p))
        r->p++;
    return r->p > start && r->p < r->end;
}

static nb_status read_line(reader *r, nb_fprime_row *row)
{
    const char *start = r->p;
    nb_status st = read_element(r, row->element);
    row->line = r->line;
    NB_TRY(next_word(r) ? read_number(r, 1e10, "an energy in eV", &row->energy_eV)
                        : fail(r, start, "a line of four words"));
    if (!st && !(row->energy_eV > 0))
        NB_FORWARD(fail(r, start, "a line with an energy above 0"));
    NB_FORWARD(next_word(r) ? read_number(r, LARGEST, "a value of f'", &row->f1)
                            : fail(r, start, "a line of four words"));
    NB_FORWARD(next_word(r) ? read_number(r, LARGEST, "a value of f''", &row->f2)
                            : fail(r, start, "a line of four words"));
    start = r->p;
    return next_word(r) || r->p < r->end ? fail(r, start, "the end of the line") : NB_OK;
}

static int order(const void *left, const void *right)
{
    const nb_fprime_row *a = left, *b = right;
    int o = strcasecmp(a->element, b->element);
    o = o ? o : (a->energy_eV > b->energy_eV) - (a->energy_eV < b->energy_eV);
    return o ? o : (a->line > b->line) - (a->line < b->line);
}

static int is_same(const nb_fprime_row *a, const nb_fprime_row *b)
{
    return !strcasecmp(a->element, b->element) && a->energy_eV == b->energy_eV;
}

/** The first row that says what another one says; NULL: none. */
static const nb_fprime_row *sort(nb_fprime_list *list)
{
    qsort(list->rows, list->count, sizeof *list->rows, order);
    for (size_t i = 1; i < list->count; i++)
        if (is_same(&list->rows[i - 1], &list->rows[i]))
            return &list->rows[i];
    return NULL;
}

static size_t count_lines(const char *p, const char *end)
{
    size_t n = 1;
    for (; p < end; p++)
        n += *p == '\n';
    return n;
}

/** The line at r->p without its comment and the blanks at its start; *next is behind it. */
static void cut_line(reader *r, const char *end, const char **next)
{
    const char *newline = memchr(r->p, '\n', (size_t)(end - r->p)), *comment;
    r->end = newline ? newline : end;
    *next = newline ? newline + 1 : end;
    comment = memchr(r->p, '#', (size_t)(r->end - r->p));
    r->end = comment ? comment : r->end;
    while (r->p < r->end && nb_text_blank(*r->p))
        r->p++;
}

static nb_status read_lines(reader *r, const char *end, nb_fprime_list *out)
{
    const char *next;
    nb_status st = NB_OK;
    for (; r->p < end && !st; r->p = next) {
        cut_line(r, end, &next);
        if (r->p < r->end)
            st = read_line(r, &out->rows[out->count++]);
        r->line++;
    }
    return st;
}

nb_status nb_fprime_parse(const char *data, size_t n, const char *name,
                          nb_fprime_list *out, nb_error *err)
{
    const char *end = data + n, *body = nb_text_body(data, end);
    reader r = {body, end, name, 1, err};
    const nb_fprime_row *twice;
    nb_status st;
    memset(out, 0, sizeof *out);
    out->rows = nb_alloc(count_lines(body, end), sizeof *out->rows, "f' and f''", err);
    if (!out->rows)
        return NB_ERR_NOMEM;
    st = read_lines(&r, end, out);
    if (!st && !out->count)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0,
                        "no line with element, energy, f' and f''");
    if (!st && (twice = sort(out)))
        st = nb_fail_at(err, NB_ERR_INPUT, name, twice->line,
                        "%s at %g eV is there twice; leave one of the lines out",
                        twice->element, twice->energy_eV);
    if (st)
        nb_fprime_free(out);
    return st;
}

/** El:f':f'' */
static nb_status read_typed(reader *r, nb_fprime_row *row)
{
    const char *start = r->p;
    nb_status st = read_element(r, row->element);
    for (int i = 0; i < 2 && !st; i++) {
        if (r->p == r->end || *r->p != ':')
            return fail(r, start, "an element with f' and f''");
        r->p++;
        st = read_number(r, LARGEST, i ? "a value of f''" : "a value of f'",
                         i ? &row->f2 : &row->f1);
    }
    return st;
}

nb_status nb_fprime_words(const char *text, nb_fprime_list *out, nb_error *err)
{
    reader r = {text, text + strlen(text), NULL, 0, err};
    const nb_fprime_row *twice;
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    out->rows = nb_alloc(strlen(text) + 1, sizeof *out->rows, "f' and f''", err);
    if (!out->rows)
        return NB_ERR_NOMEM;
    do {
        st = read_typed(&r, &out->rows[out->count++]);
        if (!st && r.p < r.end && *r.p != ',')
            st = fail(&r, r.p, "a comma or the end");
    } while (!st && r.p++ < r.end);
    if (!st && (twice = sort(out)))
        st = nb_fail(err, NB_ERR_INPUT, "-fprime: the element %s is there twice",
                     twice->element);
    if (st)
        nb_fprime_free(out);
    return st;
}

void nb_fprime_free(nb_fprime_list *list)
{
    nb_free(list->rows);
    memset(list, 0, sizeof *list);
}

int nb_fprime_at(const nb_fprime_row *rows, size_t n, double energy_eV, double *f1,
                 double *f2)
{
    size_t i = 0;
    double t;
    if (!n || !(energy_eV >= rows[0].energy_eV && energy_eV <= rows[n - 1].energy_eV))
        return 0;
    while (i + 2 < n && rows[i + 1].energy_eV < energy_eV)
        i++;
    t = n > 1
            ? (energy_eV - rows[i].energy_eV) / (rows[i + 1].energy_eV - rows[i].energy_eV)
            : 0;
    *f1 = rows[i].f1 + (n > 1 ? t * (rows[i + 1].f1 - rows[i].f1) : 0);
    *f2 = rows[i].f2 + (n > 1 ? t * (rows[i + 1].f2 - rows[i].f2) : 0);
    return 1;
}
