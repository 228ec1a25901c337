/* SPDX-License-Identifier: MIT */
#include "diffuse_local.h"

#include "../base/memory.h"
#include "lattice_blocks.h"

/** What an order's kernel of the table has beyond that of the sums. */
typedef struct local_kernel {
    nb_order_kernel whole, soft;
    int order;
} local_kernel;

/** Kernels for each order and shift. */
typedef struct local {
    const nb_diffuse_local *job;
    local_kernel *kernels;     /* owned; of the orders */
    nb_lattice_ending *pieces; /* owned; of each order and shift */
    int n, shifts;
} local;

static void local_row(const void *data, const double x[3], int n, double *out)
{
    enum { RUN = 64 };
    const local_kernel *k = data;
    for (int first = 0; first < n; first += RUN) {
        const int count = n - first < RUN ? n - first : RUN;
        const double at[3] = {x[0], x[1], x[2] + first};
        double soft[RUN];
        nb_order_kernel_row(&k->whole, at, count, out + first);
        nb_order_kernel_row(&k->soft, at, count, soft);
        for (int i = 0; i < count; i++)
            out[first + i] -= soft[i];
    }
}

/** The shift of piece k, in points of the table. */
static void shift_of(const local *l, int k, int shift[3])
{
    const int *per = l->job->part->per, i = k % l->shifts;
    shift[0] = i / (per[1] * per[2]);
    shift[1] = i / per[2] % per[1];
    shift[2] = i % per[2];
}

/** Add a row of sums to the table's points, each with the share that X gives it. */
static void take(void *data, int k, const int at[3], int n, const double *row)
{
    const local *l = data;
    const nb_diffuse_local *job = l->job;
    const nb_diffuse_part *p = job->part;
    const float *share = job->orders->share +
                         (size_t)l->kernels[k / l->shifts].order * (NB_ORDER_SHARES + 1);
    const double *m = p->form.X, step = 1 / job->orders->step;
    int shift[3], point[3];
    double x[3];
    float *c;
    shift_of(l, k, shift);
    for (int i = 0; i < 3; i++) {
        point[i] = at[i] * p->per[i] + shift[i] - p->low[i];
        x[i] = (double)(point[i] + p->low[i]) / p->per[i] * p->unit[i];
    }
    if (point[0] >= p->n[0] || point[1] >= p->n[1]) /* beyond the last index */
        return;
    c = p->c + ((size_t)point[0] * (size_t)p->n[1] + (size_t)point[1]) * (size_t)p->n[2];
    for (int i = 0; i < n && point[2] + i * p->per[2] < p->n[2]; i++) {
        const double z = x[2] + i * p->unit[2];
        const double X = m[0] * x[0] * x[0] + m[1] * x[1] * x[1] + m[3] * x[0] * x[1] +
                         z * (m[4] * x[0] + m[5] * x[1] + m[2] * z);
        c[point[2] + i * p->per[2]] += (float)row[i] * nb_order_share(share, X * step);
    }
}

static void list_kernels(local *l)
{
    const nb_diffuse_local *job = l->job;
    const int *per = job->part->per, gauss = job->table->model.gauss;
    for (int i = 0; i < job->orders->count; i++) {
        const double n = job->orders->n[i];
        if (job->near2[i] == job->far2)
            l->kernels[l->n++] =
                (local_kernel){nb_order_kernel_of(job->u2, gauss, n, job->part->near2),
                               nb_order_kernel_of(job->u2, gauss, n, job->far2), i};
    }
    for (int k = 0; k < l->n * l->shifts; k++) {
        int shift[3];
        shift_of(l, k, shift);
        l->pieces[k] =
            (nb_lattice_ending){local_row,
                                &l->kernels[k / l->shifts],
                                {(double)shift[0] / per[0], (double)shift[1] / per[1],
                                 (double)shift[2] / per[2]}};
    }
}

nb_status nb_diffuse_add_local(const nb_diffuse_local *job, nb_error *err)
{
    const int *per = job->part->per;
    local l = {.job = job, .shifts = per[0] * per[1] * per[2]};
    nb_lattice_blocks blocks = {.sources = job->sources,
                                .threads = job->threads,
                                .bytes = job->bytes,
                                .take = take,
                                .data = &l};
    nb_status st = NB_ERR_NOMEM;
    l.kernels =
        nb_alloc((size_t)job->orders->count, sizeof *l.kernels, "diffuse light", err);
    l.pieces = nb_alloc((size_t)job->orders->count * (size_t)l.shifts, sizeof *l.pieces,
                        "diffuse light", err);
    if (l.kernels && l.pieces) {
        list_kernels(&l);
        blocks.kernels = l.pieces;
        blocks.n = l.n * l.shifts;
        nb_diffuse_half(job->u2, job->far2, blocks.half);
        for (int i = 0; i < 3; i++)
            blocks.reach[i] = -job->part->low[i] / per[i];
        st = l.n ? nb_lattice_sum_blocks(&blocks, err) : NB_OK;
    }
    nb_free(l.kernels);
    nb_free(l.pieces);
    return st;
}
