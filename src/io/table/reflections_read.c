/* SPDX-License-Identifier: MIT */
/* The text file of -truth spots, for pages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/c_locale.h"
#include "../../base/error.h"
#include "../../base/outfile.h"
#include "../../base/text.h"
#include "../../nanobragg.h"
#include "hkl.h"

enum { COLUMNS = 64, WANTED = 9, NEEDED = 6 };

/** Where the wanted columns are. */
typedef struct heading {
    int at[WANTED]; /* as named in read_heading; -1: there is none */
} heading;

typedef struct cell {
    const char *p, *end;
} cell;

/** The cells of a line, which tabs separate. */
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

/** A number that a list may lack. */
static double number_of(const cell *cells, int n, int at)
{
    double x;
    return at >= 0 && at < n && nb_text_double(cells[at].p, cells[at].end, &x) ? x : NAN;
}

static nb_status read_line(const char *path, int line, const cell *cells, int n,
                           const heading *head, nb_reflection *out, nb_error *err)
{
    const double panel = number_of(cells, n, head->at[6]);
    double values[NEEDED];
    for (int i = 0; i < NEEDED; i++) {
        const int k = head->at[i];
        if (k >= n || !nb_text_double(cells[k].p, cells[k].end, &values[i]) ||
            (i < 3 && !(values[i] > -1e6 && values[i] < 1e6)))
            return nb_fail_at(err, NB_ERR_INPUT, path, line,
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

/** A list that grows. */
typedef struct list {
    nb_reflection *spots;
    int n, room;
} list;

static nb_reflection *more(list *of, nb_error *err)
{
    if (of->n == of->room) {
        const int room = of->room ? 2 * of->room : 1024;
        nb_reflection *larger = realloc(of->spots, (size_t)room * sizeof *larger);
        if (!larger) {
            nb_fail_memory(err, (size_t)room * sizeof *larger, "reflections");
            return NULL;
        }
        of->spots = larger;
        of->room = room;
    }
    return &of->spots[of->n++];
}

static nb_status read_all(const char *path, const char *data, const char *end, list *out,
                          nb_error *err)
{
    heading head = {{-1}};
    int line = 0, has_heading = 0;
    nb_status st = NB_OK;
    for (const char *p = nb_text_body(data, end), *stop; p < end && !st; p = stop + 1) {
        cell cells[COLUMNS];
        nb_reflection *spot;
        int n;
        line++;
        if (!(stop = memchr(p, '\n', (size_t)(end - p))))
            stop = end;
        if (p == stop || *p == '#' || *p == '\r')
            continue;
        n = split(p, stop - (stop[-1] == '\r'), cells);
        if (!has_heading++) {
            st = read_heading(path, cells, n, &head, err);
            continue;
        }
        if (!(spot = more(out, err)))
            return NB_ERR_NOMEM;
        st = read_line(path, line, cells, n, &head, spot, err);
    }
    return st || has_heading ? st
                             : nb_fail_at(err, NB_ERR_INPUT, path, 0,
                                          "the list of reflections is empty");
}

nb_status nb_page_spots_parse(const char *data, size_t bytes, const char *path,
                              nb_reflection **spots, int *n, nb_error *err)
{
    list all = {0};
    nb_status st = read_all(path, data, data + bytes, &all, err);
    if (st) {
        free(all.spots);
        all = (list){0};
    }
    if (all.n)
        qsort(all.spots, (size_t)all.n, sizeof *all.spots, nb_reflections_by_photons);
    *spots = all.spots;
    *n = all.n < NB_PAGE_SPOTS ? all.n : NB_PAGE_SPOTS;
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
