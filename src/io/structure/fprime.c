/* SPDX-License-Identifier: MIT */
#include "fprime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"
#include "structure_parts.h"

#define LARGEST 1e6 /* electrons; limit of |f'| and |f''| */

/** Read an element and `wanted` numbers: f' and f'' (2), or energy, f' and f'' (3). */
static nb_status read_row(nb_lines *l, int wanted, nb_fprime_row *row)
{
    const char *start = l->p, *after;
    char token[NB_TEXT_QUOTE];
    double v[4] = {0};
    const double *f = v + wanted - 2;
    size_t n = 0;
    int got = 0;
    while (l->p < l->end && nb_is_letter(*l->p) && n < 3)
        row->element[n++] = *l->p++;
    row->element[n] = '\0';
    after = l->p;
    if (n > 0 && n < 3 && nb_lines_word(l) && l->p > after)
        got = nb_lines_numbers(l, wanted + 1, v);
    if (got < 0)
        return NB_ERR_INPUT;
    row->line = l->line;
    row->energy_eV = wanted > 2 ? v[0] : 0;
    row->f1 = f[0];
    row->f2 = f[1];
    if (got == wanted && (wanted == 2 || (v[0] > 0 && v[0] <= 1e10)) &&
        fabs(f[0]) <= LARGEST && fabs(f[1]) <= LARGEST)
        return NB_OK;
    nb_text_quote(start, l->end, token);
    return nb_lines_fail(l, "'%s' does not begin %s (eV, electrons)", token, l->columns);
}

static int order(const void *left, const void *right)
{
    const nb_fprime_row *a = left, *b = right;
    int o = strcasecmp(a->element, b->element);
    o = o ? o : (a->energy_eV > b->energy_eV) - (a->energy_eV < b->energy_eV);
    return o ? o : (a->line > b->line) - (a->line < b->line);
}

/** Sort the rows; returns the first row that repeats element and energy, or NULL. */
static const nb_fprime_row *sort(nb_fprime_list *list)
{
    qsort(list->rows, list->count, sizeof *list->rows, order);
    for (size_t i = 1; i < list->count; i++)
        if (!strcasecmp(list->rows[i - 1].element, list->rows[i].element) &&
            list->rows[i - 1].energy_eV == list->rows[i].energy_eV)
            return &list->rows[i];
    return NULL;
}

nb_status nb_fprime_parse(const char *data, size_t n, const char *name,
                          nb_fprime_list *out, nb_error *err)
{
    nb_lines l = nb_lines_of(data, n, name, "a line: element energy f' f''", err);
    const nb_fprime_row *twice;
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    out->rows = nb_alloc(nb_text_lines(data, n), sizeof *out->rows, "f' and f''", err);
    NB_NEED(out->rows);
    while (!st && nb_lines_next(&l))
        if (nb_lines_word(&l))
            st = read_row(&l, 3, &out->rows[out->count++]);
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

nb_status nb_fprime_words(const char *text, nb_fprime_list *out, nb_error *err)
{
    nb_lines l = nb_lines_of(text, strlen(text), "-fprime", "El:f':f''[,...]", err);
    const nb_fprime_row *twice;
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    out->rows = nb_alloc(strlen(text) + 1, sizeof *out->rows, "f' and f''", err);
    NB_NEED(out->rows);
    l.between = ":";
    do {
        l.p = l.next;
        l.end = l.p + strcspn(l.p, ",");
        l.next = l.end + 1;
        st = read_row(&l, 2, &out->rows[out->count++]);
    } while (!st && *l.end);
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
