/* SPDX-License-Identifier: MIT */
#include "factor_sites.h"

#include <math.h>
#include <string.h>

#include "../../src/factors/sums.h"
#include "../../src/factors/factors.h"

nb_site test_random_site(uint64_t *state, const double cell[6], double spread, size_t i)
{
    nb_site site = {.q = 0.3 + 0.7 * test_random(state), .Z = 6};
    double B = 5 + spread * test_random(state), G[6], U[6], A[9], M[9];
    nb_reciprocal_metric(cell, G);
    nb_cell_axes(cell, A);
    nb_invert(A, M);
    for (int j = 0; j < 3; j++)
        site.x[j] = 2 * test_random(state) - 0.5;
    for (int j = 0; j < 6; j++) {
        site.beta[j] = B / 4 * G[j];
        U[j] = B / (8 * M_PI * M_PI) * (j < 3 ? 1 : 0.6 * test_random(state) - 0.3);
    }
    site.B_low = site.B_high = B;
    if (i % 3 == 2) {
        nb_principal_limits(U, &site.B_low, &site.B_high);
        site.B_low *= 8 * M_PI * M_PI;
        site.B_high *= 8 * M_PI * M_PI;
        nb_turn_symmetric(M, U, site.beta);
        for (int j = 0; j < 6; j++)
            site.beta[j] *= (j < 3 ? 2 : 4) * M_PI * M_PI;
    }
    return site;
}

void test_sum_terms(const nb_site *sites, size_t count, const nb_symmetry *sg,
                    const int (*hkl)[3], size_t n, double *P)
{
    memset(P, 0, 2 * n * sizeof *P);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < count; i++)
            for (int j = 0; j < sg->count; j++) {
                const nb_site *s = &sites[i];
                int g[3];
                double angle, T;
                nb_hR(&sg->ops[j], hkl[r], g);
                T = s->q * exp(-nb_s_squared(s->beta, g[0], g[1], g[2]));
                angle = 2 * M_PI *
                        (g[0] * s->x[0] + g[1] * s->x[1] + g[2] * s->x[2] +
                         nb_ht(&sg->ops[j], hkl[r]) / 24.);
                P[2 * r] += T * cos(angle);
                P[2 * r + 1] += T * sin(angle);
            }
}

void test_differences(const double *a, const double *b, size_t n, double *rms, double *max)
{
    double off = 0, all = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        double x = a[2 * i] - b[2 * i], y = a[2 * i + 1] - b[2 * i + 1];
        off += x * x + y * y;
        all += b[2 * i] * b[2 * i] + b[2 * i + 1] * b[2 * i + 1];
        largest = fmax(largest, x * x + y * y);
    }
    *rms = sqrt(off / all);
    *max = sqrt(largest / (all / (double)n));
}
