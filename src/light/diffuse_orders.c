/* SPDX-License-Identifier: MIT */
#include "diffuse_orders.h"

#include <math.h>

#include "../base/memory.h"

/* u from one point to the next: a spline errs by 1e-3 of a halo then (r.m.s. about one halo alone). */
#define STEP_U 0.42

enum {
    EVERY_ORDER = 12 /* that are summed one by one */
};

int nb_diffuse_points(double scale)
{
    double n = ceil(scale / STEP_U - 1e-9);
    return n < 1 ? 1 : n < 1e6 ? (int)n : 1000000;
}

void nb_diffuse_soft(int gauss, double n, double near2, double poly[NB_DIFFUSE_DEGREE + 1])
{
    double value = nb_diffuse_kernel(gauss, n, near2), power = 1;
    for (int j = 0; j <= NB_DIFFUSE_DEGREE; j++) {
        poly[j] = value * (gauss ? power : (j + 1) * power);
        power *= gauss ? 1 / (2 * n * (j + 1)) : 1 / (n * n + near2);
    }
}

double nb_diffuse_det(const double m[6])
{
    const double a = m[0], b = m[1], c = m[2], d = m[3] / 2, e = m[4] / 2, f = m[5] / 2;
    return a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
}

void nb_diffuse_half(const double m[6], double limit, double half[3])
{
    const double a = m[0], b = m[1], c = m[2], d = m[3] / 2, e = m[4] / 2, f = m[5] / 2;
    const double det = nb_diffuse_det(m);
    half[0] = sqrt(limit * (b * c - f * f) / det);
    half[1] = sqrt(limit * (a * c - e * e) / det);
    half[2] = sqrt(limit * (a * b - d * d) / det);
}

nb_order_kernel nb_order_kernel_of(const double *u2, int gauss, double n, double near2)
{
    nb_order_kernel k = {u2, gauss, n, near2, {0}};
    if (near2 > 0)
        nb_diffuse_soft(gauss, n, near2, k.poly);
    return k;
}

void nb_order_kernel_row(const void *kernel, const double x[3], int n, double *out)
{
    const nb_order_kernel *k = kernel;
    const double *m = k->u2;
    const double a = m[0] * x[0] * x[0] + m[1] * x[1] * x[1] + m[3] * x[0] * x[1];
    const double b = m[4] * x[0] + m[5] * x[1], near2 = k->near2;
    for (int i = 0; i < n; i++) {
        double l = x[2] + i, u2 = a + l * (b + m[2] * l), far = u2 > near2 ? u2 : near2;
        double y = near2 - u2, soft = 0;
        y = y > 0 ? y : 0;
        for (int j = NB_DIFFUSE_DEGREE; j > 0; j--)
            soft = (soft + k->poly[j]) * y;
        out[i] = nb_diffuse_kernel(k->gauss, k->n, far) + soft;
    }
}

/** Weight of order n as a part of 1 - exp(-X); times[n] = X^n/n!. */
static double share_of(double n, double X)
{
    if (X < 1e-9)
        return n == 1 ? 1 : 0;
    return nb_diffuse_weight(n, X) / -expm1(-X);
}

/** Orders between the nodes take the cubic through four of them over log n. */
static void spread_order(const nb_orders *to, double n, int i, double weight)
{
    int first = 0, four = to->count < 4 ? to->count : 4;
    while (first + four < to->count && to->n[first + 2] <= n)
        first++;
    for (int j = 0; j < four; j++) {
        double w = weight;
        for (int m = 0; m < four; m++)
            if (m != j)
                w *= log(n / to->n[first + m]) / log(to->n[first + j] / to->n[first + m]);
        to->share[(size_t)(first + j) * (NB_ORDER_SHARES + 1) + (size_t)i] += (float)w;
    }
}

nb_status nb_orders_new(double X_most, int orders, int threads, nb_orders *out,
                        nb_error *err)
{
    (void)threads;
    out->count = 0;
    for (double n = 1; out->count < NB_ORDERS;
         n = n < EVERY_ORDER ? n + 1 : fmax(n + 2, floor(1.2 * n))) {
        out->n[out->count++] = n;
        if (n >= orders)
            break;
    }
    out->step = X_most / NB_ORDER_SHARES;
    out->share = nb_alloc((size_t)out->count * (NB_ORDER_SHARES + 1), sizeof *out->share,
                          "orders of diffuse light", err);
    if (!out->share)
        return NB_ERR_NOMEM;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i <= NB_ORDER_SHARES; i++)
        for (int n = 1; n <= orders; n++) {
            double w = share_of(n, i * out->step);
            if (w > 1e-9)
                spread_order(out, n, i, w);
        }
    return NB_OK;
}
