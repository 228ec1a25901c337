/* SPDX-License-Identifier: MIT */
/** Look up D (physics/diffuse.h) at a point of reciprocal space in a table. Host and
 * devices share this code: their values are equal up to the last bits of exp. */
#ifndef NB_LIGHT_DIFFUSE_LOOK_H
#define NB_LIGHT_DIFFUSE_LOOK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../physics/hostdevice.h"
#include "diffuse_table.h"

/* Curves over u^2: straight between columns, which are evenly spaced in each octave of 1
 * + u^2 */

enum { NB_CURVE_BITS = 7 }; /* an octave has 2^NB_CURVE_BITS pieces */

/** Column at or before u2, from the exponent and the first bits of 1 + u2. *part: 0..1,
 * position of u2 between this column and the next. */
NB_HD int nb_curve_at(float u2, float *part)
{
    const float y = 1 + (u2 > 0 ? u2 : 0);
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits -= 127u << 23;
    *part = (float)(bits & ((1u << (23 - NB_CURVE_BITS)) - 1)) *
            (1.0f / (float)(1u << (23 - NB_CURVE_BITS)));
    return (int)(bits >> (23 - NB_CURVE_BITS));
}

/** u^2 of a column. */
static inline double nb_curve_u2(int column)
{
    const int pieces = 1 << NB_CURVE_BITS;
    return ldexp(1 + (double)(column % pieces) / pieces, column / pieces) - 1;
}

/* Sums over single reflections: the light near reflections, which the grid leaves out,
 * and all light at points where Gaussian halos have ended */

/* Gaussian halos of the first order end before the wider halos of higher orders. */
/* light that counts as 0, in units of the brightest halo's middle */
#define NB_FAINT_LIGHT 1e-13
#define NB_FAINT_SHARE 1e-18 /* orders with a smaller share of the light are left out */
/* a spline is used if (light around a point) / (light at the point) is smaller */
#define NB_FAINT_STEEP 40
#define NB_FAINT_LEFT 1e-7  /* orders that add a smaller part of a sum are left out */
#define NB_FAINT_FIRST 16.0 /* u^2 of the first ellipsoid of reflections */

enum { NB_FAINT_ORDERS = 1024 }; /* limit of the orders of a sample */

/** Halo at a sample: from two rows of a table, or a sum of Gaussian orders (row NULL). */
typedef struct nb_halo {
    /* rows of the table of near halos with X before and after that of the sample */
    const float *row, *next;
    /* weight of the row `next`; 1 - part is the weight of `row` */
    float part;
    int from, n; /* orders from + 1 to n */
    double X,
        /* share of order from + 1; the share of order n is X/n times that of order n -
         * 1 */
        first;
    double inner2, near2; /* the sum takes reflections with u^2 = inner2 ... near2 */
    double least;         /* reflections with a smaller I0 are left out */
} nb_halo;

/** Sum of Gaussian orders at u2. The sum can end before the last order, because the terms
 * have a single maximum. */
NB_HD double nb_halo_gauss(const nb_halo *o, double u2)
{
    double sum = 0, w = o->first;
    for (int n = o->from; n < o->n; n++) {
        const double term = w * nb_diffuse_kernel(1, n + 1, u2);
        sum += term;
        if (term < NB_FAINT_LEFT * sum)
            break;
        w *= o->X / (n + 2);
    }
    return sum;
}

NB_HD double nb_halo_at(const nb_halo *o, double u2)
{
    float part;
    int i;
    if (!o->row)
        return nb_halo_gauss(o, u2);
    i = nb_curve_at((float)u2, &part);
    return (1 - part) * (o->row[i] + o->part * (o->next[i] - o->row[i])) +
           part * (o->row[i + 1] + o->part * (o->next[i + 1] - o->row[i + 1]));
}

/** The function ceil for an index, without a call of the C library. */
NB_HD int nb_near_ceil(double x)
{
    return (int)x + (x > (int)x);
}

/** Sum over row (i, j) of reflections. */
NB_HD double nb_near_row(const nb_diffuse_table *t, const nb_diffuse_part *p,
                         const nb_halo *o, const double h[3], int i, int j)
{
    const double x = h[0] - i, y = h[1] - j, *m = p->form.u2;
    const double a = m[0] * x * x + m[1] * y * y + m[3] * x * y,
                 b = (m[4] * x + m[5] * y) / (2 * m[2]);
    const float *power =
        p->power + ((size_t)(i - t->low[0]) * (size_t)t->n[1] + (size_t)(j - t->low[1])) *
                       (size_t)t->n[2];
    double room = (o->near2 - a) / m[2] + b * b, sum = 0;
    int first, last;
    if (room <= 0)
        return 0;
    room = sqrt(room); /* reflections l with z + b in -room .. room, z = h[2] - l */
    first = nb_near_ceil(fmax(h[2] + b - room, (double)t->low[2]));
    last = -nb_near_ceil(-fmin(h[2] + b + room, (double)(t->low[2] + t->n[2] - 1)));
    for (int l = first; l <= last; l++) {
        double z = h[2] - l, u2;
        if (!(power[l - t->low[2]] > o->least))
            continue;
        u2 = a + m[2] * z * (z + 2 * b);
        if (u2 >= o->inner2)
            sum += power[l - t->low[2]] * nb_halo_at(o, u2);
    }
    return sum;
}

/** Sum over all rows. half: half edges of the box around the ellipsoid u^2 = near2. */
NB_HD double nb_near_sum(const nb_diffuse_table *t, const nb_diffuse_part *p,
                         const nb_halo *o, const double half[3], const double h[3])
{
    int low[2], high[2];
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        low[i] = nb_near_ceil(fmax(h[i] - half[i], (double)t->low[i]));
        high[i] = -nb_near_ceil(-fmin(h[i] + half[i], (double)(t->low[i] + t->n[i] - 1)));
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            sum += nb_near_row(t, p, o, h, i, j);
    return sum;
}

/** Light that the grid leaves out near the reflections, in units of the largest I0. */
NB_HD double nb_diffuse_near(const nb_diffuse_table *t, const nb_diffuse_part *p,
                             double X, const double h[3])
{
    const double at = t->rows_per * log1p(X / NB_DIFFUSE_X_UNIT);
    const int r = at < NB_NEAR_ROWS - 2 ? (int)at : NB_NEAR_ROWS - 2;
    const float *row = p->near + (size_t)r * (size_t)p->columns;
    const nb_halo o = {row, row + p->columns, (float)(at - r), 0, 0, X, 0, -1, p->near2,
                       0};
    return nb_near_sum(t, p, &o, p->half, h);
}

/** Gaussian orders of a sample, without orders of negligible share. */
NB_HD nb_halo nb_faint_halo(int largest, double X)
{
    double w = X < 1e-9 ? 1 : X / expm1(X);
    nb_halo o = {NULL, NULL, 0, 0, 0, X, w, -1, NB_FAINT_FIRST, 0};
    largest = largest < NB_FAINT_ORDERS ? largest : NB_FAINT_ORDERS;
    for (; o.n < largest && (w > NB_FAINT_SHARE || o.n < X); w *= X / (o.n + 1))
        o.n++;
    return o;
}

/** Leave out the first orders that add no light outside of u^2 = inner2. */
NB_HD void nb_faint_begin(nb_halo *o)
{
    for (int n = o->from; n + 1 < o->n; n++) {
        const double next = o->first * o->X / (n + 2);
        if (o->first * nb_diffuse_kernel(1, n + 1, o->inner2) >
            NB_FAINT_LEFT * next * nb_diffuse_kernel(1, n + 2, o->inner2))
            return;
        o->from = n + 1;
        o->first = next;
    }
}

/** Sum over reflections in growing ellipsoids. The sum ends if the reflections outside
 * the ellipsoid add at most 1e-4 of the sum, or at most the light `least`. */
NB_HD double nb_faint_sum(const nb_diffuse_table *t, const nb_diffuse_part *p, nb_halo *o,
                          const double h[3], double least)
{
    double sum = 0, rest, light;
    do {
        const double u = sqrt(o->near2);
        const double half[3] = {u * p->half_one[0], u * p->half_one[1],
                                u * p->half_one[2]};
        sum += nb_near_sum(t, p, o, half, h);
        light = nb_halo_gauss(o, o->near2);
        rest = light * (8 + p->many * u * o->near2);
        o->least = light > 0 ? NB_FAINT_LEFT * sum / light : 0;
        o->inner2 = o->near2;
        o->near2 *= 1.4;
        nb_faint_begin(o);
    } while (rest > 1e-4 * sum && rest > least);
    return sum;
}

/** D/scale at a point where Gaussian halos have ended: a sum of all orders over
 * reflections. */
NB_HD_CALL double nb_diffuse_faint(const nb_diffuse_table *t, const double h[3])
{
    double sum = 0;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        const double X = nb_shape_radius2(p->form.X, h[0], h[1], h[2]),
                     part = p->form.part * p->largest * -expm1(-X);
        nb_halo o = nb_faint_halo(t->faint_orders, X);
        if (part > 0)
            sum += part * nb_faint_sum(t, p, &o, h, 1e-4 * t->faint / part);
    }
    return sum;
}

/* Splines of the fifth degree through the points of a grid: coefficients and weights */

#define NB_SPLINE_TERMS 6 /* number of coefficients of a value along an axis */
/* index, among the six, of the coefficient at or before the point */
#define NB_SPLINE_BEFORE 2

/** Weights of six coefficients for a point at distance t (0..1) after the third one. */
NB_HD void nb_spline_weights(float t, float w[NB_SPLINE_TERMS])
{
    const float s = 1 - t, t2 = t * t, s2 = s * s, per = 1 / 120.0f;
    w[0] = s2 * s2 * s * per;
    w[1] = (26 + t * (-50 + t * (20 + t * (20 + t * (-20 + 5 * t))))) * per;
    w[2] = (66 + t2 * (-60 + t2 * (30 - 10 * t))) * per;
    w[3] = (66 + s2 * (-60 + s2 * (30 - 10 * s))) * per;
    w[4] = (26 + s * (-50 + s * (20 + s * (20 + s * (-20 + 5 * s))))) * per;
    w[5] = t2 * t2 * t * per;
}

/** Index of the first coefficient, and weights, for a value at y on a line of n >= 6. */
NB_HD int nb_spline_at(double y, int n, float w[NB_SPLINE_TERMS])
{
    int at = (int)y - (y < (int)y);
    at = at < NB_SPLINE_BEFORE ? NB_SPLINE_BEFORE : at > n - 4 ? n - 4 : at;
    nb_spline_weights((float)(y - at), w);
    return at - NB_SPLINE_BEFORE;
}

/** Turn values a[n0][n1][n2] into coefficients; n_i >= 6. Lines continue after their end
 * points by reflection. The error of this reflection falls by a factor of 0.43 from point
 * to point. */
void nb_spline_of(float *a, const int n[3], int threads);

/** First coefficient for a point, and the weights of the coefficients along each axis. */
typedef struct nb_diffuse_spot {
    const float *c; /* first coefficient; the others follow along each axis */
    size_t row, plane;
    float w[3][NB_SPLINE_TERMS];
} nb_diffuse_spot;

NB_HD void nb_diffuse_find(const nb_diffuse_part *p, const double h[3], nb_diffuse_spot *s)
{
    int at[3];
    s->row = (size_t)p->n[2];
    s->plane = s->row * (size_t)p->n[1];
    for (int i = 0; i < 3; i++)
        at[i] = nb_spline_at(h[i] * p->per[i] - p->low[i], p->n[i], s->w[i]);
    s->c = p->c + (size_t)at[0] * s->plane + (size_t)at[1] * s->row + (size_t)at[2];
}

#ifdef NB_GPU
/** Spline at a point of a grid, with the operations of the host and in the same order. */
NB_HD float nb_diffuse_spline(const nb_diffuse_spot *s)
{
    float sum[NB_SPLINE_TERMS] = {0};
    for (int i = 0; i < NB_SPLINE_TERMS; i++) {
        float a[NB_SPLINE_TERMS] = {0};
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            for (int k = 0; k < NB_SPLINE_TERMS; k++)
                a[k] += s->w[1][j] *
                        s->c[(size_t)i * s->plane + (size_t)j * s->row + (size_t)k];
        for (int k = 0; k < NB_SPLINE_TERMS; k++)
            sum[k] += s->w[0][i] * a[k];
    }
    return s->w[2][0] * sum[0] + s->w[2][1] * sum[1] + s->w[2][2] * sum[2] +
           s->w[2][3] * sum[3] + s->w[2][4] * sum[4] + s->w[2][5] * sum[5];
}
#else
typedef float nb_light_four __attribute__((vector_size(16)));
typedef float nb_light_four_anywhere
    __attribute__((vector_size(16), aligned(4), may_alias));

/** Spline at a point of a grid, with explicit vectors of four, which compilers do not
 * find. */
NB_HD float nb_diffuse_spline(const nb_diffuse_spot *s)
{
    nb_light_four first = {0}, last = {0}; /* terms 0..3 and 4..5 along the third axis */
    for (int i = 0; i < NB_SPLINE_TERMS; i++) {
        nb_light_four a = {0}, b = {0};
        const float *r = s->c + (size_t)i * s->plane;
        for (int j = 0; j < NB_SPLINE_TERMS; j++, r += s->row) {
            const nb_light_four v = {s->w[1][j], s->w[1][j], s->w[1][j], s->w[1][j]};
            a += v * *(const nb_light_four_anywhere *)r;
            b += v * *(const nb_light_four_anywhere *)(r + 4);
        }
        const nb_light_four v = {s->w[0][i], s->w[0][i], s->w[0][i], s->w[0][i]};
        first += v * a;
        last += v * b;
    }
    return s->w[2][0] * first[0] + s->w[2][1] * first[1] + s->w[2][2] * first[2] +
           s->w[2][3] * first[3] + s->w[2][4] * last[0] + s->w[2][5] * last[1];
}
#endif

/** Largest of 14 coefficients around a point: the corners and the middles of the faces of
 * the 6 x 6 x 6 around it. */
NB_HD float nb_diffuse_about(const nb_diffuse_spot *s)
{
    const size_t at[3] = {s->plane, s->row, 1}, middle = 2 * (at[0] + at[1] + at[2]);
    float largest = 0;
    for (int i = 0; i < 8; i++)
        largest = fmaxf(
            largest,
            fabsf(s->c[5 * ((i & 1) * at[0] + (i >> 1 & 1) * at[1] + (i >> 2) * at[2])]));
    for (int i = 0; i < 3; i++)
        largest = fmaxf(largest, fmaxf(fabsf(s->c[middle - 2 * at[i]]),
                                       fabsf(s->c[middle + 3 * at[i]])));
    return largest;
}

/** D/scale at a fractional index, |q| <= reach. */
NB_HD double nb_diffuse_look(const nb_diffuse_table *t, double h, double k, double l)
{
    const double at[3] = {h, k, l};
    double sum = 0, about = 0;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        const double X = nb_shape_radius2(p->form.X, h, k, l),
                     part = p->form.part * p->largest * -expm1(-X);
        double D = 0;
        if (p->c) {
            nb_diffuse_spot s;
            nb_diffuse_find(p, at, &s);
            D = nb_diffuse_spline(&s);
            if (t->model.gauss)
                about = fmax(about, part * nb_diffuse_about(&s));
        }
        if (p->near2 > 0)
            D += nb_diffuse_near(t, p, X, at);
        sum += part * D;
    }
    if (t->model.gauss &&
        (!t->parts->c || (about > NB_FAINT_STEEP * sum && about > t->faint)))
        sum = nb_diffuse_faint(t, at);
    return sum > 0 ? sum : 0;
}

#endif
