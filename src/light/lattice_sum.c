/* SPDX-License-Identifier: MIT */
#include "lattice_sum.h"

#include <string.h>

#include "../base/memory.h"
#include "lattice_fft.h"

struct nb_lattice_sum {
    nb_lattice_fft fft; /* of a period */
    double *source;     /* owned; the transform of I, divided by the number of points */
    double *work[NB_LATTICE_PLACES]; /* owned; K, its transform, their product, S */
    int places;
    int threads;
};

/** No distance between a source and a wanted point may be that of another, turned round by the period. */
static int period_of(int low, int n, int reach)
{
    int high = low + n - 1, far = -low > high ? -low : high;
    return nb_lattice_quick(2 * (reach + far) + 1);
}

double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3])
{
    double bytes = 2 * sizeof(double);
    for (int i = 0; i < 3; i++)
        bytes *= period_of(low[i], n[i], reach[i]);
    return bytes;
}

static void take_sources(nb_lattice_sum *s, const double *I, const int low[3],
                         const int n[3])
{
    const int *period = s->fft.n;
    double scale = 1.0 / period[0] / period[1] / period[2];
    memset(s->source, 0, nb_lattice_room(&s->fft) * sizeof *s->source);
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            double *row = s->source + nb_lattice_place(&s->fft, low[0] + i, low[1] + j);
            for (int m = 0; m < n[2]; m++)
                row[low[2] + m + (low[2] + m < 0 ? period[2] : 0)] = scale * *I++;
        }
    nb_lattice_forward(&s->fft, s->source);
}

nb_status nb_lattice_sum_new(const double *I, const int low[3], const int n[3],
                             const int reach[3], int threads, nb_lattice_sum **sum,
                             nb_error *err)
{
    nb_lattice_sum *s = nb_alloc(1, sizeof *s, "a lattice sum", err);
    nb_status st = s ? NB_OK : NB_ERR_NOMEM;
    *sum = s;
    if (st)
        return st;
    for (int i = 0; i < 3; i++)
        s->fft.n[i] = period_of(low[i], n[i], reach[i]);
    s->fft.row = 2 * ((size_t)s->fft.n[2] / 2 + 1);
    s->threads = threads;
    s->source =
        nb_alloc_large(nb_lattice_room(&s->fft), sizeof *s->source, "diffuse light", err);
    s->work[0] =
        nb_alloc_large(nb_lattice_room(&s->fft), sizeof **s->work, "diffuse light", err);
    s->places = 1;
    st = s->source && s->work[0] ? nb_lattice_fft_new(&s->fft, s->work[0], err)
                                 : NB_ERR_NOMEM;
    if (!st) {
        take_sources(s, I, low, n);
        return NB_OK;
    }
    nb_lattice_sum_free(s);
    *sum = NULL;
    return st;
}

int nb_lattice_sum_widen(nb_lattice_sum *s, int places)
{
    places = places < NB_LATTICE_PLACES ? places : NB_LATTICE_PLACES;
    for (; s->places < places; s->places++) {
        double **at = &s->work[s->places];
        *at = nb_alloc_large(nb_lattice_room(&s->fft), sizeof **at, "diffuse light", NULL);
        if (!*at)
            break;
    }
    return s->places;
}

/** K at every distance, in two runs of each row: 0, 1, ... and those below 0. */
static void fill_kernel(const nb_lattice_sum *s, double *work,
                        nb_lattice_kernel_fn *kernel, const void *data,
                        const double shift[3])
{
    const int *n = s->fft.n;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            int h = i < n[0] / 2 ? i : i - n[0], k = j < n[1] / 2 ? j : j - n[1];
            double x[3] = {h + shift[0], k + shift[1], shift[2]};
            double *row = work + nb_lattice_place(&s->fft, i, j);
            kernel(data, x, n[2] / 2, row);
            x[2] -= n[2] / 2;
            kernel(data, x, n[2] / 2, row + n[2] / 2);
        }
}

void nb_lattice_sum_make(const nb_lattice_sum *s, int at, nb_lattice_kernel_fn *kernel,
                         const void *data, const double shift[3])
{
    double *work = s->work[at];
    fill_kernel(s, work, kernel, data, shift);
    nb_lattice_forward(&s->fft, work);
    nb_lattice_multiply(&s->fft, s->source, work, work);
    nb_lattice_backward(&s->fft, work);
}

const double *nb_lattice_sum_row(const nb_lattice_sum *s, int at, int h, int k)
{
    return s->work[at] + nb_lattice_place(&s->fft, h, k);
}

int nb_lattice_sum_period(const nb_lattice_sum *s)
{
    return s->fft.n[2];
}

void nb_lattice_sum_free(nb_lattice_sum *s)
{
    if (!s)
        return;
    nb_lattice_fft_clear(&s->fft);
    nb_free(s->source);
    for (int i = 0; i < s->places; i++)
        nb_free(s->work[i]);
    nb_free(s);
}
