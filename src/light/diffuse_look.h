/* SPDX-License-Identifier: MIT */
/** D at a point of reciprocal space, by a table: one text for the host and for devices, whose values are equal up to the
 * last bits of exp. */
#ifndef NB_LIGHT_DIFFUSE_LOOK_H
#define NB_LIGHT_DIFFUSE_LOOK_H

#include "diffuse_near.h"
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
        at[i] = nb_spline_at(h[i] * p->per[i] - p->low[i], p->n[i], s->w[i]);
    s->c = p->c + (size_t)at[0] * s->plane + (size_t)at[1] * s->row + (size_t)at[2];
}

#ifdef NB_GPU
/** The spline at a point of a grid: the operations of the other text, in its order. */
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

/** The spline at a point of a grid: by fours, which compilers do not find by themselves. */
NB_HD float nb_diffuse_spline(const nb_diffuse_spot *s)
{
    nb_light_four first = {0}, last = {0}; /* of the terms along the third axis */
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

/** The largest coefficient at the corners and the middles of the faces of what a spline takes. */
NB_HD float nb_diffuse_about(const nb_diffuse_spot *s)
{
    const size_t at[3] = {s->plane, s->row, 1}, middle = 2 * (at[0] + at[1] + at[2]);
    float most = 0;
    for (int i = 0; i < 8; i++)
        most = fmaxf(
            most,
            fabsf(s->c[5 * ((i & 1) * at[0] + (i >> 1 & 1) * at[1] + (i >> 2) * at[2])]));
    for (int i = 0; i < 3; i++)
        most = fmaxf(most, fmaxf(fabsf(s->c[middle - 2 * at[i]]),
                                 fabsf(s->c[middle + 3 * at[i]])));
    return most;
}

/** D/scale at a fractional index, |q| <= reach. */
NB_HD double nb_diffuse_look(const nb_diffuse_table *t, double h, double k, double l)
{
    const double at[3] = {h, k, l};
    double sum = 0, about = 0;
    for (int r = 0; r < t->model.n_forms; r++) {
        const nb_diffuse_part *p = &t->parts[r];
        const double X = nb_shape_radius2(p->form.X, h, k, l),
                     part = p->form.part * p->most * -expm1(-X);
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
