/* SPDX-License-Identifier: MIT */
#include "diffuse_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/stop.h"
#include "../base/threads.h"
#include "diffuse_look.h"

enum {
    EDGE = 3,   /* number of indices that a table adds outside of the reach */
    SHIFTS = 32 /* limit of the points per index cell, except in the coarsest grid */
};
#define POINTS 16e6      /* limit of the points of all forms: 64 MB, some core seconds */
#define ORDERS_LEFT 1e-5 /* share of the orders that are left out */
#define X_LIMIT 600.0    /* limit of X, so that exp(X) is finite */
/* largest u from point to point, for an error of 3e-3 of an isolated halo */
#define STEP_WHOLE 0.5
/* Ratio of the step to the u inside of which halos are soft, for an error of 1e-3 among
 * halos of different strength */
#define STEP_SOFT 0.3
/* largest wanted ratio between the steps along different axes */
#define STEP_ALIKE 1.25
/* limit of the memory for simultaneous sums, without the first */
#define WIDER_BYTES 256e6

/** Smallest order above which all orders together have less than the share `left`. */
static int orders_of(double X, double left)
{
    double n = floor(X) + 1, w;
    if (X < 1e-9)
        return 1;
    for (w = nb_diffuse_weight(n, X) / -expm1(-X); n < 2 || w > left * (1 - X / (n + 1));)
        w *= X / ++n;
    return (int)n;
}

/* --- plan of a table --- */

/** Lay out points with similar steps along the axes: the coarsest grid (m = 1), or a grid
 * m times as fine. Returns the longest step in u. */
static double lay_points(const int reach[3], int m, nb_diffuse_part *p)
{
    double u[3], least, longest = 0;
    for (int i = 0; i < 3; i++)
        u[i] = sqrt(p->form.u2[i]);
    least = fmax(STEP_WHOLE / STEP_ALIKE, fmin(u[0], fmin(u[1], u[2])) / m);
    for (int i = 0; i < 3; i++) {
        p->per[i] = (int)fmax(1, ceil(u[i] / (STEP_ALIKE * least) - 1e-9));
        p->low[i] = -p->per[i] * reach[i];
        p->n[i] = 1 - 2 * p->low[i];
        longest = fmax(longest, u[i] / p->per[i]);
    }
    return longest;
}

static size_t points_of(const nb_diffuse_part *p)
{
    return (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
}

static int shifts_of(const nb_diffuse_part *p)
{
    return p->per[0] * p->per[1] * p->per[2];
}

/** Choose the points for a grid of whole halos, within the limits. If its steps are too
 * long, set near2, so that the grid has soft halos. */
static void choose_points(const int reach[3], double points, nb_diffuse_part *p)
{
    double longest = lay_points(reach, 1, p);
    for (int m = 2; longest > STEP_WHOLE; m++) {
        nb_diffuse_part more = *p;
        const double step = lay_points(reach, m, &more);
        if ((double)points_of(&more) > points || shifts_of(&more) > SHIFTS)
            break;
        *p = more;
        longest = step;
    }
    if (longest > STEP_WHOLE)
        p->near2 = longest * longest / STEP_SOFT / STEP_SOFT;
}

/** Largest u^2 between a point and a reflection. */
static double farthest2(const nb_diffuse_table *t, const nb_diffuse_part *p,
                        const int reach[3])
{
    double u = 0;
    for (int i = 0; i < 3; i++)
        u += sqrt(p->form.u2[i]) *
             (reach[i] + 1 + fmax(abs(t->low[i]), abs(t->low[i] + t->n[i] - 1)));
    return u * u;
}

static void plan_part(const nb_diffuse_source *s, const nb_diffuse_table *t,
                      const int reach[3], nb_diffuse_part *p)
{
    if (!s->direct)
        choose_points(reach, POINTS / t->model.n_forms, p);
    else if (!t->model.gauss) /* sums of Gaussian orders need no limit of X */
        p->near2 = farthest2(t, p, reach);
    if (p->near2 > 0) {
        nb_diffuse_half(p->form.u2, p->near2, p->half);
        p->columns = nb_curve_columns(p->near2);
    }
    nb_diffuse_half(p->form.u2, 1, p->half_one);
    p->many = 4 * NB_PI / 3 / sqrt(nb_diffuse_det(p->form.u2));
}

static size_t box_of(const nb_diffuse_table *t)
{
    return (size_t)t->n[0] * (size_t)t->n[1] * (size_t)t->n[2];
}

static void clear_table(void *object)
{
    nb_diffuse_table *t = object;
    for (int r = 0; r < NB_DIFFUSE_FORMS; r++) {
        nb_free(t->parts[r].c);
        nb_free(t->parts[r].power);
        nb_free(t->parts[r].near);
    }
}

/** Make a table whose points are planned but have no values yet. reach: largest indices
 * of the points. */
static nb_diffuse_table *plan_table(const nb_diffuse_source *s, int reach[3],
                                    nb_error *err)
{
    const nb_factor_table *f = s->factors;
    nb_diffuse_table *t = nb_shared_new(sizeof *t, clear_table, "diffuse light", err);
    double beyond = 0;
    if (!t)
        return NULL;
    t->model = *s->model;
    t->reach = s->reach;
    memcpy(t->low, (int[3]){f->hmin, f->kmin, f->lmin}, sizeof t->low);
    memcpy(t->n, (int[3]){f->nh, f->nk, f->nl}, sizeof t->n);
    for (int i = 0; i < 3; i++) {
        reach[i] = (int)ceil(s->reach * s->edge[i]) + EDGE;
        beyond = fmax(beyond, s->reach + EDGE / s->edge[i]);
    }
    t->X_max = pow(2 * NB_PI * t->model.sigma * beyond, 2);
    t->rows_per = (NB_NEAR_ROWS - 1) / log1p(t->X_max / NB_DIFFUSE_X_UNIT);
    for (int r = 0; r < t->model.n_forms; r++) {
        t->parts[r].form = t->model.forms[r];
        plan_part(s, t, reach, &t->parts[r]);
    }
    return t;
}

/** Number of simultaneous sums for the threads, the jobs and the memory. */
static int places_of(const nb_diffuse_source *s, const nb_diffuse_table *t,
                     const nb_diffuse_part *p, const int reach[3])
{
    const int jobs = nb_diffuse_terms_count(t->model.gauss, t->X_max) * shifts_of(p);
    const double each = nb_lattice_sum_bytes(t->low, t->n, reach);
    return (int)fmin(fmin(s->threads, jobs),
                     fmin(1 + floor(WIDER_BYTES / each), NB_LATTICE_PLACES));
}

double nb_diffuse_table_needs(const nb_diffuse_source *s)
{
    int reach[3];
    nb_diffuse_table *t = plan_table(s, reach, NULL);
    double bytes = 0;
    if (!t)
        return 0;
    for (int r = 0; r < t->model.n_forms; r++)
        bytes +=
            (double)sizeof(float) * ((double)points_of(&t->parts[r]) + (double)box_of(t));
    if (!s->direct && t->X_max < X_LIMIT && t->model.n_forms > 0)
        bytes += nb_lattice_sum_bytes(t->low, t->n, reach) *
                 (1 + places_of(s, t, t->parts, reach));
    nb_shared_drop(t);
    return bytes;
}

double nb_diffuse_table_bytes(const nb_diffuse_table *t)
{
    double sum = sizeof *t;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        sum += sizeof(float) * ((double)points_of(p) + (p->power ? (double)box_of(t) : 0) +
                                (double)NB_NEAR_ROWS * p->columns);
    }
    return sum;
}

/* --- reflections of a table --- */

/** Largest X of a reflection with F other than 0. */
static double sources_X(const nb_diffuse_source *s, const nb_diffuse_form *form)
{
    const nb_factor_table *f = s->factors;
    const double *F = nb_table_at(f, s->table);
    double largest = 0;
    for (int h = 0; h < f->nh; h++)
        for (int k = 0; k < f->nk; k++)
            for (int l = 0; l < f->nl; l++)
                if (*F++ != 0)
                    largest = fmax(largest, nb_shape_radius2(form->X, f->hmin + h,
                                                             f->kmin + k, f->lmin + l));
    return largest;
}

static nb_status check_X(const nb_diffuse_source *s, const nb_diffuse_table *t,
                         nb_error *err)
{
    double X = t->X_max;
    for (int r = 0; r < t->model.n_forms && !t->model.unperturbed; r++)
        X = fmax(X, sources_X(s, &t->model.forms[r]));
    return X < X_LIMIT ? NB_OK
                       : nb_fail(err, NB_ERR_INPUT,
                                 "-diffuse_sigma: X = 4 pi^2 sigma^2/d^2 reaches %.3g, "
                                 "above %g: give a smaller one, or -dmin",
                                 X, X_LIMIT);
}

/** I0 of the reflections of row at[0], at[1] of the box. */
static void power_row(const nb_diffuse_source *s, const nb_diffuse_table *t,
                      const nb_diffuse_form *form, const int at[2], double *row)
{
    const size_t first =
        ((size_t)at[0] * (size_t)t->n[1] + (size_t)at[1]) * (size_t)t->n[2];
    const double *F = nb_table_at(s->factors, s->table) + first;
    for (int l = 0; l < t->n[2]; l++)
        row[l] = F[l] == 0 ? 0
                           : nb_diffuse_power(&t->model, form, F[l], t->low[0] + at[0],
                                              t->low[1] + at[1], t->low[2] + l);
}

/** I0 of all reflections of a form, divided by the largest I0, and set t->faint. */
static nb_status make_power(const nb_diffuse_source *s, nb_diffuse_table *t,
                            nb_diffuse_part *p, nb_error *err)
{
    const int rows = t->n[0] * t->n[1], n = t->n[2];
    double *row = nb_alloc_raw((size_t)n, sizeof *row, "diffuse light", err);
    p->power =
        row ? nb_alloc_large(box_of(t), sizeof *p->power, "diffuse light", err) : NULL;
    for (int turn = 0; p->power && turn < 2; turn++)
        for (int i = 0; i < rows; i++) {
            const int at[2] = {i / t->n[1], i % t->n[1]};
            power_row(s, t, &p->form, at, row);
            for (int l = 0; l < n && turn == 0; l++) {
                const double X = nb_shape_radius2(p->form.X, t->low[0] + at[0],
                                                  t->low[1] + at[1], t->low[2] + l);
                const double middle = -expm1(-X) * pow(fmax(X, 1), -1.5);
                p->largest = fmax(p->largest, row[l]);
                t->faint = fmax(t->faint, NB_FAINT_LIGHT * p->form.part * row[l] * middle);
            }
            for (int l = 0; l < n && turn == 1; l++)
                p->power[(size_t)i * (size_t)n + (size_t)l] =
                    (float)(p->largest > 0 ? row[l] / p->largest : 0);
        }
    nb_free(row);
    return p->power ? NB_OK : NB_ERR_NOMEM;
}

/* --- grid of a table --- */

/** Data to make the grid of a form. */
typedef struct filling {
    nb_diffuse_part *p;
    nb_diffuse_terms terms;
    nb_lattice_sum sum;
    int threads, reach[3];
    nb_asking *asking;
} filling;

/** Kernel of a term. */
typedef struct kernel {
    const double *u2, *curve;
} kernel;

static void kernel_row(const void *data, const double x[3], int n, double *out)
{
    const kernel *k = data;
    const double *m = k->u2;
    const double a = m[0] * x[0] * x[0] + m[1] * x[1] * x[1] + m[3] * x[0] * x[1];
    const double b = m[4] * x[0] + m[5] * x[1];
    for (int i = 0; i < n; i++) {
        const double l = x[2] + i;
        float part;
        const double *c = k->curve + nb_curve_at((float)(a + l * (b + m[2] * l)), &part);
        out[i] = c[0] + (double)part * (c[1] - c[0]);
    }
}

/** Add a row of sums of a term at the points of a shift, times the term's share at each
 * point's X. */
static void add_row(const filling *f, int place, int term, const int at[2],
                    const int shift[3])
{
    const nb_diffuse_part *p = f->p;
    const double *row = nb_lattice_sum_row(&f->sum, place, at[0], at[1]), *m = p->form.X;
    const float *share = f->terms.share + (size_t)term * (NB_TERM_SHARES + 1);
    const int point[2] = {at[0] * p->per[0] + shift[0], at[1] * p->per[1] + shift[1]};
    const double x = (double)point[0] / p->per[0], y = (double)point[1] / p->per[1];
    const double a = m[0] * x * x + m[1] * y * y + m[3] * x * y, b = m[4] * x + m[5] * y;
    float *c = p->c + ((size_t)(point[0] - p->low[0]) * (size_t)p->n[1] +
                       (size_t)(point[1] - p->low[1])) *
                          (size_t)p->n[2];
    for (int l = -f->reach[2]; l <= f->reach[2] - (shift[2] > 0); l++) {
        const double z = l + (double)shift[2] / p->per[2];
        c[l * p->per[2] + shift[2] - p->low[2]] +=
            nb_diffuse_share(share, (a + z * (b + m[2] * z)) * f->terms.per) *
            (float)row[l < 0 ? l + f->sum.period[2] : l];
    }
}

static void add_term(const filling *f, int place, int term, const int shift[3])
{
    const int last = f->reach[0] - (shift[0] > 0), right = f->reach[1] - (shift[1] > 0);
#pragma omp parallel for schedule(static) num_threads(f->threads)
    for (int h = -f->reach[0]; h <= last; h++)
        for (int k = -f->reach[1]; k <= right && !nb_stop_asked(f->asking); k++)
            add_row(f, place, term, (const int[2]){h, k}, shift);
}

/** Term and shift of job i. */
static int term_of(const filling *f, int i, int shift[3])
{
    const int *per = f->p->per, k = i / f->terms.n;
    shift[0] = k / (per[1] * per[2]);
    shift[1] = k / per[2] % per[1];
    shift[2] = k % per[2];
    return i % f->terms.n;
}

static void make_sum(const filling *f, int place, int job)
{
    int shift[3];
    const size_t term = (size_t)term_of(f, job, shift);
    const kernel own = {f->p->form.u2, f->terms.kernel + term * (size_t)f->terms.columns};
    double x[3];
    for (int i = 0; i < 3; i++)
        x[i] = (double)shift[i] / f->p->per[i];
    nb_lattice_sum_make(&f->sum, place, kernel_row, &own, x);
}

/** Make several sums at the same time, and add them to the grid in a fixed order. */
static nb_status fill_points(const filling *f, nb_error *err)
{
    const int jobs = f->terms.n * shifts_of(f->p);
    for (int first = 0; first < jobs; first += f->sum.places) {
        const int left = jobs - first, n = left < f->sum.places ? left : f->sum.places;
#pragma omp parallel for schedule(static, 1) num_threads(n) if (n > 1)
        for (int k = 0; k < n; k++)
            if (!nb_stop_asked(f->asking))
                make_sum(f, k, first + k);
        for (int k = 0; k < n; k++) {
            int shift[3];
            const int term = term_of(f, first + k, shift);
            add_term(f, k, term, shift);
        }
    }
    return nb_stop_status(f->asking, err);
}

static nb_status fill_grid(const nb_diffuse_source *s, const nb_diffuse_table *t,
                           const int reach[3], nb_diffuse_part *p, nb_error *err)
{
    filling f = {.p = p, .threads = s->threads, .asking = nb_asking_now()};
    nb_status st;
    memcpy(f.reach, reach, sizeof f.reach);
    p->c = nb_alloc_large(points_of(p) + NB_DIFFUSE_BEHIND, sizeof *p->c, "diffuse light",
                          err);
    if (!p->c)
        return NB_ERR_NOMEM;
    memset(p->c, 0, (points_of(p) + NB_DIFFUSE_BEHIND) * sizeof *p->c);
    st = nb_diffuse_terms_new(t->model.gauss, t->X_max, p->near2, farthest2(t, p, reach),
                              &f.terms, err);
    NB_TRY(nb_lattice_sum_new(p->power, t->low, t->n, reach, places_of(s, t, p, reach),
                              s->threads, &f.sum, err));
    NB_TRY(fill_points(&f, err));
    nb_lattice_sum_clear(&f.sum);
    nb_diffuse_terms_clear(&f.terms);
    if (!st)
        nb_spline_of(p->c, p->n, s->threads);
    return st;
}

static nb_status make_part(const nb_diffuse_source *s, nb_diffuse_table *t,
                           const int reach[3], nb_diffuse_part *p, nb_error *err)
{
    const int gauss = t->model.gauss;
    nb_status st = make_power(s, t, p, err);
    if (!st && !s->direct)
        st = fill_grid(s, t, reach, p, err);
    if (!st && p->near2 > 0) {
        p->near = nb_alloc_raw((size_t)NB_NEAR_ROWS * (size_t)p->columns, sizeof *p->near,
                               "diffuse light", err);
        if (!p->near)
            return NB_ERR_NOMEM;
        nb_diffuse_near_rows(gauss, t->X_max, s->direct ? 0 : p->near2, p->columns,
                             s->threads, p->near);
    } else if (!gauss) {
        nb_free(p->power);
        p->power = NULL;
    }
    return st;
}

/** Refuse a table that needs more than half of the free memory. */
static nb_status check_memory(const nb_diffuse_source *s, nb_error *err)
{
    const double needs = nb_diffuse_table_needs(s), room = nb_free_memory();
    return !(needs > room / 2)
               ? NB_OK
               : nb_fail(err, NB_ERR_NOMEM,
                         "-diffuse_sigma: the table of diffuse light needs %.3g GB, more "
                         "than half of the %.3g GB that are free; -dmin makes it smaller",
                         needs / 1e9, room / 1e9);
}

nb_status nb_diffuse_table_new(const nb_diffuse_source *s, nb_diffuse_table **table,
                               nb_error *err)
{
    int reach[3];
    nb_status st = check_memory(s, err);
    nb_diffuse_table *t = *table = st ? NULL : plan_table(s, reach, err);
    if (!st && !t)
        st = NB_ERR_NOMEM;
    NB_TRY(check_X(s, t, err));
    if (!st) {
        t->orders = orders_of(t->X_max, ORDERS_LEFT);
        t->faint_orders = orders_of(t->X_max, NB_FAINT_SHARE);
    }
    for (int r = 0; !st && r < t->model.n_forms; r++)
        st = make_part(s, t, reach, &t->parts[r], err);
    if (st) {
        nb_shared_drop(t);
        *table = NULL;
    }
    return st;
}
