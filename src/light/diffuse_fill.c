/* SPDX-License-Identifier: MIT */
#include "diffuse_fill.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/threads.h"
#include "lattice_sum.h"
#include "spline.h"

/* u from one point to the next: a spline errs by 1e-3 of a halo then (r.m.s. about one halo alone). */
#define STEP_U 0.42

enum {
    EVERY_ORDER = 12, /* that are summed one by one */
    NODES = 64,
    WEIGHTS = 8192 /* steps in X of the table of weights */
};

int nb_diffuse_points(double scale)
{
    double n = ceil(scale / STEP_U - 1e-9);
    return n < 1 ? 1 : n < 1e6 ? (int)n : 1000000;
}

void nb_diffuse_soft(int gauss, double n, double near2, double poly[NB_DIFFUSE_DEGREE + 1])
{
    double value = nb_diffuse_kernel(gauss, n, near2), power = 1;
    for (int j = 0; j <= NB_DIFFUSE_DEGREE; j++) {
        poly[j] = value * (gauss ? power : (j + 1) * power);
        power *= gauss ? 1 / (2 * n * (j + 1)) : 1 / (n * n + near2);
    }
}

/** The orders that are summed, and for each X the share of their sums. */
typedef struct nodes {
    int count;
    double n[NODES];
    double step;  /* of X */
    float *share; /* owned; [count][WEIGHTS + 1] */
} nodes;

/** A grid of points in one order. */
typedef struct grid {
    int per[3], low[3], n[3];
    float *at; /* owned */
} grid;

typedef struct kernel {
    const double *u2;
    int gauss;
    double n, near2;
    double poly[NB_DIFFUSE_DEGREE + 1];
} kernel;

static void kernel_row(const void *data, const double x[3], int n, double *out)
{
    const kernel *k = data;
    const double *m = k->u2;
    const double a = m[0] * x[0] * x[0] + m[1] * x[1] * x[1] + m[3] * x[0] * x[1];
    const double b = m[4] * x[0] + m[5] * x[1], near2 = k->near2;
    for (int i = 0; i < n; i++) {
        double l = x[2] + i, u2 = a + l * (b + m[2] * l), far = u2 > near2 ? u2 : near2;
        double y = near2 - u2, soft = 0;
        y = y > 0 ? y : 0;
        for (int j = NB_DIFFUSE_DEGREE; j > 0; j--)
            soft = (soft + k->poly[j]) * y;
        out[i] = nb_diffuse_kernel(k->gauss, k->n, far) + soft;
    }
}

/** Weight of order n as a part of 1 - exp(-X); times[n] = X^n/n!. */
static double share_of(double n, double X)
{
    if (X < 1e-9)
        return n == 1 ? 1 : 0;
    return nb_diffuse_weight(n, X) / -expm1(-X);
}

/** Orders between the nodes take the cubic through four of them over log n. */
static void spread_order(const nodes *to, double n, int i, double weight)
{
    int first = 0, four = to->count < 4 ? to->count : 4;
    while (first + four < to->count && to->n[first + 2] <= n)
        first++;
    for (int j = 0; j < four; j++) {
        double w = weight;
        for (int m = 0; m < four; m++)
            if (m != j)
                w *= log(n / to->n[first + m]) / log(to->n[first + j] / to->n[first + m]);
        to->share[(size_t)(first + j) * (WEIGHTS + 1) + (size_t)i] += (float)w;
    }
}

static nb_status make_nodes(double X_most, int orders, int threads, nodes *out,
                            nb_error *err)
{
    (void)threads;
    out->count = 0;
    for (double n = 1; out->count < NODES;
         n = n < EVERY_ORDER ? n + 1 : fmax(n + 2, floor(1.2 * n))) {
        out->n[out->count++] = n;
        if (n >= orders)
            break;
    }
    out->step = X_most / WEIGHTS;
    out->share = nb_alloc((size_t)out->count * (WEIGHTS + 1), sizeof *out->share,
                          "orders of diffuse light", err);
    if (!out->share)
        return NB_ERR_NOMEM;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (int i = 0; i <= WEIGHTS; i++)
        for (int n = 1; n <= orders; n++) {
            double w = share_of(n, i * out->step);
            if (w > 1e-9)
                spread_order(out, n, i, w);
        }
    return NB_OK;
}

static nb_status new_grid(const int per[3], const int reach[3], grid *g, nb_error *err)
{
    for (int i = 0; i < 3; i++) {
        g->per[i] = per[i];
        g->low[i] = -reach[i] * per[i];
        g->n[i] = 2 * reach[i] * per[i] + 1;
    }
    g->at = nb_alloc_large((size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2] +
                               NB_DIFFUSE_BEHIND,
                           sizeof *g->at, "diffuse light", err);
    return g->at ? NB_OK : NB_ERR_NOMEM;
}

static size_t place(const grid *g, int h, int k, int l)
{
    return ((size_t)(h - g->low[0]) * (size_t)g->n[1] + (size_t)(k - g->low[1])) *
               (size_t)g->n[2] +
           (size_t)(l - g->low[2]);
}

/** Sums of one shift into the grid; with a centre, of the opposite one too. */
static void take_shift(const nb_lattice_sum *sum, int place_of_sum, const int shift[3],
                       int centred, const grid *g)
{
    int reach[3];
    for (int i = 0; i < 3; i++) /* the last index has no shifted points */
        reach[i] = -g->low[i] / g->per[i] - (shift[i] > 0);
    for (int h = g->low[0] / g->per[0]; h <= reach[0]; h++)
        for (int k = g->low[1] / g->per[1]; k <= reach[1]; k++) {
            const double *row = nb_lattice_sum_row(sum, place_of_sum, h, k);
            for (int l = g->low[2] / g->per[2]; l <= reach[2]; l++) {
                int at[3] = {h * g->per[0] + shift[0], k * g->per[1] + shift[1],
                             l * g->per[2] + shift[2]};
                float value = (float)row[l < 0 ? l + nb_lattice_sum_period(sum) : l];
                g->at[place(g, at[0], at[1], at[2])] = value;
                if (centred)
                    g->at[place(g, -at[0], -at[1], -at[2])] = value;
            }
        }
}

/** Does the opposite shift come before this one? */
static int is_second(const int shift[3], const int per[3])
{
    for (int i = 0; i < 3; i++) {
        int other = (per[i] - shift[i]) % per[i];
        if (other != shift[i])
            return other < shift[i];
    }
    return 0;
}

/** Point j of a line `per` of a line of coefficients. */
static int coarse_place(const grid *from, const grid *to, int axis, int j,
                        float w[NB_SPLINE_TERMS])
{
    double y =
        (double)(to->low[axis] + j) / to->per[axis] * from->per[axis] - from->low[axis];
    return nb_spline_at(y, from->n[axis], w);
}

/** out[i] = the sum of w[j] times row j. */
static void weigh(const float *const row[NB_SPLINE_TERMS], const float *w, size_t n,
                  float *out)
{
    const float *a = row[0], *b = row[1], *c = row[2], *d = row[3], *e = row[4],
                *f = row[5];
#ifdef _OPENMP
#pragma omp simd
#endif
    for (size_t i = 0; i < n; i++)
        out[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i] + w[4] * e[i] +
                 w[5] * f[i];
}

/** A line along the last axis, then lines along the second: one plane of coefficients becomes finer. */
static void refine_plane(const grid *from, const grid *to, const float *plane,
                         float *scratch, float *out)
{
    size_t wide = (size_t)to->n[2], row = (size_t)from->n[2];
    const float *rows[NB_SPLINE_TERMS];
    float w[NB_SPLINE_TERMS];
    for (size_t l = 0; l < wide; l++) {
        int at = coarse_place(from, to, 2, (int)l, w);
        for (int k = 0; k < from->n[1]; k++) {
            const float *c = plane + (size_t)k * row + at;
            scratch[(size_t)k * wide + l] = w[0] * c[0] + w[1] * c[1] + w[2] * c[2] +
                                            w[3] * c[3] + w[4] * c[4] + w[5] * c[5];
        }
    }
    for (int k = 0; k < to->n[1]; k++) {
        const float *c = scratch + (size_t)coarse_place(from, to, 1, k, w) * wide;
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            rows[j] = c + (size_t)j * wide;
        weigh(rows, w, wide, out + (size_t)k * wide);
    }
}

/** Add a plane of an order's sums, each with the share that X gives it. */
static void add_plane(const nb_diffuse_form *form, const nodes *orders, int node,
                      const grid *to, int h, const float *sums, float *acc)
{
    const float *share = orders->share + (size_t)node * (WEIGHTS + 1);
    const double *m = form->X, per = 1 / orders->step;
    double x = (double)(to->low[0] + h) / to->per[0];
    for (int k = 0; k < to->n[1]; k++) {
        double y = (double)(to->low[1] + k) / to->per[1];
        double a = m[0] * x * x + m[1] * y * y + m[3] * x * y, b = m[4] * x + m[5] * y;
        for (int l = 0; l < to->n[2]; l++) {
            double z = (double)(to->low[2] + l) / to->per[2];
            double at = (a + z * (b + m[2] * z)) * per;
            int i = at < WEIGHTS - 1 ? (int)at : WEIGHTS - 1;
            double t = at < WEIGHTS ? at - i : 1;
            *acc++ += *sums++ * (float)(share[i] + t * (share[i + 1] - share[i]));
        }
    }
}

/** What is filled, and from what. */
typedef struct filling {
    const nb_diffuse_part *part;
    const nodes *orders;
    nb_lattice_sum *sum;
    int places; /* of sums at once */
    int centred, threads;
    const grid *to;
} filling;

/** One order's sums. */
typedef struct order {
    kernel k;
    grid g;
    int same; /* as fine as the table */
} order;

static size_t points_of(const grid *g)
{
    return (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
}

/** Floats that add_refined needs: planes of the fine grid's size, one for each term and one more, and a scratch. */
static size_t room_of(const grid *from, const grid *to)
{
    return ((NB_SPLINE_TERMS + 1) * (size_t)to->n[1] + (size_t)from->n[1]) *
           (size_t)to->n[2];
}

/** Planes first .. end - 1; each coarse plane is refined once. */
static void add_refined(const filling *f, const order *o, int node, const int part[2],
                        float *room)
{
    const grid *from = &o->g, *to = f->to;
    const size_t plane = (size_t)to->n[1] * (size_t)to->n[2],
                 coarse = (size_t)from->n[1] * (size_t)from->n[2];
    float *sums = room + NB_SPLINE_TERMS * plane, *scratch = sums + plane;
    int made = 0;
    for (int h = part[0]; h < part[1]; h++) {
        float w[NB_SPLINE_TERMS];
        int at = coarse_place(from, to, 0, h, w);
        const float *rows[NB_SPLINE_TERMS];
        for (made = made > at ? made : at; made < at + NB_SPLINE_TERMS; made++)
            refine_plane(from, to, from->at + (size_t)made * coarse, scratch,
                         room + (size_t)(made % NB_SPLINE_TERMS) * plane);
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            rows[j] = room + (size_t)((at + j) % NB_SPLINE_TERMS) * plane;
        weigh(rows, w, plane, sums);
        add_plane(&f->part->form, f->orders, node, to, h, sums,
                  to->at + (size_t)h * plane);
    }
}

/** Add an order's sums to the table, in parts that the threads take. */
static nb_status add_order(const filling *f, order *o, int node, nb_error *err)
{
    const grid *to = f->to;
    const size_t plane = (size_t)to->n[1] * (size_t)to->n[2],
                 room = o->same ? 0 : room_of(&o->g, to);
    const int parts = f->threads < to->n[0] ? f->threads : to->n[0];
    float *work =
        room ? nb_alloc_raw(room * (size_t)parts, sizeof *work, "diffuse light", err)
             : NULL;
    if (room && !work)
        return NB_ERR_NOMEM;
    if (!o->same)
        nb_spline_of(o->g.at, o->g.n, f->threads);
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(parts)
#endif
    for (int i = 0; i < parts; i++) {
        const int part[2] = {to->n[0] * i / parts, to->n[0] * (i + 1) / parts};
        for (int h = part[0]; o->same && h < part[1]; h++)
            add_plane(&f->part->form, f->orders, node, to, h, o->g.at + (size_t)h * plane,
                      to->at + (size_t)h * plane);
        if (!o->same)
            add_refined(f, o, node, part, work + room * (size_t)i);
    }
    nb_free(work);
    return NB_OK;
}

static nb_status begin_order(const filling *f, const nb_diffuse_table *table, int node,
                             order *o, nb_error *err)
{
    const grid *to = f->to;
    int per[3], reach[3];
    double scale;
    o->k = (kernel){
        f->part->form.u2, table->model.gauss, f->orders->n[node], f->part->near2, {0}};
    if (o->k.near2 > 0)
        nb_diffuse_soft(o->k.gauss, o->k.n, o->k.near2, o->k.poly);
    scale = o->k.gauss ? sqrt(o->k.n) : o->k.n;
    o->same = 1;
    for (int i = 0; i < 3; i++) {
        int own = nb_diffuse_points(sqrt(f->part->form.u2[i]) / scale);
        per[i] = own < to->per[i] ? own : to->per[i];
        reach[i] = -to->low[i] / to->per[i];
        o->same = o->same && per[i] == to->per[i];
    }
    return new_grid(per, reach, &o->g, err);
}

/** A shift of an order's points. */
typedef struct shift_job {
    const order *of;
    int shift[3];
} shift_job;

/** jobs[shifts of all orders]; returns how many. */
static int list_shifts(const order *orders, int n, int centred, shift_job *jobs)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        const int *p = orders[k].g.per;
        for (int i = 0; i < p[0] * p[1] * p[2]; i++) {
            const int shift[3] = {i / (p[1] * p[2]), i / p[2] % p[1], i % p[2]};
            if (centred && is_second(shift, p))
                continue;
            jobs[count].of = &orders[k];
            memcpy(jobs[count++].shift, shift, sizeof shift);
        }
    }
    return count;
}

static void sum_shift(const filling *f, const shift_job *job, int place_of_sum)
{
    double x[3];
    for (int i = 0; i < 3; i++)
        x[i] = (double)job->shift[i] / job->of->g.per[i];
    nb_lattice_sum_make(f->sum, place_of_sum, kernel_row, &job->of->k, x);
    take_shift(f->sum, place_of_sum, job->shift, f->centred, &job->of->g);
}

/** All sums of some orders: each thread takes shifts. */
static nb_status sum_orders(const filling *f, const order *orders, int n, nb_error *err)
{
    size_t most = 0;
    int count;
    shift_job *jobs;
    for (int k = 0; k < n; k++)
        most += (size_t)orders[k].g.per[0] * (size_t)orders[k].g.per[1] *
                (size_t)orders[k].g.per[2];
    if (!(jobs = nb_alloc(most, sizeof *jobs, "diffuse light", err)))
        return NB_ERR_NOMEM;
    count = list_shifts(orders, n, f->centred, jobs);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(f->places) if (f->places > 1)
#endif
    for (int i = 0; i < count; i++) {
        int at = 0;
#ifdef _OPENMP
        at = f->places > 1 ? omp_get_thread_num() : 0;
#endif
        sum_shift(f, &jobs[i], at);
    }
    nb_free(jobs);
    return NB_OK;
}

/** Orders from `first` on whose sums are in memory at the same time: the first, and those that have room beside it. */
static nb_status fill_orders(const filling *f, const nb_diffuse_table *table, double room,
                             int *first, nb_error *err)
{
    order own[NODES];
    const int start = *first;
    int n = 0;
    nb_status st = NB_OK;
    memset(own, 0, sizeof own);
    do {
        st = begin_order(f, table, start + n, &own[n], err);
        if (n > 0)
            room -= (double)points_of(&own[n].g) * sizeof(float);
        n++;
    } while (!st && start + n < f->orders->count && room > 0);
    if (!st)
        st = sum_orders(f, own, n, err);
    for (int i = 0; i < n; i++) {
        if (!st)
            st = add_order(f, &own[i], start + i, err);
        nb_free(own[i].g.at);
    }
    *first = start + n;
    return st;
}

/** Places for sums at once, as far as memory allows; returns the bytes that are left. */
static double widen(filling *f, const nb_diffuse_table *table)
{
    const double each = nb_lattice_sum_bytes(table->low, table->n,
                                             (int[3]){-f->to->low[0] / f->to->per[0],
                                                      -f->to->low[1] / f->to->per[1],
                                                      -f->to->low[2] / f->to->per[2]}) /
                        2;
    const double room =
        NB_DIFFUSE_BYTES - 2 * each - 2 * (double)points_of(f->to) * sizeof(float);
    const double more = fmin(fmax(floor(room / each), 0), f->threads - 1);
    f->places = nb_lattice_sum_widen(f->sum, 1 + (int)more);
    return room - (f->places - 1) * each;
}

/** Is I0 the same at g and -g? */
static int is_centred(const double *power, const int low[3], const int n[3])
{
    size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    for (int i = 0; i < 3; i++)
        if (2 * low[i] != 1 - n[i])
            return 0;
    for (size_t i = 0; i < count / 2; i++)
        if (power[i] != power[count - 1 - i])
            return 0;
    return 1;
}

nb_status nb_diffuse_fill(const nb_diffuse_table *table, const double *power, int threads,
                          nb_diffuse_part *part, nb_error *err)
{
    nodes orders = {0};
    nb_lattice_sum *sum = NULL;
    grid to = {0};
    filling f = {part,    &orders, NULL, 1, is_centred(power, table->low, table->n),
                 threads, &to};
    double room = 0;
    int reach[3];
    nb_status st;
    for (int i = 0; i < 3; i++)
        reach[i] = -part->low[i] / part->per[i];
    st = new_grid(part->per, reach, &to, err);
    part->c = to.at;
    if (!st)
        memset(to.at, 0, points_of(&to) * sizeof *to.at);
    if (!st)
        st = make_nodes(table->X_most, table->orders, threads, &orders, err);
    if (!st)
        st = nb_lattice_sum_new(power, table->low, table->n, reach, threads, &sum, err);
    f.sum = sum;
    if (!st)
        room = widen(&f, table);
    for (int i = 0; !st && i < orders.count;)
        st = fill_orders(&f, table, room, &i, err);
    if (!st)
        nb_spline_of(part->c, part->n, threads);
    nb_lattice_sum_free(sum);
    nb_free(orders.share);
    return st;
}
