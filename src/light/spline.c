/* SPDX-License-Identifier: MIT */
#include "spline.h"

/** Lines of n points, `step` apart, for `width` neighbours at once: (c[i-1] + 4 c[i] + c[i+1])/6 = a[i], c = a at both
 * ends (Thomas' algorithm; the divisors tend to 2 - sqrt 3). */
static void solve(float *a, int n, size_t step, size_t width)
{
    double divisor[32] = {0};
    for (int i = 1; i < 32; i++)
        divisor[i] = 1 / (4 - divisor[i - 1]);
    for (int i = 1; i < n - 1; i++) {
        float *at = a + (size_t)i * step;
        float d = (float)divisor[i < 32 ? i : 31];
        for (size_t j = 0; j < width; j++)
            at[j] = (6 * at[j] - at[(ptrdiff_t)j - (ptrdiff_t)step]) * d;
    }
    for (int i = n - 2; i > 0; i--) {
        float *at = a + (size_t)i * step;
        float d = (float)divisor[i < 32 ? i : 31];
        for (size_t j = 0; j < width; j++)
            at[j] -= d * at[j + step];
    }
}

void nb_spline_of(float *a, const int n[3])
{
    size_t row = (size_t)n[2], plane = (size_t)n[1] * row;
    for (int i = 0; i < n[0]; i++) {
        for (int j = 0; j < n[1]; j++)
            solve(a + (size_t)i * plane + (size_t)j * row, n[2], 1, 1);
        solve(a + (size_t)i * plane, n[1], row, row);
    }
    solve(a, n[0], plane, plane);
}
