/* SPDX-License-Identifier: MIT */
#include "diffuse_table.h"

#include <string.h>

#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"

/** Smallest even number >= n of the form 2^a 3^b 5^c 7^d. */
static int quick(int n)
{
    static const int factors[] = {2, 3, 5, 7};
    for (int even = n + n % 2;; even += 2) {
        int rest = even;
        for (int i = 0; i < 4; i++)
            while (rest % factors[i] == 0)
                rest /= factors[i];
        if (rest == 1)
            return even;
    }
}

/** Smallest period of the form of quick() in which all distances from sources to points
 * have an index of their own. */
static int period_of(int low, int n, int reach)
{
    int high = low + n - 1, far = -low > high ? -low : high;
    return quick(2 * (reach + far) + 1);
}

double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3])
{
    double bytes = sizeof(double);
    for (int i = 0; i < 3; i++)
        bytes *= period_of(low[i], n[i], reach[i]);
    return bytes;
}

static size_t room_of(const nb_lattice_sum *s)
{
    return (size_t)s->period[0] * (size_t)s->period[1] * s->row;
}

/** Index of row (h, k). Negative indices are counted from the end. */
static size_t place_of(const nb_lattice_sum *s, int h, int k)
{
    h += h < 0 ? s->period[0] : 0;
    k += k < 0 ? s->period[1] : 0;
    return ((size_t)h * (size_t)s->period[1] + (size_t)k) * s->row;
}

static nb_status plan(nb_lattice_sum *s, nb_error *err)
{
    const int *n = s->period;
    double *at = s->work[0];
    nb_status st;
    NB_FORWARD(nb_fftw_need("-diffuse_sigma", err));
    nb_fftw_lock();
    s->in = fftw_plan_dft_r2c(3, n, at, (fftw_complex *)at, FFTW_ESTIMATE);
    s->out = fftw_plan_dft_c2r(3, n, (fftw_complex *)at, at, FFTW_ESTIMATE);
    nb_fftw_unlock();
    return s->in && s->out
               ? NB_OK
               : nb_fail(err, NB_ERR_INTERNAL, "FFTW makes no plan for %d x %d x %d",
                         n[0], n[1], n[2]);
}

static void drop_plans(nb_lattice_sum *s)
{
    if (!s->in && !s->out)
        return;
    nb_fftw_lock();
    fftw_destroy_plan(s->in);
    fftw_destroy_plan(s->out);
    nb_fftw_unlock();
}

static void take_sources(nb_lattice_sum *s, const float *I, const int low[3],
                         const int n[3])
{
    const int *period = s->period;
    const double scale = 1.0 / period[0] / period[1] / period[2];
    memset(s->source, 0, room_of(s) * sizeof *s->source);
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            double *row = s->source + place_of(s, low[0] + i, low[1] + j);
            for (int m = 0; m < n[2]; m++)
                row[low[2] + m + (low[2] + m < 0 ? period[2] : 0)] = scale * *I++;
        }
    fftw_execute_dft_r2c(s->in, s->source, (fftw_complex *)s->source);
}

nb_status nb_lattice_sum_new(const float *I, const int low[3], const int n[3],
                             const int reach[3], int places, int threads,
                             nb_lattice_sum *s, nb_error *err)
{
    nb_status st;
    *s = (nb_lattice_sum){.threads = threads};
    for (int i = 0; i < 3; i++)
        s->period[i] = period_of(low[i], n[i], reach[i]);
    s->row = 2 * ((size_t)s->period[2] / 2 + 1);
    s->source = nb_alloc_large(room_of(s), sizeof *s->source, "diffuse light", err);
    for (; s->places < places && s->places < NB_LATTICE_PLACES; s->places++) {
        s->work[s->places] = nb_alloc_large(room_of(s), sizeof **s->work, "diffuse light",
                                            s->places ? NULL : err);
        if (!s->work[s->places])
            break;
    }
    st = s->source && s->places ? plan(s, err) : NB_ERR_NOMEM;
    if (!st)
        take_sources(s, I, low, n);
    return st;
}

/** Write K at every distance, each row in two runs: 0, 1, ... and negative distances. */
static void fill_kernel(const nb_lattice_sum *s, double *work,
                        nb_lattice_kernel_fn *kernel, const void *data,
                        const double shift[3])
{
    const int *n = s->period;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            int h = i < n[0] / 2 ? i : i - n[0], k = j < n[1] / 2 ? j : j - n[1];
            double x[3] = {h + shift[0], k + shift[1], shift[2]};
            double *row = work + place_of(s, i, j);
            kernel(data, x, n[2] / 2, row);
            x[2] -= n[2] / 2;
            kernel(data, x, n[2] / 2, row + n[2] / 2);
        }
}

void nb_lattice_sum_make(const nb_lattice_sum *s, int place, nb_lattice_kernel_fn *kernel,
                         const void *data, const double shift[3])
{
    double *w = s->work[place];
    const double *a = s->source;
    fill_kernel(s, w, kernel, data, shift);
    fftw_execute_dft_r2c(s->in, w, (fftw_complex *)w);
    for (size_t i = 0; i < room_of(s); i += 2) {
        const double re = a[i] * w[i] - a[i + 1] * w[i + 1];
        w[i + 1] = a[i] * w[i + 1] + a[i + 1] * w[i];
        w[i] = re;
    }
    fftw_execute_dft_c2r(s->out, (fftw_complex *)w, w);
}

const double *nb_lattice_sum_row(const nb_lattice_sum *s, int place, int h, int k)
{
    return s->work[place] + place_of(s, h, k);
}

void nb_lattice_sum_clear(nb_lattice_sum *s)
{
    drop_plans(s);
    nb_free(s->source);
    for (int i = 0; i < s->places; i++)
        nb_free(s->work[i]);
}
