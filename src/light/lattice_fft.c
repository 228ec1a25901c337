/* SPDX-License-Identifier: MIT */
#include "lattice_fft.h"

#include "../base/error.h"
#include "../base/fftw_lib.h"

int nb_lattice_quick(int n)
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

#ifdef NB_HAVE_FFTW
nb_status nb_lattice_fft_new(nb_lattice_fft *f, double *work, nb_error *err)
{
    const int *n = f->n;
    nb_status st = nb_fftw_need("-diffuse_sigma", err);
    if (st)
        return st;
    nb_fftw_lock();
    f->in = fftw_plan_dft_r2c(3, n, work, (fftw_complex *)work, FFTW_ESTIMATE);
    f->out = fftw_plan_dft_c2r(3, n, (fftw_complex *)work, work, FFTW_ESTIMATE);
    nb_fftw_unlock();
    if (!f->in || !f->out)
        return nb_fail(err, NB_ERR_INTERNAL, "FFTW makes no plan for %d x %d x %d", n[0],
                       n[1], n[2]);
    return NB_OK;
}
void nb_lattice_forward(const nb_lattice_fft *f, double *at)
{
    fftw_execute_dft_r2c(f->in, at, (fftw_complex *)at);
}
void nb_lattice_backward(const nb_lattice_fft *f, double *at)
{
    fftw_execute_dft_c2r(f->out, (fftw_complex *)at, at);
}
void nb_lattice_fft_clear(nb_lattice_fft *f)
{
    void *plans[] = {f->in, f->out};
    if (!f->in && !f->out)
        return;
    nb_fftw_lock();
    for (int i = 0; i < 2; i++)
        if (plans[i])
            fftw_destroy_plan(plans[i]);
    nb_fftw_unlock();
    f->in = f->out = NULL;
}
#else
nb_status nb_lattice_fft_new(nb_lattice_fft *f, double *work, nb_error *err)
{
    (void)f, (void)work;
    return nb_fftw_need("-diffuse_sigma", err);
}
void nb_lattice_forward(const nb_lattice_fft *f, double *at)
{
    (void)f, (void)at;
}
void nb_lattice_backward(const nb_lattice_fft *f, double *at)
{
    (void)f, (void)at;
}
void nb_lattice_fft_clear(nb_lattice_fft *f)
{
    (void)f;
}
#endif

void nb_lattice_multiply(const nb_lattice_fft *f, const double *a, const double *b,
                         double *out)
{
    const size_t n = nb_lattice_room(f) / 2;
    for (size_t i = 0; i < n; i++) {
        double re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        double im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
        out[2 * i] = re;
        out[2 * i + 1] = im;
    }
}
