/* SPDX-License-Identifier: MIT */
#include "diffuse_table.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "diffuse_look.h"

enum { DEGREE = 3 };     /* degree in u^2 of soft halos */
#define TERMS_ERROR 3e-4 /* largest relative error of a halo at any X */
/* Largest u^2 at which TERMS_ERROR holds. Gaussian halos are faint at larger u^2. */
#define FAR_EXP 1e5
#define FAR_GAUSS 60.0

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

int nb_curve_columns(double far2)
{
    float part;
    return nb_curve_at((float)far2, &part) + 2;
}

/** Set the orders at X, with weights that add up to 1. */
static void orders_of(double X, nb_diffuse_series *s)
{
    s->first = s->n = 1;
    s->weight[0] = 1;
    if (X < 1e-9)
        return;
    nb_diffuse_series_of(X, s);
    for (int i = 0; i < s->n; i++)
        s->weight[i] /= -expm1(-X);
}

/** Taylor series sum_j poly[j] (near2 - u^2)^j of the halo around u^2 = near2; 0 if near2
 * is 0. */
static void soften(int gauss, const nb_diffuse_series *s, double near2,
                   double poly[DEGREE + 1])
{
    memset(poly, 0, (DEGREE + 1) * sizeof *poly);
    for (int i = 0; near2 > 0 && i < s->n; i++) {
        const double n = s->first + i;
        double power = s->weight[i] * nb_diffuse_kernel(gauss, n, near2);
        for (int j = 0; j <= DEGREE; j++) {
            poly[j] += gauss ? power : (j + 1) * power;
            power *= gauss ? 1 / (2 * n * (j + 1)) : 1 / (n * n + near2);
        }
    }
}

static double soft_at(const double poly[DEGREE + 1], double near2, double u2)
{
    const double y = near2 - u2;
    return poly[0] + y * (poly[1] + y * (poly[2] + y * poly[3]));
}

/** Halo at X, soft inside of near2. */
static void soft_curve(int gauss, double X, double near2, int columns, double *out)
{
    nb_diffuse_series s;
    double poly[DEGREE + 1];
    orders_of(X, &s);
    soften(gauss, &s, near2, poly);
    for (int i = 0; i < columns; i++) {
        const double u2 = nb_curve_u2(i);
        out[i] = u2 < near2 ? soft_at(poly, near2, u2) : nb_diffuse_orders(gauss, &s, u2);
    }
}

/** X of node j of n Chebyshev nodes. */
static double node_of(double X_max, int n, int j)
{
    const double half = log1p(X_max / NB_DIFFUSE_X_UNIT) / 2;
    return NB_DIFFUSE_X_UNIT * expm1(half * (1 - cos(NB_PI * (j + 0.5) / n)));
}

static void lagrange(double X_max, int n, double X, double weight[NB_TERMS])
{
    double t[NB_TERMS];
    const double at = log1p(X / NB_DIFFUSE_X_UNIT);
    for (int i = 0; i < n; i++)
        t[i] = log1p(node_of(X_max, n, i) / NB_DIFFUSE_X_UNIT);
    for (int i = 0; i < n; i++) {
        weight[i] = 1;
        for (int j = 0; j < n; j++)
            if (j != i)
                weight[i] *= (at - t[j]) / (t[i] - t[j]);
    }
}

/** Values of the halo at X, at SOME values of u^2. */
enum { SOME = 24 };
static void some_values(int gauss, double X, double out[SOME])
{
    const double far = log1p(gauss ? FAR_GAUSS : FAR_EXP);
    nb_diffuse_series s;
    orders_of(X, &s);
    for (int i = 0; i < SOME; i++)
        out[i] = nb_diffuse_orders(gauss, &s, expm1(far * i / (SOME - 1)));
}

/** Largest relative error of the halo with n terms. */
static double error_of(int gauss, double X_max, int n)
{
    enum { STEPS = 40 };
    double node[NB_TERMS][SOME], weight[NB_TERMS], want[SOME], worst = 0;
    for (int j = 0; j < n; j++)
        some_values(gauss, node_of(X_max, n, j), node[j]);
    for (int k = 1; k <= STEPS; k++) {
        const double X = X_max * k * k / STEPS / STEPS;
        lagrange(X_max, n, X, weight);
        some_values(gauss, X, want);
        for (int i = 0; i < SOME; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++)
                sum += weight[j] * node[j][i];
            worst = fmax(worst, fabs(sum / want[i] - 1));
        }
    }
    return worst;
}

int nb_diffuse_terms_count(int gauss, double X_max)
{
    int n = 1;
    while (n < NB_TERMS && error_of(gauss, X_max, n) > TERMS_ERROR)
        n++;
    return n;
}

nb_status nb_diffuse_terms_new(int gauss, double X_max, double near2, double far2,
                               nb_diffuse_terms *o, nb_error *err)
{
    double weight[NB_TERMS];
    const size_t row = NB_TERM_SHARES + 1;
    o->n = nb_diffuse_terms_count(gauss, X_max);
    o->columns = nb_curve_columns(far2);
    o->per = NB_TERM_SHARES / X_max;
    o->kernel = nb_alloc_raw((size_t)o->n * (size_t)o->columns, sizeof *o->kernel,
                             "diffuse light", err);
    o->share = nb_alloc_raw((size_t)o->n * row, sizeof *o->share, "diffuse light", err);
    if (!o->kernel || !o->share)
        return NB_ERR_NOMEM;
    for (int j = 0; j < o->n; j++)
        soft_curve(gauss, node_of(X_max, o->n, j), near2, o->columns,
                   o->kernel + (size_t)j * (size_t)o->columns);
    for (size_t i = 0; i < row; i++) {
        lagrange(X_max, o->n, (double)i / o->per, weight);
        for (int j = 0; j < o->n; j++)
            o->share[(size_t)j * row + i] = (float)weight[j];
    }
    return NB_OK;
}

void nb_diffuse_terms_clear(nb_diffuse_terms *o)
{
    nb_free(o->kernel);
    nb_free(o->share);
}

void nb_diffuse_near_rows(int gauss, double X_max, double near2, int columns, int threads,
                          float *near)
{
    const double step = log1p(X_max / NB_DIFFUSE_X_UNIT) / (NB_NEAR_ROWS - 1);
    (void)threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int r = 0; r < NB_NEAR_ROWS; r++) {
        nb_diffuse_series s;
        double poly[DEGREE + 1];
        orders_of(NB_DIFFUSE_X_UNIT * expm1(r * step), &s);
        soften(gauss, &s, near2, poly);
        for (int i = 0; i < columns; i++)
            near[(size_t)r * (size_t)columns + (size_t)i] =
                (float)(nb_diffuse_orders(gauss, &s, nb_curve_u2(i)) -
                        soft_at(poly, near2, nb_curve_u2(i)));
    }
}
