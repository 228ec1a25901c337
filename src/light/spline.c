/* SPDX-License-Identifier: MIT */
#include "diffuse_look.h"

/** Solve (c[i-1] + m c[i] + c[i+1])/(m + 2) = a[i], c = a at both ends, for `width` lines
 * of n points, `step` floats apart (Thomas' algorithm; the divisors converge after a few
 * points). */
static void solve(float *a, int n, size_t step, size_t width, double m)
{
    const float sum = (float)(m + 2);
    double divisor[32] = {0};
    for (int i = 1; i < 32; i++)
        divisor[i] = 1 / (m - divisor[i - 1]);
    for (int i = 1; i < n - 1; i++) {
        float *at = a + (size_t)i * step, *before = at - step;
        float d = (float)divisor[i < 32 ? i : 31];
#pragma omp simd
        for (size_t j = 0; j < width; j++)
            at[j] = (sum * at[j] - before[j]) * d;
    }
    for (int i = n - 2; i > 0; i--) {
        float *at = a + (size_t)i * step, *behind = at + step;
        float d = (float)divisor[i < 32 ? i : 31];
#pragma omp simd
        for (size_t j = 0; j < width; j++)
            at[j] -= d * behind[j];
    }
}

/** Solve for the filter (1, 26, 66, 26, 1)/120, which is the product of two filters (1,
 * m, 1)/(m + 2). */
static void solve_both(float *a, int n, size_t step, size_t width)
{
    /* both m are roots of m^2 - 26 m + 64 = 0 */
    solve(a, n, step, width, 23.246950765959598);
    solve(a, n, step, width, 2.7530492340404018);
}

void nb_spline_of(float *a, const int n[3], int threads)
{
    enum { WIDE = 4096 }; /* number of lines that a thread takes at a time */
    const size_t row = (size_t)n[2], plane = (size_t)n[1] * row;
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < n[0]; i++) {
            for (int j = 0; j < n[1]; j++)
                solve_both(a + (size_t)i * plane + (size_t)j * row, n[2], 1, 1);
            solve_both(a + (size_t)i * plane, n[1], row, row);
        }
#pragma omp for schedule(dynamic, 1)
        for (size_t at = 0; at < plane; at += WIDE)
            solve_both(a + at, n[0], plane, plane - at < WIDE ? plane - at : WIDE);
    }
}
