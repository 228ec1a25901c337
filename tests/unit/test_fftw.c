/* SPDX-License-Identifier: MIT */
/* FFTW, loaded on demand: several threads plan the transform of a cosine at once. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "../support/check.h"

#include "../../src/base/fftw_lib.h"

enum { POINTS = 24, THREADS = 4, TIMES = 50 };

/* Largest error of |F| of cos(2 pi 3 x / POINTS), which is POINTS/2 at 3 and 0 elsewhere. */
static double cosine_error(void)
{
    double in[POINTS], worst = 0;
    fftw_complex out[POINTS / 2 + 1];
    const int n = POINTS;
    nb_fftw_lock();
    fftw_plan plan = fftw_plan_dft_r2c(1, &n, in, out, FFTW_ESTIMATE | FFTW_UNALIGNED);
    nb_fftw_unlock();
    for (int i = 0; i < POINTS; i++)
        in[i] = cos(2 * M_PI * 3 * i / POINTS);
    fftw_execute_dft_r2c(plan, in, out);
    nb_fftw_lock();
    fftw_destroy_plan(plan);
    nb_fftw_unlock();
    for (int k = 0; k <= POINTS / 2; k++)
        worst = fmax(worst, fabs(hypot(out[k][0], out[k][1]) - (k == 3) * POINTS / 2));
    return worst;
}

static void *thread(void *worst)
{
    nb_error err;
    for (int i = 0; i < TIMES; i++)
        *(double *)worst = nb_fftw_need("-sf_method fft", &err)
                               ? INFINITY
                               : fmax(*(double *)worst, cosine_error());
    return NULL;
}

UNIT_TEST(transforms)
{
    pthread_t threads[THREADS];
    double worst[THREADS] = {0};
    nb_error err;
    if (nb_fftw_need("-sf_method fft", &err))
        skip_because(err.message);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread, &worst[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(worst[i] < 1e-12);
    }
}
