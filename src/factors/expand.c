/* SPDX-License-Identifier: MIT */
/* Expansion of a reflection file or list by every operator of a space group. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "model.h"
#include "factors.h"

/* --- values of a row --- */

static double at(const nb_reflection_file *file, int column, size_t row)
{
    double v = column < 0 ? NAN : (double)file->columns[column].value[row];
    return isfinite(v) ? v : NAN;
}

/** Amplitudes or intensities of both mates. has[] marks the mates with a value in the
 * row. Adds negative amplitudes to *negative. Returns 0 for a row without a value. */
static int values_of(const nb_expansion_request *r, size_t row, double F[2], int has[2],
                     size_t *negative)
{
    const nb_column_choice *c = &r->columns;
    double D = at(r->file, c->difference, row);
    F[0] = at(r->file, c->plus, row);
    F[1] = at(r->file, c->minus, row);
    if (!isnan(D)) {
        F[1] = F[0] - D / 2;
        F[0] += D / 2;
    }
    if (isnan(F[0]) && isnan(F[1]))
        F[0] = F[1] = at(r->file, c->mean, row);
    for (int i = 0; i < 2; i++) {
        has[i] = !isnan(F[i]);
        if (!c->intensities && F[i] < 0) {
            ++*negative;
            F[i] = 0;
        }
    }
    for (int i = 0; i < 2; i++)
        F[i] = has[i] ? F[i] : F[!i];
    return has[0] || has[1];
}

/** True if an operator turns h into -h. */
static int is_centric(const nb_symmetry *sg, const int h[3])
{
    for (int i = 0; i < sg->count; i++) {
        int g[3];
        nb_hR(&sg->ops[i], h, g);
        if (g[0] == -h[0] && g[1] == -h[1] && g[2] == -h[2])
            return 1;
    }
    return 0;
}

/** Intensity of both mates of a centric reflection: square of the mean F of the mates. */
static double centric_intensity(const double I[2])
{
    double F = (sqrt(fmax(I[0], 0)) + sqrt(fmax(I[1], 0))) / 2;
    return F * F;
}

/** Complex F (or I) of both mates of a row. Returns 0 for a row without a value. */
static int mates_of(const nb_expansion_request *r, size_t row, nb_mates *out,
                    size_t *negative)
{
    double phi = at(r->file, r->columns.phase, row) * (M_PI / 180), F[2];
    double c = isnan(phi) ? 1 : cos(phi), s = isnan(phi) ? 0 : sin(phi);
    int has[2];
    if (!values_of(r, row, F, has, negative))
        return 0;
    if (r->columns.intensities && has[0] && has[1] && is_centric(r->sg, r->file->hkl[row]))
        F[0] = F[1] = centric_intensity(F);
    *out = (nb_mates){
        {F[0] * c, F[0] * s}, {F[1] * c, -F[1] * s}, has[0], has[1], !isnan(phi)};
    return 1;
}

/* --- choice of the rows that count --- */

typedef struct work {
    const nb_expansion_request *r;
    const nb_symmetry *sg;
    double G[6], limit; /* metric; limit of s^2, 0 without a limit */
    int H[3];
    size_t *rows; /* owned; rows whose value is used */
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

/** Count a row with a value, and list the row unless it is absent or has d < dmin.
 * is_zero: F is 0. */
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

/** Refuse a large table with few values. A damaged index would make a table of gigabytes;
 * the table of a sound data set is much fuller. */
static nb_status check_box(const work *w, nb_error *err)
{
    const double many = 5e7, sparse = 10000; /* limits: voxels; voxels per value */
    double voxels = 1, values = 2.0 * (double)w->n * fmax(1, w->sg->count);
    for (int i = 0; i < 3; i++)
        voxels *= 2 * w->H[i] + 1;
    if (voxels > many && voxels > sparse * values)
        return nb_fail_at(
            err, NB_ERR_INPUT, w->r->name, 0,
            "its %zu reflections reach h k l of %d %d %d (%.3g A), a table that they "
            "fill to less than 0.01 %%: is an index damaged? give a larger -dmin",
            w->n, w->H[0], w->H[1], w->H[2], w->about->limit);
    return NB_OK;
}

/** Find the limit of the table and make the grid. */
static nb_status make_box(work *w, nb_factor_grid *out, nb_error *err)
{
    nb_status st;
    w->about->dmin = 1 / sqrt(w->s2_max);
    w->about->limit = w->r->dmin > 0 ? w->r->dmin : w->about->dmin;
    w->limit = nb_s_squared_limit(w->about->limit);
    if (w->r->whole_sphere) {
        int H[3];
        nb_index_limits(w->r->cell, w->about->limit, H);
        for (int i = 0; i < 3; i++)
            w->H[i] = H[i] > w->H[i] ? H[i] : w->H[i];
    }
    st = check_box(w, err);
    return st ? st : nb_factor_grid_new(w->r->cell, w->H, out, err);
}

/* --- a file --- */

/** True for a row of the data set in use. Rows of other sets are only counted. */
static int is_of_set(work *w, size_t row)
{
    const int *set = w->r->file->set;
    if (!set)
        return 1;
    if (w->about->set < 0)
        w->about->set = set[row];
    w->about->other_sets += set[row] != w->about->set;
    return set[row] == w->about->set;
}

/** True if F is 0 for both mates. */
static int is_nothing(const nb_expansion_request *r, const nb_mates *m)
{
    if (r->columns.intensities)
        return m->plus[0] <= 0 && m->minus[0] <= 0;
    return !(m->plus[0] || m->plus[1] || m->minus[0] || m->minus[1]);
}

static nb_status find_rows(work *w, nb_error *err)
{
    const nb_expansion_request *r = w->r;
    nb_mates m;
    for (size_t i = 0; i < r->file->count; i++) {
        const int *h = r->file->hkl[i];
        size_t negative = 0;
        nb_status st;
        NB_FORWARD(check_index(h, r->name, err));
        if (mates_of(r, i, &m, &negative) && is_of_set(w, i)) {
            w->about->negative += negative;
            NB_FORWARD(add_row(w, i, h, is_nothing(r, &m), err));
        }
    }
    return NB_OK;
}

/** Gather mates that have a value, then mates that take the value of the other mate. Rows
 * with a phase come before rows without a phase. A dump has all mates and needs only one
 * pass. */
static void gather_file(const work *w, nb_gather *g)
{
    const nb_expansion_request *r = w->r;
    const int phases = r->columns.phase >= 0 ? 2 : 1;
    const int alone = r->file->is_dump && r->columns.minus >= 0 && w->sg->count == 1;
    size_t ignored = 0;
    nb_mates m;
    g->intensities = r->columns.intensities;
    for (int pass = 0; pass < (alone ? 1 : 2) * phases; pass++) {
        const int with_phase = phases - 1 - pass % phases, lent = pass / phases;
        for (size_t i = 0; i < w->n; i++)
            if (mates_of(r, w->rows[i], &m, &ignored) && m.with_phase == with_phase)
                nb_gather_add(g, w->sg, r->file->hkl[w->rows[i]], &m, lent);
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
    for (size_t i = 0; i < w->r->list->count && !st; i++) {
        double F = list_row(w->r->list, i, h)->F;
        st = add_row(w, i, h, F == 0, err);
    }
    return st;
}

/** True if a and b differ by more than 1 %. */
static int differs(double a, double b)
{
    return fabs(a - b) > 0.01 * fabs(b);
}

/** Gather the values of a list. The last row of a reflection gives its value. A
 * reflection without a row gets its value from a symmetry mate, or else from a Friedel
 * mate. */
static void gather_list(work *w, nb_gather *g)
{
    const nb_hkl_list *list = w->r->list;
    size_t kept = w->n;
    int h[3];
    for (size_t i = w->n; i-- > 0;) {
        double F = list_row(list, w->rows[i], h)->F;
        if (nb_gather_set(g, h, F))
            w->rows[--kept] = w->rows[i];
        else
            w->about->replaced +=
                differs(F, g->grid->F[nb_factor_grid_at(g->grid, h[0], h[1], h[2])]);
    }
    for (int lent = 0; lent < 2 && w->sg->count; lent++) {
        for (size_t i = kept; i < w->n; i++) {
            double F = list_row(list, w->rows[i], h)->F;
            nb_gather_add(g, w->sg, h, &(nb_mates){{F, 0}, {F, 0}, 1, 0, 0}, lent);
        }
        w->about->conflicts += nb_gather_finish(g, 0);
    }
}

/* --- files and lists --- */

static void say(const nb_expansion *about, const nb_expansion_request *r)
{
    const nb_reflection_file none = {.n_sets = 0}, *file = r->file ? r->file : &none;
    const nb_hooks *hooks = r->hooks;
    const char *name = r->name;
    if (about->absent_with_value)
        nb_notice(hooks,
                  "%s: the values of %zu systematically absent reflections are ignored",
                  name, about->absent_with_value);
    if (about->negative)
        nb_notice(hooks, "%s: %zu negative amplitudes count as 0", name, about->negative);
    if (about->replaced)
        nb_notice(hooks, NB_REPLACED_F, name, about->replaced);
    if (about->conflicts)
        nb_notice(hooks,
                  "%s: %zu reflections have values that differ by more than 1 %% in "
                  "symmetry mates or duplicates; their mean is used",
                  name, about->conflicts);
    if (about->other_sets)
        nb_notice(
            hooks,
            "%s: it has %d data sets; the one of %s is used, and %zu reflections of "
            "the others are not",
            name, file->n_sets, file->set_name[about->set], about->other_sets);
    if (file->blocks > 1)
        nb_notice(hooks,
                  "%s: %d data blocks have reflections; those of the first are used",
                  name, file->blocks);
    if (file->unreliable)
        nb_notice(hooks,
                  "%s: %zu reflections of status x (unreliable, not used) count as "
                  "missing",
                  name, file->unreliable);
}

static nb_status gather(work *w, nb_factor_grid *grid, nb_error *err)
{
    const nb_expansion_request *r = w->r;
    nb_gather g;
    nb_status st;
    if (!r->list && r->columns.phase >= 0)
        NB_FORWARD(nb_factor_grid_add_phases(grid, err));
    NB_FORWARD(nb_gather_new(grid, &g, err));
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
    about->set = -1;
    w.limit = r->dmin > 0 ? nb_s_squared_limit(r->dmin) : 0;
    NB_TRY(r->list ? find_list_rows(&w, err) : find_rows(&w, err));
    NB_TRY(check_rows(&w, err));
    NB_TRY(make_box(&w, out, err));
    NB_TRY(gather(&w, out, err));
    nb_free(w.rows);
    if (st) {
        nb_factor_grid_free(out);
        return st;
    }
    out->wavelength = r->file ? r->file->wavelength : 0;
    say(about, r);
    return NB_OK;
}
