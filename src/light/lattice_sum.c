/* SPDX-License-Identifier: MIT */
#include "lattice_sum.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"

struct nb_lattice_sum {
    int period[3];
    size_t row; /* doubles from one row to the next: those of the transform's, or more than a period */
    double *source; /* owned; the transform of I, divided by the number of points */
    double *work[NB_LATTICE_PLACES]; /* owned; K, its transform, their product, S */
    int places;
    void *in, *out; /* plans */
    int threads;
};

/** The least number >= n of the form 2^a 3^b 5^c 7^d, even. */
static int quick_length(int n)
{
    for (int even = n + n % 2;; even += 2) {
        int rest = even;
        while (rest % 2 == 0)
            rest /= 2;
        while (rest % 3 == 0)
            rest /= 3;
        while (rest % 5 == 0)
            rest /= 5;
        while (rest % 7 == 0)
            rest /= 7;
        if (rest == 1)
            return even;
    }
}

/** No distance between a source and a wanted point may be that of another, turned round by the period. */
static int period_of(int low, int n, int reach)
{
    int high = low + n - 1, far = -low > high ? -low : high;
    return quick_length(2 * (reach + far) + 1);
}

static size_t points(const nb_lattice_sum *s)
{
    return (size_t)s->period[0] * (size_t)s->period[1] * s->row;
}

double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3])
{
    double bytes = 2 * sizeof(double);
    for (int i = 0; i < 3; i++)
        bytes *= period_of(low[i], n[i], reach[i]);
    return bytes;
}

#ifdef NB_HAVE_FFTW
static nb_status make_plans(nb_lattice_sum *s, nb_error *err)
{
    const int *n = s->period;
    nb_status st = nb_fftw_need("-diffuse_sigma", err);
    if (st)
        return st;
    nb_fftw_lock();
    s->in = fftw_plan_dft_r2c(3, n, s->work[0], (fftw_complex *)s->work[0], FFTW_ESTIMATE);
    s->out =
        fftw_plan_dft_c2r(3, n, (fftw_complex *)s->work[0], s->work[0], FFTW_ESTIMATE);
    nb_fftw_unlock();
    if (!s->in || !s->out)
        return nb_fail(err, NB_ERR_INTERNAL, "FFTW makes no plan for %d x %d x %d", n[0],
                       n[1], n[2]);
    return NB_OK;
}
static void forward(const nb_lattice_sum *s, double *at)
{
    fftw_execute_dft_r2c(s->in, at, (fftw_complex *)at);
}
static void backward(const nb_lattice_sum *s, double *at)
{
    fftw_execute_dft_c2r(s->out, (fftw_complex *)at, at);
}
static void free_plans(nb_lattice_sum *s)
{
    void *plans[] = {s->in, s->out};
    nb_fftw_lock();
    for (int i = 0; i < 2; i++)
        if (plans[i])
            fftw_destroy_plan(plans[i]);
    nb_fftw_unlock();
}
#else
static nb_status make_plans(nb_lattice_sum *s, nb_error *err)
{
    (void)s;
    return nb_fftw_need("-diffuse_sigma", err);
}
static void forward(const nb_lattice_sum *s, double *at)
{
    (void)s, (void)at;
}
static void backward(const nb_lattice_sum *s, double *at)
{
    (void)s, (void)at;
}
static void free_plans(nb_lattice_sum *s)
{
    (void)s;
}
#endif

static size_t place(const nb_lattice_sum *s, int h, int k)
{
    h += h < 0 ? s->period[0] : 0;
    k += k < 0 ? s->period[1] : 0;
    return ((size_t)h * (size_t)s->period[1] + (size_t)k) * s->row;
}

static void take_sources(nb_lattice_sum *s, const double *I, const int low[3],
                         const int n[3])
{
    double scale = 1.0 / s->period[0] / s->period[1] / s->period[2];
    memset(s->source, 0, points(s) * sizeof *s->source);
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            double *row = s->source + place(s, low[0] + i, low[1] + j);
            for (int m = 0; m < n[2]; m++)
                row[low[2] + m + (low[2] + m < 0 ? s->period[2] : 0)] = scale * *I++;
        }
    forward(s, s->source);
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
        s->period[i] = period_of(low[i], n[i], reach[i]);
    s->row = 2 * ((size_t)s->period[2] / 2 + 1);
    s->threads = threads;
    s->source = nb_alloc_large(points(s), sizeof *s->source, "diffuse light", err);
    s->work[0] = nb_alloc_large(points(s), sizeof **s->work, "diffuse light", err);
    s->places = 1;
    st = s->source && s->work[0] ? make_plans(s, err) : NB_ERR_NOMEM;
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
        *at = nb_alloc_large(points(s), sizeof **at, "diffuse light", NULL);
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
    const int *n = s->period;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(s->threads)
#endif
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            int h = i < n[0] / 2 ? i : i - n[0], k = j < n[1] / 2 ? j : j - n[1];
            double x[3] = {h + shift[0], k + shift[1], shift[2]};
            double *row = work + place(s, i, j);
            kernel(data, x, n[2] / 2, row);
            x[2] -= n[2] / 2;
            kernel(data, x, n[2] / 2, row + n[2] / 2);
        }
}

static void multiply(const nb_lattice_sum *s, double *b)
{
    const double *a = s->source;
    size_t n = points(s) / 2;
    for (size_t i = 0; i < n; i++) {
        double re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        double im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
        b[2 * i] = re;
        b[2 * i + 1] = im;
    }
}

void nb_lattice_sum_make(const nb_lattice_sum *s, int at, nb_lattice_kernel_fn *kernel,
                         const void *data, const double shift[3])
{
    double *work = s->work[at];
    fill_kernel(s, work, kernel, data, shift);
    forward(s, work);
    multiply(s, work);
    backward(s, work);
}

const double *nb_lattice_sum_row(const nb_lattice_sum *s, int at, int h, int k)
{
    return s->work[at] + place(s, h, k);
}

int nb_lattice_sum_period(const nb_lattice_sum *s)
{
    return s->period[2];
}

void nb_lattice_sum_free(nb_lattice_sum *s)
{
    if (!s)
        return;
    if (s->in || s->out)
        free_plans(s);
    nb_free(s->source);
    for (int i = 0; i < s->places; i++)
        nb_free(s->work[i]);
    nb_free(s);
}
