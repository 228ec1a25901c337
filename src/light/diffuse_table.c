/* SPDX-License-Identifier: MIT */
#include "diffuse_table.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "diffuse_fill.h"
#include "diffuse_look.h"
#include "diffuse_orders.h"

enum {
    EDGE = 3,         /* indices of a table beyond what is looked up */
    SHIFTS_MOST = 64, /* of a table without split halos */
    SPLIT_SHIFTS = 24 /* of one with them */
};
#define ORDERS_LEFT 1e-5 /* share of the orders that a table leaves out */
#define X_LIMIT 600.0    /* exp(X) has to be a double */
#define STEP_X 0.6       /* of X from one point to the next */
#define STEP_SMOOTH                                                                      \
    0.32 /* u from one point to the next, of sources that are moved to the points too */
#define BYTES_OF_POINTS 12.8 /* of all forms, so many of which are not too many */
#define UNITS_MOST 2.0    /* indices from one point to the next, where halos are split */
#define TABLE_PART 0.8    /* of the memory, for what is kept */
#define MAKING_PART 0.125 /* and at least, for what makes it */

/** The least order beyond which less than this share is left. */
static int orders_of(double X, double left)
{
    double n = floor(X) + 1, w;
    if (X < 1e-9)
        return 1;
    for (w = nb_diffuse_weight(n, X) / -expm1(-X); n < 2 || w > left * (1 - X / (n + 1));)
        w *= X / ++n;
    return (int)n;
}

/** Points from one index to the next, where halos are split at u (0: they are not). */
static void choose_spacing(const nb_diffuse_table *t, nb_diffuse_part *p, double split)
{
    for (int i = 0; i < 3; i++) {
        double scale = sqrt(p->form.u2[i]);
        double steps_X = 2 * sqrt(p->form.X[i] * t->X_most) / STEP_X;
        int by_u = split > 0 ? (int)ceil(scale / (NB_SPLIT_STEP * split) - 1e-9)
                             : nb_diffuse_points(scale);
        int by_X = (int)ceil(steps_X);
        p->per[i] = by_u > by_X ? by_u : by_X;
        if (p->per[i] < 1)
            p->per[i] = 1;
    }
}

static double points_of(const nb_diffuse_part *p, const int reach[3])
{
    double n = 1;
    for (int i = 0; i < 3; i++)
        n *= 2.0 * reach[i] * p->per[i] + 1;
    return n;
}

/** Points that a form may have. */
static double most_points(const nb_diffuse_table *t, const int reach[3], int shares,
                          double bytes)
{
    const double room = bytes - nb_lattice_sum_bytes(t->low, t->n, reach);
    const double point = sizeof *t->parts->c, forms = t->model.n_forms;
    return shares ? fmax(room, bytes / 4) / point / (forms * shares + 1)
                  : fmax(bytes / BYTES_OF_POINTS / forms, room / point / (forms + 1));
}

/** Bytes of a form's table. */
static double bytes_of(const nb_diffuse_table *t, const nb_diffuse_part *p, int has_power)
{
    double sum = (double)sizeof *p->c * p->n[0] * p->n[1] * p->n[2];
    if (has_power)
        sum += (double)sizeof *p->power * t->n[0] * t->n[1] * t->n[2];
    return sum;
}

/** Split the halos, unless a table of moderate size holds them. */
static void choose_split(const nb_diffuse_table *t, const int reach[3], int shares,
                         double bytes, nb_diffuse_part *p)
{
    const double most = most_points(t, reach, shares, bytes);
    int coarsest[3]; /* beyond which nothing is gained: larger tables, not more halos one by one */
    double shifts;
    choose_spacing(t, p, 1e9);
    memcpy(coarsest, p->per, sizeof coarsest);
    choose_spacing(t, p, 0);
    shifts = (double)p->per[0] * p->per[1] * p->per[2];
    for (double split = 1;
         memcmp(p->per, coarsest, sizeof coarsest) &&
         (shifts > (split > 1 ? SPLIT_SHIFTS : SHIFTS_MOST) || points_of(p, reach) > most);
         split *= 1.1) {
        choose_spacing(t, p, split);
        shifts = (double)p->per[0] * p->per[1] * p->per[2];
        p->near2 = split * split;
    }
}

/** Lay the points, these numbers of indices apart where there is one an index. */
static void lay_points(const int reach[3], const double unit[3], nb_diffuse_part *p)
{
    for (int i = 0; i < 3; i++) {
        p->unit[i] = unit[i];
        p->scale[i] = p->per[i] / unit[i];
        p->low[i] =
            -p->per[i] * (unit[i] > 1 ? (int)ceil(reach[i] / unit[i]) + 1 : reach[i]);
        p->n[i] = 1 - 2 * p->low[i];
    }
}

/** Points further apart than an index, if a table needs that: as far as halos are smooth, or are split further out. */
static void choose_points(const nb_diffuse_table *t, const int reach[3], double bytes,
                          int is_split, nb_diffuse_part *p)
{
    const double most = TABLE_PART * bytes;
    double unit[3] = {1, 1, 1}, far[3], longest = 1;
    lay_points(reach, unit, p);
    for (int i = 0; i < 3; i++) {
        const double steps_X = 2 * sqrt(p->form.X[i] * t->X_most) / STEP_X;
        far[i] = p->per[i] > 1 ? 1 : fmax(1, fmin(UNITS_MOST, 1 / steps_X));
        if (p->near2 == 0)
            far[i] = fmax(1, fmin(far[i], STEP_SMOOTH / sqrt(p->form.u2[i])));
        longest = fmax(longest, far[i]);
    }
    for (double by = 1; bytes_of(t, p, is_split) > most && by < longest; by *= 1.02) {
        for (int i = 0; i < 3; i++)
            unit[i] = fmin(by, far[i]);
        lay_points(reach, unit, p);
    }
    longest = fmax(unit[0], fmax(unit[1], unit[2]));
    p->near2 *= longest * longest;
}

/** Half of the box about the ellipsoid u^2 = near2, and the polynomials inside. */
static nb_status prepare_near(const nb_diffuse_table *t, nb_diffuse_part *p, nb_error *err)
{
    const double last = t->model.gauss ? p->near2 : 2.7 * sqrt(p->near2);
    const int orders = t->model.gauss ? t->faint_orders : t->orders;
    nb_diffuse_half(p->form.u2, p->near2, p->half);
    p->near_orders = last < orders ? (int)ceil(last) : orders;
    p->poly = nb_alloc((size_t)p->near_orders, sizeof *p->poly, "diffuse light", err);
    for (int n = 0; p->poly && n < p->near_orders && n < t->orders; n++)
        nb_diffuse_soft(t->model.gauss, n + 1, p->near2, p->poly[n]);
    return p->poly ? NB_OK : NB_ERR_NOMEM;
}

/** I0 of a table's reflections in one form. */
typedef struct powers {
    const nb_diffuse_table *t;
    const nb_diffuse_form *form;
    const double *F;
} powers;

static void power_row(const void *data, const int at[3], int count, double *out)
{
    const powers *p = data;
    const nb_diffuse_table *t = p->t;
    const double *F =
        p->F + ((size_t)at[0] * (size_t)t->n[1] + (size_t)at[1]) * (size_t)t->n[2] +
        (size_t)at[2];
    for (int l = 0; l < count; l++)
        out[l] = F[l] == 0 ? 0
                           : nb_diffuse_power(&t->model, p->form, F[l], t->low[0] + at[0],
                                              t->low[1] + at[1], t->low[2] + at[2] + l);
}

/** Note the brightest of a row of reflections, and the light in the middle of its halo. */
static void note_brightest(nb_diffuse_table *t, nb_diffuse_part *part, const int at[2],
                           const double *row)
{
    for (int l = 0; l < t->n[2]; l++) {
        const double X = nb_shape_radius2(part->form.X, t->low[0] + at[0],
                                          t->low[1] + at[1], t->low[2] + l);
        const double light = part->form.part * row[l] * -expm1(-X) * pow(fmax(X, 1), -1.5);
        part->most = fmax(part->most, row[l]);
        t->faint = fmax(t->faint, NB_FAINT_LIGHT * light);
    }
}

/** Keep the reflections of a form for sums one by one. */
static nb_status make_power(const nb_diffuse_source *s, nb_diffuse_table *t,
                            nb_diffuse_part *part, nb_error *err)
{
    const powers p = {t, &part->form, nb_table_at(s->factors, s->table)};
    const int rows = t->n[0] * t->n[1], n = t->n[2];
    double *row = nb_alloc_raw((size_t)n, sizeof *row, "diffuse light", err);
    part->power = row ? nb_alloc_large((size_t)rows * (size_t)n, sizeof *part->power,
                                       "diffuse light", err)
                      : NULL;
    for (int i = 0; part->power && i < rows; i++) {
        power_row(&p, (const int[3]){i / t->n[1], i % t->n[1], 0}, n, row);
        note_brightest(t, part, (const int[2]){i / t->n[1], i % t->n[1]}, row);
        for (int l = 0; l < n; l++)
            part->power[(size_t)i * (size_t)n + (size_t)l] = (float)row[l];
    }
    nb_free(row);
    nb_diffuse_half(part->form.u2, 1, part->half_one);
    part->many = 4 * NB_PI / 3 / sqrt(nb_diffuse_det(part->form.u2));
    return part->power ? NB_OK : NB_ERR_NOMEM;
}

/** Are single reflections of a form looked at? */
static int keeps_power(const nb_diffuse_source *s, const nb_diffuse_part *p)
{
    return (s->model->gauss || p->near2 > 0) && !s->shares;
}

static double bytes_allowed(const nb_diffuse_source *s)
{
    return s->bytes > 0 ? s->bytes : NB_DIFFUSE_BYTES;
}

/** Lay the points of a form; returns the bytes of all forms and of the tables that share the memory. */
static double plan_part(const nb_diffuse_source *s, const nb_diffuse_table *t,
                        const int reach[3], nb_diffuse_part *p)
{
    const double tables = t->model.n_forms * (s->shares > 1 ? s->shares : 1);
    if (!s->like) {
        choose_split(t, reach, s->shares, bytes_allowed(s), p);
        choose_points(t, reach, bytes_allowed(s) / tables, keeps_power(s, p), p);
    }
    return tables * bytes_of(t, p, keeps_power(s, p));
}

static nb_status make_part(const nb_diffuse_source *s, nb_diffuse_table *t,
                           const int reach[3], nb_diffuse_part *p, nb_error *err)
{
    const powers of = {t, &p->form, nb_table_at(s->factors, s->table)};
    const double kept = plan_part(s, t, reach, p), bytes = bytes_allowed(s);
    const int is_split = p->near2 > 0 && !s->shares;
    nb_lattice_source sources = {.row = power_row, .data = &of};
    nb_status st = is_split ? prepare_near(t, p, err) : NB_OK;
    memcpy(sources.low, t->low, sizeof sources.low);
    memcpy(sources.n, t->n, sizeof sources.n);
    if (!st)
        st = nb_diffuse_fill(t, &sources, fmax(MAKING_PART * bytes, bytes - kept),
                             s->threads, p, err);
    return st || !keeps_power(s, p) ? st : make_power(s, t, p, err);
}

/** Largest X of a reflection that counts. */
static double sources_X(const nb_diffuse_source *s, const nb_diffuse_form *form)
{
    const nb_factor_table *f = s->factors;
    const double *F = nb_table_at(f, s->table);
    double most = 0;
    for (int h = 0; h < f->nh; h++)
        for (int k = 0; k < f->nk; k++)
            for (int l = 0; l < f->nl; l++)
                if (*F++ != 0)
                    most = fmax(most, nb_shape_radius2(form->X, f->hmin + h, f->kmin + k,
                                                       f->lmin + l));
    return most;
}

static nb_status check_X(const nb_diffuse_source *s, const nb_diffuse_table *t,
                         nb_error *err)
{
    double X = t->X_most;
    for (int r = 0; r < t->model.n_forms && !t->model.unperturbed; r++)
        X = fmax(X, sources_X(s, &t->model.forms[r]));
    return X < X_LIMIT ? NB_OK
                       : nb_fail(err, NB_ERR_INPUT,
                                 "-diffuse_sigma: X = 4 pi^2 sigma^2/d^2 reaches %.3g, "
                                 "above %g: give a smaller one, or -dmin",
                                 X, X_LIMIT);
}

/** A table of a source, without its parts' points: those of `like` are where its are. */
static nb_diffuse_table *new_table(const nb_diffuse_source *s, nb_error *err)
{
    const nb_factor_table *f = s->factors;
    nb_diffuse_table *t = nb_alloc(1, sizeof *t, "diffuse light", err);
    if (!t)
        return NULL;
    t->model = *s->model;
    t->reach = s->reach;
    memcpy(t->low, (int[3]){f->hmin, f->kmin, f->lmin}, sizeof t->low);
    memcpy(t->n, (int[3]){f->nh, f->nk, f->nl}, sizeof t->n);
    for (int r = 0; r < t->model.n_forms; r++) {
        nb_diffuse_part *p = &t->parts[r];
        p->form = t->model.forms[r];
        if (!s->like)
            continue;
        memcpy(p->per, s->like->parts[r].per, sizeof p->per);
        memcpy(p->unit, s->like->parts[r].unit, sizeof p->unit);
        memcpy(p->scale, s->like->parts[r].scale, sizeof p->scale);
        memcpy(p->low, s->like->parts[r].low, sizeof p->low);
        memcpy(p->n, s->like->parts[r].n, sizeof p->n);
        p->near2 = s->like->parts[r].near2;
    }
    if (s->like) {
        t->X_most = s->like->X_most;
        t->orders = s->like->orders;
        t->faint_orders = s->like->faint_orders;
    }
    return t;
}

/** Points first to end of the sum of part r of tables: by fours, as the tables wait for memory. */
static void sum_run(nb_diffuse_table *const *of, const double *weight, int n, int r,
                    ptrdiff_t first, ptrdiff_t end, float *c)
{
    ptrdiff_t k = first;
    for (; k + 4 <= end; k += 4) {
        nb_light_four sum = {0};
        for (int i = 0; i < n; i++)
            sum += (float)weight[i] *
                   *(const nb_light_four_anywhere *)(of[i]->parts[r].c + k);
        *(nb_light_four_anywhere *)(c + k) = sum;
    }
    for (; k < end; k++) {
        c[k] = 0;
        for (int i = 0; i < n; i++)
            c[k] += (float)weight[i] * of[i]->parts[r].c[k];
    }
}

/** The sum of the points of part r of tables. */
static nb_status sum_points(const nb_diffuse_source *s, nb_diffuse_table *const *of,
                            const double *weight, int n, int r, nb_diffuse_part *p,
                            nb_error *err)
{
    enum { RUN = 4096 };
    const ptrdiff_t points = (ptrdiff_t)p->n[0] * p->n[1] * p->n[2] + NB_DIFFUSE_BEHIND;
    p->c = nb_alloc_large((size_t)points, sizeof *p->c, "diffuse light", err);
    if (!p->c)
        return NB_ERR_NOMEM;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (ptrdiff_t first = 0; first < points; first += RUN)
        sum_run(of, weight, n, r, first, points - first < RUN ? points : first + RUN,
                p->c);
    return NB_OK;
}

nb_status nb_diffuse_table_blend(const nb_diffuse_source *s, nb_diffuse_table *const *of,
                                 const double *weight, int n, nb_diffuse_table **table,
                                 nb_error *err)
{
    nb_diffuse_table *t = *table = new_table(s, err);
    nb_status st = t ? NB_OK : NB_ERR_NOMEM;
    for (int r = 0; !st && r < t->model.n_forms; r++) {
        nb_diffuse_part *p = &t->parts[r];
        st = sum_points(s, of, weight, n, r, p, err);
        if (!st && p->near2 > 0)
            st = prepare_near(t, p, err);
        if (!st && keeps_power(s, p))
            st = make_power(s, t, p, err);
    }
    if (st) {
        nb_diffuse_table_free(t);
        *table = NULL;
    }
    return st;
}

/** Indices that it reaches, its largest X and its orders. */
static void set_reach(const nb_diffuse_source *s, nb_diffuse_table *t, int reach[3])
{
    double beyond = 0;
    for (int i = 0; i < 3; i++)
        reach[i] = (int)ceil(s->reach * s->edge[i]) + EDGE;
    for (int i = 0; i < 3; i++)
        beyond = fmax(beyond, s->reach + EDGE / s->edge[i]);
    if (!s->like)
        t->X_most = pow(2 * NB_PI * s->model->sigma * beyond, 2);
}

nb_status nb_diffuse_table_new(const nb_diffuse_source *s, nb_diffuse_table **table,
                               nb_error *err)
{
    nb_diffuse_table *t = *table = new_table(s, err);
    int reach[3];
    nb_status st = t ? NB_OK : NB_ERR_NOMEM;
    if (st)
        return st;
    set_reach(s, t, reach);
    st = check_X(s, t, err);
    if (!st && !s->like) {
        t->orders = orders_of(t->X_most, ORDERS_LEFT);
        t->faint_orders = orders_of(t->X_most, NB_FAINT_SHARE);
    }
    for (int r = 0; !st && r < t->model.n_forms; r++)
        st = make_part(s, t, reach, &t->parts[r], err);
    if (st) {
        nb_diffuse_table_free(t);
        *table = NULL;
    }
    return st;
}

double nb_diffuse_table_needs(const nb_diffuse_source *s)
{
    nb_diffuse_table *t = new_table(s, NULL);
    double bytes = 0;
    int reach[3];
    if (t && t->model.n_forms > 0) {
        set_reach(s, t, reach);
        bytes = plan_part(s, t, reach, t->parts) + MAKING_PART * bytes_allowed(s);
    }
    nb_diffuse_table_free(t);
    return bytes;
}

double nb_diffuse_table_bytes(const nb_diffuse_table *t)
{
    double sum = sizeof *t;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        sum += bytes_of(t, p, p->power != NULL);
    }
    return sum;
}

void nb_diffuse_table_free(nb_diffuse_table *t)
{
    if (!t)
        return;
    for (int r = 0; r < NB_DIFFUSE_FORMS; r++) {
        nb_free(t->parts[r].c);
        nb_free(t->parts[r].power);
        nb_free(t->parts[r].poly);
    }
    nb_free(t);
}
