/* SPDX-License-Identifier: MIT */
/* f' and f'' at the wavelengths of a beam, and the groups that share a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../model/units.h"
#include "../params/params.h"
#include "factors.h"

/** Find the rows of an element; returns their number. */
static size_t rows_of(const nb_fprime_list *list, int Z, const nb_fprime_row **first)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++)
        if (nb_element_number(list->rows[i].element) == Z) {
            if (!n++)
                *first = &list->rows[i];
        }
    return n;
}

/** f' and f'' of one element; *outside: 1 if this energy is outside the measured
 * curves. */
static nb_anomalous of_element(const nb_factor_sums *m, int Z, double energy, int *outside)
{
    const nb_fprime_row *rows = NULL;
    nb_anomalous f = {0, 0};
    size_t n;
    if (m->files->settings.value.anomalous == NB_ANOMALOUS_OFF)
        return f;
    if (rows_of(&m->files->typed, Z, &rows))
        return (nb_anomalous){rows->f1, rows->f2};
    if ((n = rows_of(&m->files->curves, Z, &rows))) {
        if (nb_fprime_at(rows, n, energy, &f.f1, &f.f2))
            return f;
        *outside = 1;
    }
    nb_element_anomalous(Z, energy, &f.f1, &f.f2);
    return f;
}

static void fill_wave(const nb_factor_sums *m, double wavelength, const nb_hooks *hooks,
                      nb_wave *out)
{
    double energy = NB_HC_EV_ANGSTROM / wavelength;
    out->wavelength = wavelength;
    for (int i = 0; i < m->partials.n_elements; i++) {
        int Z = m->partials.elements[i].Z, outside = 0;
        out->f[i] = of_element(m, Z, energy, &outside);
        if (outside && hooks)
            nb_notice(
                hooks,
                "%s has no %s at %.6g eV: f' and f'' of Cromer and Liberman are used",
                m->files->settings.value.fprime_table, nb_element_symbol(Z), energy);
    }
}

/* --- symbols --- */

static nb_status check_list(const nb_fprime_list *list, const char *path, nb_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const nb_fprime_row *row = &list->rows[i];
        if (nb_element_number(row->element))
            continue;
        if (path)
            return nb_fail_at(err, NB_ERR_INPUT, path, row->line,
                              "'%s' is not the symbol of an element (-fprime_table)",
                              row->element);
        return nb_fail(err, NB_ERR_INPUT, "-fprime %s: not the symbol of an element",
                       row->element);
    }
    return NB_OK;
}

nb_status nb_check_fprime(const nb_factor_files *files, nb_error *err)
{
    nb_status st = check_list(&files->typed, NULL, err);
    return st ? st : check_list(&files->curves, files->settings.value.fprime_table, err);
}

/* --- groups --- */

static nb_status allocate(nb_waves *w, int groups, int sources, int elements,
                          nb_error *err)
{
    size_t f = (size_t)groups * (size_t)(elements > 0 ? elements : 1);
    memset(w, 0, sizeof *w);
    w->n_elements = elements;
    w->group = nb_alloc((size_t)groups, sizeof *w->group, "wavelengths", err);
    w->of_source = nb_alloc((size_t)sources, sizeof *w->of_source, "wavelengths", err);
    w->f = nb_alloc(f, sizeof *w->f, "wavelengths", err);
    if (w->group && w->of_source && w->f)
        return NB_OK;
    nb_waves_free(w);
    return NB_ERR_NOMEM;
}

void nb_waves_free(nb_waves *w)
{
    nb_free(w->group);
    nb_free(w->of_source);
    nb_free(w->f);
    memset(w, 0, sizeof *w);
}

/** A source, to be sorted by wavelength. */
typedef struct entry {
    double wavelength, weight;
    int source;
} entry;

static int order(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    int o = (a->wavelength > b->wavelength) - (a->wavelength < b->wavelength);
    return o ? o : (a->source > b->source) - (a->source < b->source);
}

static double mean_of(const entry *e, int n)
{
    double sum = 0, weight = 0;
    for (int i = 0; i < n; i++) {
        sum += e[i].weight * e[i].wavelength;
        weight += e[i].weight;
    }
    return e[0].wavelength == e[n - 1].wavelength ? e[0].wavelength
           : weight > 0                           ? sum / weight
                                                  : e[n / 2].wavelength;
}

double nb_mean_wavelength(const nb_source *sources, int n)
{
    double sum = 0, weight = 0, least = INFINITY, largest = 0;
    for (int i = 0; i < n; i++) {
        double l = sources[i].lambda / NB_ANGSTROM;
        sum += sources[i].weight * l;
        weight += sources[i].weight;
        least = fmin(least, l);
        largest = fmax(largest, l);
    }
    return least == largest || !(weight > 0) ? least : sum / weight;
}

static int is_near(const nb_wave *a, const nb_wave *b, int n, double tolerance)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a->f[i].f1 - b->f[i].f1) <= tolerance &&
              fabs(a->f[i].f2 - b->f[i].f2) <= tolerance))
            return 0;
    return 1;
}

/** Index after the last source of the group that begins at e[first].  at: work memory. */
static int end_of_group(const nb_factor_sums *m, const entry *e, int n, int first,
                        nb_wave at[2])
{
    double tolerance = m->files->settings.value.anomalous_tol;
    int end = first + 1;
    if (m->files->settings.value.anomalous != NB_ANOMALOUS_EACH || !m->partials.n_elements)
        return n;
    fill_wave(m, e[first].wavelength, NULL, &at[0]);
    for (; end < n; end++) {
        if (e[end].wavelength == e[end - 1].wavelength)
            continue;
        fill_wave(m, e[end].wavelength, NULL, &at[1]);
        if (!is_near(&at[0], &at[1], m->partials.n_elements, tolerance))
            break;
    }
    return end;
}

static void make_groups(const nb_factor_sums *m, const entry *e, int n,
                        const nb_hooks *hooks, nb_wave at[2], nb_waves *out)
{
    for (int first = 0, end; first < n; first = end) {
        nb_wave *group = &out->group[out->n];
        end = end_of_group(m, e, n, first, at);
        group->f = out->f + (size_t)out->n * (size_t)out->n_elements;
        fill_wave(m, mean_of(e + first, end - first), hooks, group);
        for (int i = first; i < end; i++)
            out->of_source[e[i].source] = out->n;
        out->n++;
    }
}

static nb_status group_entries(const nb_factor_sums *m, entry *e, int n,
                               const nb_hooks *hooks, nb_waves *out, nb_error *err)
{
    int elements = m->partials.n_elements;
    nb_waves scratch = {0};
    nb_status st;
    qsort(e, (size_t)n, sizeof *e, order);
    if ((st = allocate(&scratch, 2, 1, elements, err)) ||
        (st = allocate(out, n, n, elements, err))) {
        nb_waves_free(&scratch);
        return st;
    }
    scratch.group[0].f = scratch.f;
    scratch.group[1].f = scratch.f + elements;
    make_groups(m, e, n, hooks, scratch.group, out);
    nb_waves_free(&scratch);
    return NB_OK;
}

nb_status nb_waves_group(const nb_factor_sums *m, const nb_source *sources, int n,
                         const nb_hooks *hooks, nb_waves *out, nb_error *err)
{
    entry *e = nb_alloc((size_t)n, sizeof *e, "wavelengths", err);
    nb_status st;
    memset(out, 0, sizeof *out);
    if (!e)
        return NB_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        e[i] = (entry){sources[i].lambda / NB_ANGSTROM, sources[i].weight, i};
    st = group_entries(m, e, n, hooks, out, err);
    nb_free(e);
    return st;
}

nb_status nb_waves_one(const nb_factor_sums *m, double wavelength_A,
                       const nb_hooks *hooks, nb_waves *out, nb_error *err)
{
    entry one = {wavelength_A, 1, 0};
    memset(out, 0, sizeof *out);
    return group_entries(m, &one, 1, hooks, out, err);
}

int nb_waves_equal(const nb_waves *a, const nb_waves *b)
{
    if (a->n != b->n || a->n_elements != b->n_elements)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!is_near(&a->group[i], &b->group[i], a->n_elements, 0))
            return 0;
    return 1;
}
