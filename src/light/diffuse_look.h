/* SPDX-License-Identifier: MIT */
/** D at a point of reciprocal space, by a table: one text for the host and for devices, whose values are equal up to the
 * last bits of exp. */
#ifndef NB_LIGHT_DIFFUSE_LOOK_H
#define NB_LIGHT_DIFFUSE_LOOK_H

#include "diffuse_table.h"
#include "spline.h"

/** Where a point of a grid begins, and the weights along each axis. */
typedef struct nb_diffuse_spot {
    const float *c; /* the first coefficient that has a share */
    size_t row, plane;
    float w[3][NB_SPLINE_TERMS];
} nb_diffuse_spot;

NB_HD void nb_diffuse_find(const nb_diffuse_part *p, const double h[3], nb_diffuse_spot *s)
{
    int at[3];
    s->row = (size_t)p->n[2];
    s->plane = s->row * (size_t)p->n[1];
    for (int i = 0; i < 3; i++)
        at[i] = nb_spline_at(h[i] * p->scale[i] - p->low[i], p->n[i], s->w[i]);
    s->c = p->c + (size_t)at[0] * s->plane + (size_t)at[1] * s->row + (size_t)at[2];
}

#ifdef NB_GPU
/** The spline at a point of a grid: the operations of the other text, in its order. */
NB_HD float nb_diffuse_spline(const nb_diffuse_part *p, const double h[3])
{
    float sum[NB_SPLINE_TERMS] = {0};
    nb_diffuse_spot s;
    nb_diffuse_find(p, h, &s);
    for (int i = 0; i < NB_SPLINE_TERMS; i++) {
        float a[NB_SPLINE_TERMS] = {0};
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            for (int k = 0; k < NB_SPLINE_TERMS; k++)
                a[k] +=
                    s.w[1][j] * s.c[(size_t)i * s.plane + (size_t)j * s.row + (size_t)k];
        for (int k = 0; k < NB_SPLINE_TERMS; k++)
            sum[k] += s.w[0][i] * a[k];
    }
    return s.w[2][0] * sum[0] + s.w[2][1] * sum[1] + s.w[2][2] * sum[2] +
           s.w[2][3] * sum[3] + s.w[2][4] * sum[4] + s.w[2][5] * sum[5];
}
#else
typedef float nb_light_four __attribute__((vector_size(16)));
typedef float nb_light_four_anywhere
    __attribute__((vector_size(16), aligned(4), may_alias));

/** The spline at a point of a grid: by fours, which compilers do not find by themselves. */
NB_HD float nb_diffuse_spline(const nb_diffuse_part *p, const double h[3])
{
    nb_light_four first = {0}, last = {0}; /* of the terms along the third axis */
    nb_diffuse_spot s;
    nb_diffuse_find(p, h, &s);
    for (int i = 0; i < NB_SPLINE_TERMS; i++) {
        nb_light_four a = {0}, b = {0};
        const float *r = s.c + (size_t)i * s.plane;
        for (int j = 0; j < NB_SPLINE_TERMS; j++, r += s.row) {
            const nb_light_four v = {s.w[1][j], s.w[1][j], s.w[1][j], s.w[1][j]};
            a += v * *(const nb_light_four_anywhere *)r;
            b += v * *(const nb_light_four_anywhere *)(r + 4);
        }
        const nb_light_four v = {s.w[0][i], s.w[0][i], s.w[0][i], s.w[0][i]};
        first += v * a;
        last += v * b;
    }
    return s.w[2][0] * first[0] + s.w[2][1] * first[1] + s.w[2][2] * first[2] +
           s.w[2][3] * first[3] + s.w[2][4] * last[0] + s.w[2][5] * last[1];
}
#endif

enum { NB_NEAR_ORDERS = 1024 }; /* of a sample, at most */

/** The orders of a sample, and the sum of their polynomials. */
typedef struct nb_near_orders {
    int n, gauss;
    double X, first;     /* the share of order 1; that of n is X/n times the one before */
    const double *share; /* of each order; NULL: on a device, which has no room for them */
    double near2;
    double poly[NB_DIFFUSE_DEGREE + 1];
} nb_near_orders;

NB_HD double nb_near_kernel(const nb_near_orders *o, double u2)
{
    double y = o->near2 - u2, soft = 0, sum = 0, w = o->first;
    for (int j = NB_DIFFUSE_DEGREE; j >= 0; j--)
        soft = soft * y + o->poly[j];
    for (int n = 0; o->share && n < o->n; n++)
        sum += o->share[n] * nb_diffuse_kernel(o->gauss, n + 1, u2);
    for (int n = 0; !o->share && n < o->n; n++) {
        sum += w * nb_diffuse_kernel(o->gauss, n + 1, u2);
        w *= o->X / (n + 2);
    }
    return sum - soft;
}

/** What the table leaves out near the reflections, of one row of them. */
NB_HD double nb_near_row(const nb_diffuse_table *t, const nb_diffuse_part *p,
                         const nb_near_orders *o, const double h[3], int i, int j)
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
    room = sqrt(room); /* z + b in -room .. room, z = h[2] - l */
    first = (int)ceil(fmax(h[2] + b - room, (double)t->low[2]));
    last = (int)floor(fmin(h[2] + b + room, (double)(t->low[2] + t->n[2] - 1)));
    for (int l = first; l <= last; l++) {
        double z = h[2] - l;
        if (power[l - t->low[2]] > 0)
            sum += power[l - t->low[2]] * nb_near_kernel(o, a + m[2] * z * (z + 2 * b));
    }
    return sum;
}

/** Count the orders that have a share; share: room for NB_NEAR_ORDERS, or NULL. */
NB_HD nb_near_orders nb_near_orders_of(const nb_diffuse_table *t,
                                       const nb_diffuse_part *p, double X, double *share)
{
    double w = X < 1e-9 ? 1 : X / expm1(X);
    nb_near_orders o = {0, t->model.gauss, X, w, share, p->near2, {0}};
    const int most = p->near_orders < NB_NEAR_ORDERS ? p->near_orders : NB_NEAR_ORDERS;
    for (; o.n < most && (w > 1e-6 || o.n < X); w *= X / (o.n + 1)) {
        for (int j = 0; j <= NB_DIFFUSE_DEGREE; j++)
            o.poly[j] += w * p->poly[o.n][j];
        if (share)
            share[o.n] = w;
        o.n++;
    }
    return o;
}

NB_HD double nb_near_sum(const nb_diffuse_table *t, const nb_diffuse_part *p,
                         const nb_near_orders *o, const double h[3])
{
    int low[2], high[2];
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        low[i] = (int)ceil(fmax(h[i] - p->half[i], (double)t->low[i]));
        high[i] = (int)floor(fmin(h[i] + p->half[i], (double)(t->low[i] + t->n[i] - 1)));
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            sum += nb_near_row(t, p, o, h, i, j);
    return sum;
}

/** The same, with the orders of a sample. */
NB_HD double nb_diffuse_near(const nb_diffuse_table *t, const nb_diffuse_part *p,
                             double X, const double h[3])
{
#ifdef NB_GPU
    const nb_near_orders o = nb_near_orders_of(t, p, X, NULL);
#else
    double share[NB_NEAR_ORDERS];
    const nb_near_orders o = nb_near_orders_of(t, p, X, share);
#endif
    return nb_near_sum(t, p, &o, h);
}

/** D/scale at a fractional index, |q| <= reach. */
NB_HD double nb_diffuse_look(const nb_diffuse_table *t, double h, double k, double l)
{
    const double at[3] = {h, k, l};
    double sum = 0;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        double X = nb_shape_radius2(p->form.X, h, k, l), D = nb_diffuse_spline(p, at);
        if (p->near2 > 0)
            D += nb_diffuse_near(t, p, X, at);
        sum += p->form.part * -expm1(-X) * D;
    }
    return sum > 0 ? sum : 0;
}

#endif
