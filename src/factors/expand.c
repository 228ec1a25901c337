/* SPDX-License-Identifier: MIT */
/* The rows of a reflection file, or of a list, by every operator of a space group. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "gather.h"
#include "reflections.h"
#include "symmetry.h"

/* --- values of a row --- */

static double at(const nb_reflection_file *file, int column, size_t row)
{
    double v = column < 0 ? NAN : (double)file->columns[column].value[row];
    return isfinite(v) ? v : NAN;
}

static double amplitude_of(double I)
{
    return isnan(I) ? I : sqrt(fmax(I, 0));
}

/** Amplitudes of both mates; 0 if there is none.  *negative counts. */
static int amplitudes(const nb_expansion_request *r, size_t row, double F[2],
                      size_t *negative)
{
    const nb_column_choice *c = &r->columns;
    double D = at(r->file, c->difference, row);
    int alike = c->minus < 0 && isnan(D);
    F[0] = at(r->file, c->plus, row) + (isnan(D) ? 0 : D / 2);
    F[1] = c->minus < 0 ? F[0] - (isnan(D) ? 0 : D) : at(r->file, c->minus, row);
    for (int i = 0; i < 2; i++) {
        *negative += !c->intensities && F[i] < 0 && !(i && alike);
        F[i] = c->intensities ? amplitude_of(F[i]) : F[i] < 0 ? 0 : F[i];
    }
    if (isnan(F[0]))
        F[0] = F[1];
    if (isnan(F[1]))
        F[1] = F[0];
    return !isnan(F[0]);
}

/** The values of a row; 0 if it has none. */
static int mates_of(const nb_expansion_request *r, size_t row, nb_mates *out,
                    size_t *negative)
{
    double phi = at(r->file, r->columns.phase, row) * (M_PI / 180), F[2];
    double c = isnan(phi) ? 1 : cos(phi), s = isnan(phi) ? 0 : sin(phi);
    if (!amplitudes(r, row, F, negative))
        return 0;
    *out = (nb_mates){{F[0] * c, F[0] * s}, {F[1] * c, -F[1] * s}, !isnan(phi)};
    return 1;
}

/* --- which rows count --- */

typedef struct work {
    const nb_expansion_request *r;
    const nb_symmetry *sg;
    double G[6], limit; /* of s^2 */
    int H[3];
    size_t *rows; /* owned: with a value that counts */
    size_t n;
    double s2_max;
    nb_expansion *about;
} work;

static nb_status begin(work *w, nb_error *err)
{
    const double *cell = w->r->cell;
    nb_reciprocal_metric(cell, w->G);
    for (int i = 0; i < 3; i++)
        if (!(cell[i] > 0 && w->G[i] > 0 && isfinite(w->G[i])))
            return nb_fail_at(err, NB_ERR_INPUT, w->r->name, 0,
                              cell[0] == 0 ? "it has no unit cell: give -cell"
                                           : "its unit cell has no volume: give -cell");
    w->rows = nb_alloc_raw(w->r->list ? w->r->list->count : w->r->file->count,
                           sizeof *w->rows, "reflections", err);
    return w->rows ? NB_OK : NB_ERR_NOMEM;
}

static nb_status check_index(const int h[3], const char *name, nb_error *err)
{
    for (int i = 0; i < 3; i++)
        if (h[i] < -NB_SF_MAX_INDEX || h[i] > NB_SF_MAX_INDEX)
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "reflection %d %d %d has an index beyond +-%d", h[0], h[1],
                              h[2], NB_SF_MAX_INDEX);
    return NB_OK;
}

/** A row with a value, which is_zero or not. */
static nb_status add_row(work *w, size_t row, const int h[3], int is_zero, nb_error *err)
{
    double s2 = nb_s_squared(w->G, h[0], h[1], h[2]);
    w->about->given++;
    if (nb_is_absent(w->sg, h)) {
        w->about->absent_with_value += !is_zero;
        return NB_OK;
    }
    w->s2_max = fmax(w->s2_max, s2);
    if (w->limit > 0 && s2 > w->limit)
        return NB_OK;
    w->rows[w->n++] = row;
    if (!nb_gather_reach(w->sg, h, w->H))
        return nb_fail_at(err, NB_ERR_INPUT, w->r->name, 0,
                          "a symmetry mate of reflection %d %d %d has an index beyond "
                          "+-%d: is the space group right (-sg)?",
                          h[0], h[1], h[2], NB_SF_MAX_INDEX);
    return NB_OK;
}

static nb_status check_rows(const work *w, nb_error *err)
{
    const nb_expansion_request *r = w->r;
    if (!w->about->given)
        return nb_fail_at(err, NB_ERR_INPUT, r->name, 0,
                          "column %s has no value: name another with -mtzlabel",
                          r->file->columns[r->columns.plus].label);
    if (!w->n)
        return nb_fail_at(err, NB_ERR_INPUT, r->name, 0,
                          "no reflection counts: all are systematically absent (-sg) or "
                          "beyond -dmin");
    return NB_OK;
}

/** The limit of the table, and a grid for it. */
static nb_status make_box(work *w, nb_factor_grid *out, nb_error *err)
{
    w->about->dmin = 1 / sqrt(w->s2_max);
    w->about->limit = w->r->dmin > 0 ? w->r->dmin : w->about->dmin;
    w->limit = nb_s_squared_limit(w->about->limit);
    if (w->r->whole_sphere) {
        int H[3];
        nb_index_limits(w->r->cell, w->about->limit, H);
        for (int i = 0; i < 3; i++)
            w->H[i] = H[i] > w->H[i] ? H[i] : w->H[i];
    }
    return nb_factor_grid_new(w->r->cell, w->H, out, err);
}

/* --- a file --- */

static nb_status find_rows(work *w, nb_error *err)
{
    const nb_expansion_request *r = w->r;
    nb_mates m;
    for (size_t i = 0; i < r->file->count; i++) {
        const int *h = r->file->hkl[i];
        nb_status st = check_index(h, r->name, err);
        if (st == NB_OK && mates_of(r, i, &m, &w->about->negative))
            st = add_row(w, i, h, !(m.plus[0] || m.plus[1] || m.minus[0] || m.minus[1]),
                         err);
        if (st != NB_OK)
            return st;
    }
    return NB_OK;
}

/** The rows that have a phase, then those that have none. */
static void gather_file(const work *w, nb_gather *g)
{
    const nb_expansion_request *r = w->r;
    size_t ignored = 0;
    nb_mates m;
    for (int with_phase = r->columns.phase >= 0; with_phase >= 0; with_phase--) {
        for (size_t i = 0; i < w->n; i++)
            if (mates_of(r, w->rows[i], &m, &ignored) && m.with_phase == with_phase)
                nb_gather_add(g, w->sg, r->file->hkl[w->rows[i]], &m);
        w->about->conflicts += nb_gather_finish(g, with_phase);
    }
}

/* --- a list --- */

static const nb_hkl_row *list_row(const nb_hkl_list *list, size_t row, int h[3])
{
    for (int i = 0; i < 3; i++)
        h[i] = list->rows[row].index[i];
    return &list->rows[row];
}

static nb_status find_list_rows(work *w, nb_error *err)
{
    nb_status st = NB_OK;
    int h[3];
    for (size_t i = 0; i < w->r->list->count && st == NB_OK; i++) {
        double F = list_row(w->r->list, i, h)->F;
        st = add_row(w, i, h, F == 0, err);
    }
    return st;
}

/** The last row of a reflection counts, for itself and for its mates. */
static void gather_list(work *w, nb_gather *g)
{
    const nb_hkl_list *list = w->r->list;
    size_t kept = w->n;
    int h[3];
    for (size_t i = w->n; i-- > 0;) {
        double F = list_row(list, w->rows[i], h)->F;
        if (nb_gather_set(g, h, F))
            w->rows[--kept] = w->rows[i];
    }
    for (size_t i = kept; i < w->n && w->sg->count; i++) {
        double F = list_row(list, w->rows[i], h)->F;
        nb_gather_add(g, w->sg, h, &(nb_mates){{F, 0}, {F, 0}, 0});
    }
    w->about->conflicts += nb_gather_finish(g, 0);
}

/* --- both --- */

static void say(const nb_expansion *about, const char *name, const nb_hooks *hooks)
{
    if (about->absent_with_value)
        nb_notice(hooks,
                  "%s: the values of %zu systematically absent reflections are ignored",
                  name, about->absent_with_value);
    if (about->negative)
        nb_notice(hooks, "%s: %zu negative amplitudes count as 0", name, about->negative);
    if (about->conflicts)
        nb_notice(hooks,
                  "%s: %zu reflections have values that differ by more than 1 %% in "
                  "symmetry mates or duplicates; their mean is used",
                  name, about->conflicts);
}

static nb_status gather(work *w, nb_factor_grid *grid, nb_error *err)
{
    const nb_expansion_request *r = w->r;
    nb_gather g;
    nb_status st =
        r->list || r->columns.phase < 0 ? NB_OK : nb_factor_grid_add_phases(grid, err);
    if (st == NB_OK)
        st = nb_gather_new(grid, &g, err);
    if (st != NB_OK)
        return st;
    if (r->list)
        gather_list(w, &g);
    else
        gather_file(w, &g);
    st = nb_gather_absences(&g, w->sg, w->limit, &w->about->present, &w->about->missing,
                            err);
    nb_gather_free(&g);
    return st;
}

nb_status nb_expand(const nb_expansion_request *r, nb_factor_grid *out,
                    nb_expansion *about, nb_error *err)
{
    work w = {.r = r, .sg = r->sg->count || r->list ? r->sg : &nb_P1, .about = about};
    nb_status st = begin(&w, err);
    memset(out, 0, sizeof *out);
    memset(about, 0, sizeof *about);
    w.limit = r->dmin > 0 ? nb_s_squared_limit(r->dmin) : 0;
    if (st == NB_OK)
        st = r->list ? find_list_rows(&w, err) : find_rows(&w, err);
    if (st == NB_OK)
        st = check_rows(&w, err);
    if (st == NB_OK)
        st = make_box(&w, out, err);
    if (st == NB_OK)
        st = gather(&w, out, err);
    nb_free(w.rows);
    if (st != NB_OK) {
        nb_factor_grid_free(out);
        return st;
    }
    out->wavelength = r->file ? r->file->wavelength : 0;
    say(about, r->name, r->hooks);
    return NB_OK;
}
