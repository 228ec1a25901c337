/* SPDX-License-Identifier: MIT */
#include "lattice_blocks.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/stop.h"
#include "../base/threads.h"
#include "lattice_fft.h"

enum {
    LEAST = 32,
    HALVES = 6
}; /* points of a block's transform: at least, and in halves of a kernel */

/** Blocks of `wide` sums, for each of which sources as far as `half` beside it count. */
typedef struct blocks {
    const nb_lattice_blocks *job;
    nb_lattice_fft fft;
    int half[3], wide[3], count[3];
    size_t each;            /* doubles of a transform, a whole number of cache lines */
    double *kernels, *work; /* owned; transforms; two of each thread */
    int first, n;           /* kernels whose transforms are there */
} blocks;

static void choose_blocks(const nb_lattice_blocks *job, blocks *b)
{
    for (int i = 0; i < 3; i++) {
        const int all = 2 * job->reach[i] + 1;
        int m;
        b->half[i] = (int)ceil(job->half[i]);
        m = HALVES * b->half[i] > LEAST ? HALVES * b->half[i] : LEAST;
        m = m < all + 2 * b->half[i] ? m : all + 2 * b->half[i];
        b->fft.n[i] = nb_lattice_quick(m);
        b->wide[i] = b->fft.n[i] - 2 * b->half[i];
        b->count[i] = (all + b->wide[i] - 1) / b->wide[i];
    }
    b->fft.row = 2 * ((size_t)b->fft.n[2] / 2 + 1);
    b->each = (nb_lattice_room(&b->fft) + 7) / 8 * 8;
}

/** The transform of a kernel, divided by the number of points. */
static void make_kernel(const blocks *b, const nb_lattice_ending *k, double *out)
{
    const int *n = b->fft.n, *half = b->half;
    const double scale = 1.0 / n[0] / n[1] / n[2];
    memset(out, 0, b->each * sizeof *out);
    for (int i = -half[0]; i <= half[0]; i++)
        for (int j = -half[1]; j <= half[1]; j++) {
            double x[3] = {i + k->shift[0], j + k->shift[1], k->shift[2]};
            double *row = out + nb_lattice_place(&b->fft, i, j);
            k->kernel(k->data, x, half[2] + 1, row);
            x[2] -= half[2];
            k->kernel(k->data, x, half[2], row + n[2] - half[2]);
            for (int l = 0; l < n[2]; l++)
                row[l] *= scale;
        }
    nb_lattice_forward(&b->fft, out);
}

/** The sources about a block whose first sum is at `at`; returns whether there are some. */
static int take_sources(const blocks *b, const int at[3], double *out)
{
    const nb_lattice_source *s = b->job->sources;
    int from[3], some = 0; /* of the window, in the box */
    for (int i = 0; i < 3; i++)
        from[i] = at[i] - b->half[i] - s->low[i];
    memset(out, 0, b->each * sizeof *out);
    for (int i = 0; i < b->fft.n[0]; i++)
        for (int j = 0; j < b->fft.n[1]; j++) {
            const int h = from[0] + i, k = from[1] + j;
            double *row;
            const int first = from[2] > 0 ? from[2] : 0,
                      end = from[2] + b->fft.n[2] < s->n[2] ? from[2] + b->fft.n[2]
                                                            : s->n[2];
            if (h < 0 || h >= s->n[0] || k < 0 || k >= s->n[1] || first >= end)
                continue;
            row = out + nb_lattice_place(&b->fft, i, j) + (first - from[2]);
            s->row(s->data, (const int[3]){h, k, first}, end - first, row);
            for (int l = 0; l < end - first && !some; l++)
                some = row[l] != 0;
        }
    return some;
}

/** Hand the sums of a block over. */
static void give_sums(const blocks *b, int k, const int at[3], const double *sums)
{
    const nb_lattice_blocks *job = b->job;
    int n[3];
    for (int i = 0; i < 3; i++) {
        const int left = job->reach[i] - at[i] + 1;
        n[i] = left < b->wide[i] ? left : b->wide[i];
    }
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            job->take(job->data, k, (const int[3]){at[0] + i, at[1] + j, at[2]}, n[2],
                      sums + nb_lattice_place(&b->fft, b->half[0] + i, b->half[1] + j) +
                          b->half[2]);
}

static void sum_block(const blocks *b, int i, double *work)
{
    const int *c = b->count, place[3] = {i / (c[1] * c[2]), i / c[2] % c[1], i % c[2]};
    double *source = work, *sums = work + b->each;
    int at[3];
    for (int k = 0; k < 3; k++)
        at[k] = place[k] * b->wide[k] - b->job->reach[k];
    if (!take_sources(b, at, source))
        return;
    nb_lattice_forward(&b->fft, source);
    for (int k = 0; k < b->n; k++) {
        nb_lattice_multiply(&b->fft, source, b->kernels + (size_t)k * b->each, sums);
        nb_lattice_backward(&b->fft, sums);
        give_sums(b, b->first + k, at, sums);
    }
}

/** Kernels from b->first on, as many as have room. */
static void sum_some(const blocks *b)
{
    const int count = b->count[0] * b->count[1] * b->count[2], threads = b->job->threads;
    nb_asking *asking = nb_asking_now();
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        double *work = b->work;
#ifdef _OPENMP
        work += 2 * b->each * (size_t)omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
#endif
        for (int k = 0; k < b->n; k++)
            if (!nb_stop_asked(asking))
                make_kernel(b, &b->job->kernels[b->first + k],
                            b->kernels + (size_t)k * b->each);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < count; i++)
            if (!nb_stop_asked(asking))
                sum_block(b, i, work);
    }
}

nb_status nb_lattice_sum_blocks(const nb_lattice_blocks *job, nb_error *err)
{
    blocks b = {.job = job};
    int at_once;
    nb_status st;
    choose_blocks(job, &b);
    at_once = (int)fmin(job->n, job->bytes / ((double)b.each * sizeof(double)));
    at_once = at_once < 1 ? 1 : at_once;
    b.kernels =
        nb_alloc_raw((size_t)at_once * b.each, sizeof *b.kernels, "diffuse light", err);
    if (b.kernels)
        b.work = nb_alloc_raw((size_t)job->threads * 2 * b.each, sizeof *b.work,
                              "diffuse light", err);
    st = b.work ? nb_lattice_fft_new(&b.fft, b.work, err) : NB_ERR_NOMEM;
    for (b.first = 0; !st && b.first < job->n; b.first += at_once) {
        b.n = job->n - b.first < at_once ? job->n - b.first : at_once;
        sum_some(&b);
        st = nb_stop_status(nb_asking_now(), err);
    }
    nb_lattice_fft_clear(&b.fft);
    nb_free(b.work);
    nb_free(b.kernels);
    return st;
}
