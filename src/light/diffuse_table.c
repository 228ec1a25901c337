/* SPDX-License-Identifier: MIT */
#include "diffuse_table.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "diffuse_fill.h"
#include "diffuse_look.h"
#include "lattice_sum.h"

enum {
    EDGE = 3,               /* indices of a table beyond what is looked up */
    SHIFTS_MOST = 64,       /* of a table without split halos */
    SPLIT_SHIFTS = 24,      /* of one with them */
    POINTS_LEAST = 20000000 /* of all its forms, that are not too many */
};
#define X_LIMIT 600.0 /* exp(X) has to be a double */
#define STEP_X 0.6    /* of X from one point to the next */
#define SPLIT_STEP                                                                       \
    0.25 /* of a split kernel: u from one point to the next, of the u where it is split */

/** The least order beyond which a share of less than 1e-5 is left. */
static int orders_of(double X)
{
    double n = floor(X) + 1, w;
    if (X < 1e-9)
        return 1;
    for (w = nb_diffuse_weight(n, X) / -expm1(-X); n < 2 || w > 1e-5 * (1 - X / (n + 1));)
        w *= X / ++n;
    return (int)n;
}

/** Points from one index to the next, where halos are split at u (0: they are not). */
static void choose_spacing(const nb_diffuse_table *t, nb_diffuse_part *p, double split)
{
    for (int i = 0; i < 3; i++) {
        double scale = sqrt(p->form.u2[i]);
        double steps_X = 2 * sqrt(p->form.X[i] * t->X_most) / STEP_X;
        int by_u = split > 0 ? (int)ceil(scale / (SPLIT_STEP * split) - 1e-9)
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
static double most_points(const nb_diffuse_table *t, const int reach[3], int shares)
{
    const double room = NB_DIFFUSE_BYTES - nb_lattice_sum_bytes(t->low, t->n, reach);
    const double point = sizeof *t->parts->c, forms = t->model.n_forms;
    return shares ? fmax(room, NB_DIFFUSE_BYTES / 4) / point / (forms * shares + 1)
                  : fmax(POINTS_LEAST / forms, room / point / (forms + 1));
}

/** Split the halos, unless a table of moderate size holds them. */
static void choose_split(const nb_diffuse_table *t, const int reach[3], int shares,
                         nb_diffuse_part *p)
{
    const double most = most_points(t, reach, shares);
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
    for (int i = 0; i < 3; i++) {
        p->low[i] = -reach[i] * p->per[i];
        p->n[i] = 1 - 2 * p->low[i];
    }
}

/** Half of the box about the ellipsoid u^2 = near2, and the polynomials inside. */
static nb_status prepare_near(const nb_diffuse_table *t, nb_diffuse_part *p, nb_error *err)
{
    const double *m = p->form.u2, a = m[0], b = m[1], c = m[2], d = m[3] / 2,
                 e = m[4] / 2, f = m[5] / 2;
    const double det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
    double last = t->model.gauss ? p->near2 : 2.7 * sqrt(p->near2);
    p->half[0] = sqrt(p->near2 * (b * c - f * f) / det);
    p->half[1] = sqrt(p->near2 * (a * c - e * e) / det);
    p->half[2] = sqrt(p->near2 * (a * b - d * d) / det);
    p->near_orders = last < t->orders ? (int)ceil(last) : t->orders;
    p->poly = nb_alloc((size_t)p->near_orders, sizeof *p->poly, "diffuse light", err);
    for (int n = 0; p->poly && n < p->near_orders; n++)
        nb_diffuse_soft(t->model.gauss, n + 1, p->near2, p->poly[n]);
    return p->poly ? NB_OK : NB_ERR_NOMEM;
}

static nb_status make_power(const nb_diffuse_source *s, nb_diffuse_table *t,
                            const nb_diffuse_form *form, double **out, nb_error *err)
{
    const double *F = nb_table_at(s->factors, s->table);
    double *power = nb_alloc_raw((size_t)t->n[0] * (size_t)t->n[1] * (size_t)t->n[2],
                                 sizeof *power, "diffuse light", err);
    *out = power;
    if (!power)
        return NB_ERR_NOMEM;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads)
#endif
    for (int h = 0; h < t->n[0]; h++) {
        size_t i = (size_t)h * (size_t)t->n[1] * (size_t)t->n[2];
        for (int k = 0; k < t->n[1]; k++)
            for (int l = 0; l < t->n[2]; l++, i++)
                power[i] = F[i] == 0
                               ? 0
                               : nb_diffuse_power(&t->model, form, F[i], t->low[0] + h,
                                                  t->low[1] + k, t->low[2] + l);
    }
    return NB_OK;
}

static nb_status make_part(const nb_diffuse_source *s, nb_diffuse_table *t,
                           const int reach[3], nb_diffuse_part *p, nb_error *err)
{
    double *power = NULL;
    nb_status st;
    if (!s->like)
        choose_split(t, reach, s->shares, p);
    st = p->near2 > 0 && !s->shares ? prepare_near(t, p, err) : NB_OK;
    if (!st)
        st = make_power(s, t, &p->form, &power, err);
    if (!st)
        st = nb_diffuse_fill(t, power, s->threads, p, err);
    if (p->near2 > 0 && !s->shares)
        p->power = power;
    else
        nb_free(power);
    return st;
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
        memcpy(p->low, s->like->parts[r].low, sizeof p->low);
        memcpy(p->n, s->like->parts[r].n, sizeof p->n);
        p->near2 = s->like->parts[r].near2;
    }
    if (s->like) {
        t->X_most = s->like->X_most;
        t->orders = s->like->orders;
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
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(s->threads)
#endif
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
        if (!st && p->near2 > 0)
            st = make_power(s, t, &p->form, &p->power, err);
    }
    if (st) {
        nb_diffuse_table_free(t);
        *table = NULL;
    }
    return st;
}

nb_status nb_diffuse_table_new(const nb_diffuse_source *s, nb_diffuse_table **table,
                               nb_error *err)
{
    nb_diffuse_table *t = *table = new_table(s, err);
    double beyond = 0;
    int reach[3];
    nb_status st = t ? NB_OK : NB_ERR_NOMEM;
    if (st)
        return st;
    for (int i = 0; i < 3; i++)
        reach[i] = s->like ? -t->parts->low[i] / t->parts->per[i]
                           : (int)ceil(s->reach * s->edge[i]) + EDGE;
    for (int i = 0; i < 3; i++)
        beyond = fmax(beyond, s->reach + EDGE / s->edge[i]);
    if (!s->like)
        t->X_most = pow(2 * NB_PI * s->model->sigma * beyond, 2);
    st = check_X(s, t, err);
    if (!s->like)
        t->orders = st ? 0 : orders_of(t->X_most);
    for (int r = 0; !st && r < t->model.n_forms; r++)
        st = make_part(s, t, reach, &t->parts[r], err);
    if (st) {
        nb_diffuse_table_free(t);
        *table = NULL;
    }
    return st;
}

double nb_diffuse_table_at(const nb_diffuse_table *t, double h, double k, double l)
{
    return nb_diffuse_look(t, h, k, l);
}

double nb_diffuse_table_bytes(const nb_diffuse_table *t)
{
    double sum = sizeof *t;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        sum += (double)sizeof *p->c * p->n[0] * p->n[1] * p->n[2];
        if (p->power)
            sum += (double)sizeof *p->power * t->n[0] * t->n[1] * t->n[2];
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
