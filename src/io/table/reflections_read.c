/* SPDX-License-Identifier: MIT */
/* Read the text file of -truth spots, for showing the spots in a page (HTML). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/c_locale.h"
#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../../base/text.h"
#include "../common/lines.h"
#include "hkl.h"

enum { COLUMNS = 64, WANTED = 9, NEEDED = 6 };

/** Positions of the columns that are read. */
typedef struct heading {
    int at[WANTED]; /* in the order of names in read_heading; -1 if missing */
} heading;

typedef struct cell {
    const char *p, *end;
} cell;

/** Split a line at tabs; returns the number of cells. */
static int split(const char *p, const char *end, cell cells[COLUMNS])
{
    int n = 0;
    while (n < COLUMNS) {
        const char *tab = memchr(p, '\t', (size_t)(end - p));
        cells[n].p = p;
        cells[n++].end = tab ? tab : end;
        if (!tab)
            break;
        p = tab + 1;
    }
    return n;
}

static int is_cell(const cell *c, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(c->end - c->p) == n && memcmp(c->p, word, n) == 0;
}

static nb_status read_heading(const char *path, const cell *cells, int n, heading *out,
                              nb_error *err)
{
    static const char *const names[WANTED] = {"h",         "k",     "l", "fast", "slow",
                                              "intensity", "panel", "F", "d"};
    for (int i = 0; i < WANTED; i++) {
        out->at[i] = -1;
        for (int k = 0; k < n; k++)
            if (is_cell(&cells[k], names[i]))
                out->at[i] = k;
        if (i < NEEDED && out->at[i] < 0)
            return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                              "there is no column %s: it is no list of -truth spots",
                              names[i]);
    }
    return NB_OK;
}

/** Number in column `at` of a line; NaN if the column is missing or has no number. */
static double number_of(const cell *cells, int n, int at)
{
    double x;
    return at >= 0 && at < n && nb_text_double(cells[at].p, cells[at].end, &x) ? x : NAN;
}

static nb_status read_line(const nb_lines *l, const cell *cells, int n,
                           const heading *head, nb_reflection *out)
{
    const double panel = number_of(cells, n, head->at[6]);
    double values[NEEDED];
    for (int i = 0; i < NEEDED; i++) {
        const int k = head->at[i];
        if (k >= n || !nb_text_double(cells[k].p, cells[k].end, &values[i]) ||
            (i < 3 && !(values[i] > -1e6 && values[i] < 1e6)))
            return nb_lines_fail(l,
                                 "a reflection needs h, k, l, fast, slow and intensity");
    }
    *out = (nb_reflection){.h = (int)values[0], .k = (int)values[1], .l = (int)values[2]};
    out->panel = panel >= 0 && panel < 1e6 ? (int)panel : -1;
    out->fast = values[3];
    out->slow = values[4];
    out->intensity = values[5];
    out->F = number_of(cells, n, head->at[7]);
    out->d = number_of(cells, n, head->at[8]);
    return NB_OK;
}

int nb_reflections_by_photons(const void *a, const void *b)
{
    const nb_reflection *x = a, *y = b;
    return (x->intensity < y->intensity) - (x->intensity > y->intensity);
}

/** Read all lines. The caller frees *spots, also after an error. */
static nb_status read_all(nb_lines *l, nb_reflection **spots, size_t *n)
{
    heading head = {{-1}};
    size_t room = 0;
    int has_heading = 0;
    nb_status st = NB_OK;
    while (!st && nb_lines_next(l)) {
        cell cells[COLUMNS];
        int columns;
        if (l->p == l->end || *l->p == '#' || *l->p == '\r')
            continue;
        columns = split(l->p, l->end - (l->end[-1] == '\r'), cells);
        if (!has_heading++)
            st = read_heading(l->file, cells, columns, &head, l->err);
        else if (!(st = nb_reserve(spots, *n, &room, sizeof **spots, "reflections",
                                   l->err)))
            st = read_line(l, cells, columns, &head, &(*spots)[(*n)++]);
    }
    return st || has_heading ? st
                             : nb_fail_at(l->err, NB_ERR_INPUT, l->file, 0,
                                          "the list of reflections is empty");
}

nb_status nb_page_spots_parse(const char *data, size_t bytes, const char *path,
                              nb_reflection **spots, int *n, nb_error *err)
{
    nb_lines l = nb_lines_of(data, bytes, path, "", err);
    size_t all = 0;
    nb_status st;
    *spots = NULL;
    l.comment = "";
    if ((st = read_all(&l, spots, &all))) {
        nb_free(*spots);
        *spots = NULL;
        all = 0;
    }
    if (all)
        qsort(*spots, all, sizeof **spots, nb_reflections_by_photons);
    *n = all < NB_PAGE_SPOTS ? (int)all : NB_PAGE_SPOTS;
    return st;
}

nb_status nb_read_page_spots(const char *path, nb_reflection **spots, int *n,
                             nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(path && spots && n);
    char *data;
    size_t bytes;
    nb_status st = nb_read_file(path, "-spots", 0, &data, &bytes, err);
    *spots = NULL;
    *n = 0;
    NB_TRY(nb_page_spots_parse(data, bytes, path, spots, n, err));
    nb_free(data);
    return st;
}
