/* SPDX-License-Identifier: MIT */
/** What the grid of a table of diffuse light leaves out near the reflections, and all of the light where Gaussian halos
 * end: sums over single reflections, one text for the host and for devices. */
#ifndef NB_LIGHT_DIFFUSE_NEAR_H
#define NB_LIGHT_DIFFUSE_NEAR_H

#include "curve.h"
#include "diffuse_table.h"

/* Gaussian halos of the first order end before wider ones of faint orders. A part of the light at the middle of a halo: */
#define NB_FAINT_LIGHT 1e-13 /* that is none, about a point */
#define NB_FAINT_SHARE 1e-18 /* of the orders that are left out */
#define NB_FAINT_STEEP 40    /* light about a point is more than it has there */
#define NB_FAINT_LEFT 1e-7   /* of a kernel, by the orders that are left out */
#define NB_FAINT_FIRST 16.0  /* u^2 to the first reflections that are looked at */

enum { NB_FAINT_ORDERS = 1024 }; /* of a sample, at most */

/** The halos that are summed at a sample: those of a near row, or (row NULL) orders of Gaussian ones. */
typedef struct nb_halo {
    const float *row, *next; /* the rows about X */
    float part;              /* of the way from one to the other */
    int from, n;             /* orders from + 1 to n */
    double X,
        first; /* the share of order from + 1; that of n is X/n times the one before */
    double inner2, near2; /* u^2 of the reflections */
    double least;         /* I0 of them */
} nb_halo;

/** Gaussian orders: their shares have one maximum. */
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

/** ceil of an index, which is a call elsewhere. */
NB_HD int nb_near_ceil(double x)
{
    return (int)x + (x > (int)x);
}

/** The sum over one row of reflections. */
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
    room = sqrt(room); /* z + b in -room .. room, z = h[2] - l */
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

/** The same of all rows; half: of the box about the ellipsoid u^2 = near2. */
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

/** What the grid leaves out near the reflections, in units of the largest I0. */
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

/** The orders of a sample that have a share. */
NB_HD nb_halo nb_faint_halo(int most, double X)
{
    double w = X < 1e-9 ? 1 : X / expm1(X);
    nb_halo o = {NULL, NULL, 0, 0, 0, X, w, -1, NB_FAINT_FIRST, 0};
    most = most < NB_FAINT_ORDERS ? most : NB_FAINT_ORDERS;
    for (; o.n < most && (w > NB_FAINT_SHARE || o.n < X); w *= X / (o.n + 1))
        o.n++;
    return o;
}

/** Leave out the first orders, which have no share beyond u^2 = inner2. */
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

/** Reflections one by one, further and further away, until those beyond have a part of 1e-4 at most, or less than this
 * light. */
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

/** D/scale without a grid, where Gaussian halos end: all orders of the reflections that have a share. */
NB_HD_CALL double nb_diffuse_faint(const nb_diffuse_table *t, const double h[3])
{
    double sum = 0;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        const double X = nb_shape_radius2(p->form.X, h[0], h[1], h[2]),
                     part = p->form.part * p->most * -expm1(-X);
        nb_halo o = nb_faint_halo(t->faint_orders, X);
        if (part > 0)
            sum += part * nb_faint_sum(t, p, &o, h, 1e-4 * t->faint / part);
    }
    return sum;
}

#endif
