/* SPDX-License-Identifier: MIT */
/** What a table of diffuse light leaves out near the reflections, and all of the light where Gaussian halos end: sums
 * over single reflections and orders, one text for the host and for devices. */
#ifndef NB_LIGHT_DIFFUSE_NEAR_H
#define NB_LIGHT_DIFFUSE_NEAR_H

#include "diffuse_table.h"

/* Gaussian halos of the first order end before wider ones of faint orders. A part of the light at the middle of a halo: */
#define NB_FAINT_LIGHT 1e-13 /* that is none, about a point */
#define NB_FAINT_SHARE 1e-18 /* of the orders that are left out */
#define NB_FAINT_STEEP 40    /* light about a point is more than it has there */
#define NB_NEAR_LEFT 1e-7    /* of a kernel, by the orders that are left out */
#define NB_FAINT_FIRST 16.0  /* u^2 to the first reflections that are looked at */

enum { NB_NEAR_ORDERS = 1024 }; /* of a sample, at most */

#ifdef NB_GPU
#define NB_NEAR_ROOM(share) double *share = NULL
#else
#define NB_NEAR_ROOM(share) double share[NB_NEAR_ORDERS]
#endif

/** The orders of a sample, and the sum of their polynomials. */
typedef struct nb_near_orders {
    int from, n, gauss;
    double X,
        first; /* the share of order from + 1; that of n is X/n times the one before */
    const double *share; /* of each order; NULL: on a device, which has no room for them */
    double inner2, near2; /* u^2 of the reflections that are summed */
    double least;         /* I0 of them */
    double poly[NB_DIFFUSE_DEGREE + 1];
} nb_near_orders;

/** The orders' kernels: their shares have one maximum. */
NB_HD double nb_near_gauss(const nb_near_orders *o, double u2)
{
    double sum = 0, w = o->first;
    for (int n = o->from; n < o->n; n++) {
        const double term = w * nb_diffuse_kernel(1, n + 1, u2);
        sum += term;
        if (term < NB_NEAR_LEFT * sum)
            break;
        w *= o->X / (n + 2);
    }
    return sum;
}

NB_HD double nb_near_kernel(const nb_near_orders *o, double u2)
{
    double y = o->near2 - u2, soft = 0, sum = 0, w = o->first;
    for (int j = NB_DIFFUSE_DEGREE; j >= 0; j--)
        soft = soft * y + o->poly[j];
    if (o->gauss)
        return nb_near_gauss(o, u2) - soft;
    for (int n = 0; o->share && n < o->n; n++)
        sum += o->share[n] * nb_diffuse_kernel(0, n + 1, u2);
    for (int n = 0; !o->share && n < o->n; n++) {
        sum += w * nb_diffuse_kernel(0, n + 1, u2);
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
        double z = h[2] - l, u2;
        if (!(power[l - t->low[2]] > o->least))
            continue;
        u2 = a + m[2] * z * (z + 2 * b);
        if (u2 >= o->inner2)
            sum += power[l - t->low[2]] * nb_near_kernel(o, u2);
    }
    return sum;
}

/** Count the orders that have a share, up to `most`; soft: whose polynomials are added, or NULL; share: room for
 * NB_NEAR_ORDERS, or NULL. */
NB_HD nb_near_orders nb_near_orders_of(int gauss, int most, const nb_diffuse_part *soft,
                                       double X, double *share)
{
    double w = X < 1e-9 ? 1 : X / expm1(X);
    nb_near_orders o = {0, 0, gauss, X, w, share, -1, soft ? soft->near2 : 0, 0, {0}};
    const double least = gauss ? NB_FAINT_SHARE : 1e-6;
    most = most < NB_NEAR_ORDERS ? most : NB_NEAR_ORDERS;
    for (; o.n < most && (w > least || o.n < X); w *= X / (o.n + 1)) {
        for (int j = 0; soft && j <= NB_DIFFUSE_DEGREE; j++)
            o.poly[j] += w * soft->poly[o.n][j];
        if (share)
            share[o.n] = w;
        o.n++;
    }
    return o;
}

/** The same of all rows; half: of the box about the ellipsoid u^2 = near2. */
NB_HD double nb_near_sum(const nb_diffuse_table *t, const nb_diffuse_part *p,
                         const nb_near_orders *o, const double half[3], const double h[3])
{
    int low[2], high[2];
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        low[i] = (int)ceil(fmax(h[i] - half[i], (double)t->low[i]));
        high[i] = (int)floor(fmin(h[i] + half[i], (double)(t->low[i] + t->n[i] - 1)));
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            sum += nb_near_row(t, p, o, h, i, j);
    return sum;
}

/** What the table leaves out near the reflections. */
NB_HD double nb_diffuse_near(const nb_diffuse_table *t, const nb_diffuse_part *p,
                             double X, const double h[3])
{
    NB_NEAR_ROOM(share);
    const nb_near_orders o =
        nb_near_orders_of(t->model.gauss, p->near_orders, p, X, share);
    return nb_near_sum(t, p, &o, p->half, h);
}

/** Leave out the first orders, which have no share beyond u^2 = inner2. */
NB_HD void nb_near_begin(nb_near_orders *o)
{
    for (int n = o->from; n + 1 < o->n; n++) {
        const double next = o->first * o->X / (n + 2);
        if (o->first * nb_diffuse_kernel(1, n + 1, o->inner2) >
            NB_NEAR_LEFT * next * nb_diffuse_kernel(1, n + 2, o->inner2))
            return;
        o->from = n + 1;
        o->first = next;
    }
}

/** Reflections one by one, further and further away, until those beyond have a part of 1e-4 at most, or less than this
 * light. */
NB_HD double nb_faint_sum(const nb_diffuse_table *t, const nb_diffuse_part *p,
                          nb_near_orders *o, const double h[3], double least)
{
    double sum = 0, rest, light;
    o->near2 = NB_FAINT_FIRST;
    do {
        const double u = sqrt(o->near2);
        const double half[3] = {u * p->half_one[0], u * p->half_one[1],
                                u * p->half_one[2]};
        sum += nb_near_sum(t, p, o, half, h);
        light = nb_near_gauss(o, o->near2);
        rest = p->most * light * (8 + p->many * u * o->near2);
        o->least = light > 0 ? NB_NEAR_LEFT * sum / light : 0;
        o->inner2 = o->near2;
        o->near2 *= 1.4;
        nb_near_begin(o);
    } while (rest > 1e-4 * sum && rest > least);
    return sum;
}

/** D/scale without a spline, where Gaussian halos end: all orders of the reflections that have a share. */
NB_HD_CALL double nb_diffuse_faint(const nb_diffuse_table *t, const double h[3])
{
    double sum = 0;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        const double X = nb_shape_radius2(p->form.X, h[0], h[1], h[2]),
                     part = p->form.part * -expm1(-X);
        NB_NEAR_ROOM(share);
        nb_near_orders o = nb_near_orders_of(1, t->faint_orders, NULL, X, share);
        sum += part * nb_faint_sum(t, p, &o, h, 1e-4 * t->faint / part);
    }
    return sum;
}

#endif
