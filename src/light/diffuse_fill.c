/* SPDX-License-Identifier: MIT */
#include "diffuse_fill.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/stop.h"
#include "../base/threads.h"
#include "diffuse_local.h"
#include "diffuse_orders.h"
#include "lattice_spread.h"
#include "spline.h"

#define SMOOTH_U 0.3 /* u from one source to the next that a kernel does not see */
#define FAR_PART 0.5 /* of the memory, for sums on a coarser lattice */

enum {
    FAR_EDGE = 3, /* points of such sums beyond the table, where splines err */
    FAR_FEW = 4   /* of them from the middle to the edge, at least */
};

/** A grid of points in one order. */
typedef struct grid {
    int per[3], low[3], n[3];
    double apart[3]; /* steps of the table's lattice from one index to the next */
    float *at;       /* owned */
} grid;

static nb_status new_grid(const int per[3], const int reach[3], const double apart[3],
                          grid *g, nb_error *err)
{
    for (int i = 0; i < 3; i++) {
        g->per[i] = per[i];
        g->apart[i] = apart[i];
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
    double y = (double)(to->low[axis] + j) / to->per[axis] / from->apart[axis] *
                   from->per[axis] -
               from->low[axis];
    return nb_spline_at(y, from->n[axis], w);
}

/** out[i] = the sum of w[j] times row j. */
static void weigh(const float *const row[NB_SPLINE_TERMS], const float *w, size_t n,
                  float *out)
{
    const float *a = row[0], *b = row[1], *c = row[2], *d = row[3], *e = row[4],
                *f = row[5];
#pragma omp simd
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
static void add_plane(const nb_diffuse_part *part, const nb_orders *orders, int node,
                      const grid *to, int h, const float *sums, float *acc)
{
    const float *share = orders->share + (size_t)node * (NB_ORDER_SHARES + 1);
    const double *m = part->form.X, *unit = part->unit, per = 1 / orders->step;
    double x = (double)(to->low[0] + h) / to->per[0] * unit[0];
    for (int k = 0; k < to->n[1]; k++) {
        double y = (double)(to->low[1] + k) / to->per[1] * unit[1];
        double a = m[0] * x * x + m[1] * y * y + m[3] * x * y, b = m[4] * x + m[5] * y;
        for (int l = 0; l < to->n[2]; l++) {
            double z = (double)(to->low[2] + l) / to->per[2] * unit[2];
            double at = (a + z * (b + m[2] * z)) * per;
            *acc++ += *sums++ * nb_order_share(share, at);
        }
    }
}

/** What is filled, and from what. */
typedef struct filling {
    const nb_diffuse_table *table;
    const nb_diffuse_part *part;
    const nb_orders *orders;
    const grid *to;
    int centred, threads;
    nb_asking *asking;
    double room; /* bytes beside the tables */
    /* sums over sources of the table's lattice, or of one that is coarser */
    int is_far;
    double apart[3];         /* steps from one source to the next */
    double u2[6];            /* of these distances */
    double near2[NB_ORDERS]; /* inside of which each order's kernel is soft */
    int reach[3];
    nb_lattice_sum *sum;
    double bytes; /* of two places */
    int places;   /* of sums at once */
} filling;

/** One order's sums. */
typedef struct order {
    nb_order_kernel k;
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
    for (int h = part[0]; h < part[1] && !nb_stop_asked(f->asking); h++) {
        float w[NB_SPLINE_TERMS];
        int at = coarse_place(from, to, 0, h, w);
        const float *rows[NB_SPLINE_TERMS];
        for (made = made > at ? made : at; made < at + NB_SPLINE_TERMS; made++)
            refine_plane(from, to, from->at + (size_t)made * coarse, scratch,
                         room + (size_t)(made % NB_SPLINE_TERMS) * plane);
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            rows[j] = room + (size_t)((at + j) % NB_SPLINE_TERMS) * plane;
        weigh(rows, w, plane, sums);
        add_plane(f->part, f->orders, node, to, h, sums, to->at + (size_t)h * plane);
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
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int i = 0; i < parts; i++) {
        const int part[2] = {to->n[0] * i / parts, to->n[0] * (i + 1) / parts};
        for (int h = part[0]; o->same && h < part[1] && !nb_stop_asked(f->asking); h++)
            add_plane(f->part, f->orders, node, to, h, o->g.at + (size_t)h * plane,
                      to->at + (size_t)h * plane);
        if (!o->same)
            add_refined(f, o, node, part, work + room * (size_t)i);
    }
    nb_free(work);
    return nb_stop_status(f->asking, err);
}

static nb_status begin_order(const filling *f, int node, order *o, nb_error *err)
{
    const grid *to = f->to;
    const double n = f->orders->n[node];
    int per[3];
    o->k = nb_order_kernel_of(f->u2, f->table->model.gauss, n, f->near2[node]);
    o->same = !f->is_far;
    for (int i = 0; i < 3; i++) {
        int own = nb_diffuse_points(sqrt(f->u2[i]) / (o->k.gauss ? sqrt(n) : n));
        per[i] = f->is_far ? 1 : own < to->per[i] ? own : to->per[i];
        o->same = o->same && per[i] == to->per[i];
    }
    return new_grid(per, f->reach, f->apart, &o->g, err);
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
    nb_lattice_sum_make(f->sum, place_of_sum, nb_order_kernel_row, &job->of->k, x);
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
#pragma omp parallel for schedule(dynamic, 1) num_threads(f->places) if (f->places > 1)
    for (int i = 0; i < count; i++) {
        int at = 0;
#ifdef _OPENMP
        at = f->places > 1 ? omp_get_thread_num() : 0;
#endif
        if (!nb_stop_asked(f->asking))
            sum_shift(f, &jobs[i], at);
    }
    nb_free(jobs);
    return nb_stop_status(f->asking, err);
}

/** Orders from `first` on whose sums are in memory at the same time: the first, and those that have room beside it. */
static nb_status fill_orders(const filling *f, double room, int *first, nb_error *err)
{
    order own[NB_ORDERS];
    const int start = *first;
    int n = 0;
    nb_status st = NB_OK;
    memset(own, 0, sizeof own);
    do {
        st = begin_order(f, start + n, &own[n], err);
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
static double widen(filling *f)
{
    const double each = f->bytes / 2,
                 room = f->room - f->bytes - (double)points_of(f->to) * sizeof(float);
    const double more = fmin(fmax(floor(room / each), 0), f->threads - 1);
    f->places = nb_lattice_sum_widen(f->sum, 1 + (int)more);
    return room - (f->places - 1) * each;
}

/** Is I0 the same at g and -g?  -1: no memory. */
static int is_centred(const nb_lattice_source *s)
{
    const int *n = s->n;
    const size_t row = (size_t)n[2];
    double *a = nb_alloc_raw(2 * row, sizeof *a, "diffuse light", NULL);
    int same = a ? 1 : -1;
    for (int i = 0; i < 3; i++)
        same = same > 0 && 2 * s->low[i] != 1 - n[i] ? 0 : same;
    for (int i = 0; same > 0 && i < (n[0] + 1) / 2; i++)
        for (int j = 0; same > 0 && j < n[1]; j++) {
            s->row(s->data, (const int[3]){i, j, 0}, n[2], a);
            s->row(s->data, (const int[3]){n[0] - 1 - i, n[1] - 1 - j, 0}, n[2], a + row);
            for (size_t l = 0; l < row; l++)
                same = same && a[l] == a[2 * row - 1 - l];
        }
    nb_free(a);
    return same;
}

/** The sources as an array. */
static double *copy_sources(const nb_lattice_source *s, nb_error *err)
{
    double *I = nb_alloc_raw((size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2],
                             sizeof *I, "diffuse light", err);
    for (int i = 0; I && i < s->n[0]; i++)
        for (int j = 0; j < s->n[1]; j++)
            s->row(s->data, (const int[3]){i, j, 0}, s->n[2],
                   I + ((size_t)i * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[2]);
    return I;
}

/** Rows of an nb_lattice_box. */
static void box_row(const void *data, const int at[3], int count, double *out)
{
    const nb_lattice_box *b = data;
    const float *from =
        b->at + ((size_t)at[0] * (size_t)b->n[1] + (size_t)at[1]) * (size_t)b->n[2] +
        (size_t)at[2];
    for (int l = 0; l < count; l++)
        out[l] = from[l];
}

static nb_lattice_source source_of_box(const nb_lattice_box *b)
{
    nb_lattice_source s = {.row = box_row, .data = b};
    memcpy(s.low, b->low, sizeof s.low);
    memcpy(s.n, b->n, sizeof s.n);
    return s;
}

/** Distances in steps of a coarser lattice. */
static void scale_form(const double form[6], const double apart[3], double out[6])
{
    static const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int i = 0; i < 6; i++)
        out[i] = form[i] * apart[axes[i][0]] * apart[axes[i][1]];
}

/** Steps of a lattice on which the sums of soft kernels have room, u from one to the next; returns u^2 within which
 * kernels are soft there. */
static double choose_far(filling *f, const nb_lattice_source *s)
{
    const double *u2 = f->u2, limit = FAR_PART * f->room;
    const int *reach = f->reach;
    double step = 2 * sqrt(fmin(u2[0], fmin(u2[1], u2[2])));
    for (;; step *= 1.05) {
        nb_lattice_box box;
        int far_reach[3];
        double longest = 0;
        int finer = 0; /* than lattices of which nothing is gained */
        for (int i = 0; i < 3; i++) {
            f->apart[i] = fmax(1, step / sqrt(u2[i]));
            finer = finer || f->apart[i] * FAR_FEW < reach[i];
            far_reach[i] = (int)ceil(reach[i] / f->apart[i]) + FAR_EDGE;
            longest = fmax(longest, sqrt(u2[i]) * f->apart[i]);
        }
        nb_lattice_coarse(s->low, s->n, f->apart, &box);
        f->bytes = nb_lattice_sum_bytes(box.low, box.n, far_reach);
        if (f->bytes > limit && finer)
            continue;
        memcpy(f->reach, far_reach, sizeof far_reach);
        return pow(longest / NB_SPLIT_STEP, 2);
    }
}

/** Is order n smooth on the lattice of the sums? */
static int is_smooth(const filling *f, double n)
{
    const double scale = f->table->model.gauss ? sqrt(n) : n;
    return sqrt(fmax(f->u2[0], fmax(f->u2[1], f->u2[2]))) / scale <= SMOOTH_U;
}

/** Move the sources to a coarser lattice if their sums have no room otherwise; far2: where kernels are split then. */
static nb_status choose_lattice(filling *f, const nb_lattice_source *s,
                                nb_lattice_box *box, double *far2, nb_error *err)
{
    double u2[6];
    f->bytes = nb_lattice_sum_bytes(s->low, s->n, f->reach);
    f->is_far = f->bytes + (double)points_of(f->to) * sizeof(float) > f->room;
    if (!f->is_far)
        return NB_OK;
    *far2 = choose_far(f, s);
    memcpy(u2, f->u2, sizeof u2);
    scale_form(u2, f->apart, f->u2);
    for (int i = 0; i < f->orders->count; i++)
        if (!is_smooth(f, f->orders->n[i]))
            f->near2[i] = *far2;
    return nb_lattice_spread(s, f->apart, f->threads, box, err);
}

/** The sums of all orders over the sources, or over those of the coarser lattice. */
static nb_status add_sums(filling *f, const nb_lattice_source *s, nb_error *err)
{
    double *I = copy_sources(s, err), room = 0;
    nb_status st =
        I ? nb_lattice_sum_new(I, s->low, s->n, f->reach, f->threads, &f->sum, err)
          : NB_ERR_NOMEM;
    nb_free(I);
    if (!st)
        room = widen(f);
    for (int i = 0; !st && i < f->orders->count;)
        st = fill_orders(f, room, &i, err);
    nb_lattice_sum_free(f->sum);
    return st;
}

/** The sums over sources of the table's lattice. */
static nb_status add_all(filling *f, const nb_lattice_source *s, nb_error *err)
{
    nb_lattice_box box = {.at = NULL};
    nb_lattice_source far;
    nb_diffuse_local local = {f->table, f->part, f->orders,   s,         NULL,
                              f->near2, 0,       f->room / 2, f->threads};
    double u2[6];
    nb_status st;
    memcpy(u2, f->u2, sizeof u2);
    local.u2 = u2;
    st = choose_lattice(f, s, &box, &local.far2, err);
    far = source_of_box(&box);
    if (!st)
        st = add_sums(f, f->is_far ? &far : s, err);
    nb_free(box.at);
    return st || !f->is_far ? st : nb_diffuse_add_local(&local, err);
}

/** The sources moved to the table's lattice, if that is coarser. */
static nb_status move_sources(filling *f, const nb_lattice_source *s, nb_error *err)
{
    const double *unit = f->part->unit;
    nb_lattice_box box = {.at = NULL};
    nb_lattice_source moved;
    nb_status st;
    f->centred = is_centred(s) > 0;
    if (unit[0] == 1 && unit[1] == 1 && unit[2] == 1)
        return add_all(f, s, err);
    st = nb_lattice_spread(s, unit, f->threads, &box, err);
    moved = source_of_box(&box);
    if (!st)
        st = add_all(f, &moved, err);
    nb_free(box.at);
    return st;
}

/** Fill the grid with 0: gigabytes take seconds. */
static nb_status clear(const filling *f, nb_error *err)
{
    const size_t plane = (size_t)f->to->n[1] * (size_t)f->to->n[2];
#pragma omp parallel for num_threads(f->threads)
    for (int h = 0; h < f->to->n[0]; h++)
        if (!nb_stop_asked(f->asking))
            memset(f->to->at + (size_t)h * plane, 0, plane * sizeof *f->to->at);
    return nb_stop_status(f->asking, err);
}

nb_status nb_diffuse_fill(const nb_diffuse_table *table, const nb_lattice_source *sources,
                          double room, int threads, nb_diffuse_part *part, nb_error *err)
{
    nb_orders orders = {0};
    grid to = {0};
    filling f = {.table = table,
                 .part = part,
                 .orders = &orders,
                 .to = &to,
                 .threads = threads,
                 .asking = nb_asking_now(),
                 .room = room,
                 .apart = {1, 1, 1}};
    nb_status st;
    for (int i = 0; i < 3; i++)
        f.reach[i] = -part->low[i] / part->per[i];
    for (int i = 0; i < NB_ORDERS; i++)
        f.near2[i] = part->near2;
    scale_form(part->form.u2, part->unit, f.u2);
    st = new_grid(part->per, f.reach, f.apart, &to, err);
    part->c = to.at;
    if (!st)
        st = clear(&f, err);
    if (!st)
        st = nb_orders_new(table->X_most, table->orders, threads, &orders, err);
    if (!st)
        st = move_sources(&f, sources, err);
    if (!st)
        nb_spline_of(part->c, part->n, threads);
    nb_free(orders.share);
    return st;
}
