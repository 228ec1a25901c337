/* SPDX-License-Identifier: MIT */
/** Sum over orientations for every shape and option, in double (vector_plan.h: DOUBLE): what
 * src/physics/lattice.h and structure_factor.h say, for NB_H pixels at once. */
#ifndef NB_RENDER_KERNEL_DOUBLE_H
#define NB_RENDER_KERNEL_DOUBLE_H

#include "../physics/structure_factor.h"
#include "kernel_rays.h"

/** Fractional indices and their nearest reflection. */
typedef struct sample {
    vd h[3], h0[3], d[3]; /* d = h - h0 */
} sample;

NB_INLINE vd interference_double(vd d, double N)
{
    vd u = N * d, ratio;
    u = u - vd_round(u);
    ratio = vd_sinpi(u) / vd_sinpi(d);
    return vd_pick((vl)(d == 0.0), vd_set(N), ratio);
}

/** 3 (sin x - x cos x)/x^3 at x = pi z, but for a sign where z is beyond 1/2: only its
 * square is used. */
NB_INLINE vd sphere_transform(vd z)
{
    vd x = NB_PI * z, x2 = x * x, f = z - vd_round(z), near, far;
    near = 1.0 - x2 / 10.0 * (1.0 - x2 / 28.0 * (1.0 - x2 / 54.0));
    far = 3.0 * (vd_sinpi(f) / x - vd_cospi(f)) / x2;
    return vd_pick((vl)(x < NB_SPHERE_SERIES), near, far);
}

NB_INLINE vd shape_radius2(const double *m, const vd d[3])
{
    return m[0] * d[0] * d[0] + m[1] * d[1] * d[1] + m[2] * d[2] * d[2] +
           m[3] * d[0] * d[1] + m[4] * d[0] * d[2] + m[5] * d[1] * d[2];
}

NB_INLINE vd lattice_factor(const nb_lattice *lattice, const vd d[3], const int shape)
{
    const double *N = lattice->N;
    const nb_shape_row row = nb_shape_row_of(shape);
    const double cells = N[0] * N[1] * N[2] * row.height;
    vd r2, product = vd_set(row.height);
    int i;
    switch (row.law) {
    case NB_LAW_SPHERE:
        r2 = d[0] * N[0] * (d[0] * N[0]) + d[1] * N[1] * (d[1] * N[1]) +
             d[2] * N[2] * (d[2] * N[2]);
        return cells * sphere_transform(vd_sqrt(lattice->fudge * r2));
    case NB_LAW_DECAY:
        r2 = shape_radius2(lattice->radius2, d);
        return cells * vd_exp(-(r2 / row.width * lattice->fudge));
    case NB_LAW_EDGE:
        r2 = shape_radius2(lattice->radius2, d);
        return (vd)((vl)(r2 * lattice->fudge < row.width) & (vl)vd_set(cells));
    case NB_LAW_FRINGES:
        for (i = 0; i < 3; i++)
            if (N[i] > 1)
                product = product * interference_double(d[i], N[i]);
        break;
    }
    return product;
}

NB_INLINE vl inside(vd x, double first, double last)
{
    return (vl)(x >= first) & (vl)(x <= last);
}

NB_INLINE vd box_index(const nb_factor_table *sf, vd i, vd j, vd k)
{
    return (i * sf->nk + j) * sf->nl + k;
}

/** F: of one table. */
NB_INLINE vd F_nearest(const nb_factor_table *sf, const double *F, const vd h0[3])
{
    vd i = h0[0] - sf->hmin, j = h0[1] - sf->kmin, k = h0[2] - sf->lmin, index;
    vl in = inside(i, 0, sf->nh - 1) & inside(j, 0, sf->nk - 1) & inside(k, 0, sf->nl - 1);
    index = (vd)(in & (vl)box_index(sf, i, j, k));
    return vd_pick(in, vd_gather(F, index), vd_set(sf->default_F));
}

NB_INLINE void cubic_weights(vd t, vd w[4])
{
    w[0] = -t * (t - 1.0) * (t - 2.0) / NB_MUTANT(CUBIC_WEIGHT, 6.01, 6.0);
    w[1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0;
    w[2] = -(t + 1.0) * t * (t - 2.0) / 2.0;
    w[3] = (t + 1.0) * t * (t - 1.0) / 6.0;
}

/** Four amplitudes that lie side by side. */
typedef double four __attribute__((vector_size(4 * sizeof(double))));

/** Tricubic for the lanes of `fits`, where all 64 neighbours are in the box; 0 elsewhere.  A
 * pixel at a time, four neighbours at once: they are contiguous, and a gather's cost is in the
 * number of addresses. */
NB_INLINE vd F_tricubic(const nb_factor_table *sf, const double *F, const vd h[3], vl fits)
{
    const int start[3] = {sf->hmin, sf->kmin, sf->lmin};
    vd w[3][4], corner[3], result = {0};
    int axis, i, j, lane;
    for (axis = 0; axis < 3; axis++) {
        vd below = vd_floor(h[axis]);
        cubic_weights(h[axis] - below, w[axis]);
        corner[axis] = below - (start[axis] + 1.0);
    }
    corner[0] = box_index(sf, corner[0], corner[1], corner[2]);
    for (lane = 0; lane < NB_H; lane++) {
        const double *first;
        four sum = {0}, l = {w[2][0][lane], w[2][1][lane], w[2][2][lane], w[2][3][lane]};
        if (!fits[lane])
            continue;
        first = F + (int64_t)corner[0][lane];
        for (i = 0; i < 4; i++) {
            four plane = {0}, row;
            for (j = 0; j < 4; j++) {
                memcpy(&row, first + ((int64_t)i * sf->nk + j) * sf->nl, sizeof row);
                plane += w[1][j][lane] * row;
            }
            sum += w[0][i][lane] * plane;
        }
        sum *= l;
        result[lane] = sum[0] + sum[1] + sum[2] + sum[3];
    }
    return result;
}

NB_INLINE vd structure_factor(const nb_factor_table *sf, const double *table,
                              const sample *p)
{
    vd F;
    vl fits;
    if (sf->nh == 0)
        return vd_set(sf->default_F);
    F = F_nearest(sf, table, p->h0);
    if (!sf->interpolate)
        return F;
    fits = inside(p->h[0], sf->hmin + 2.0, sf->hmin + sf->nh - 3.0) &
           inside(p->h[1], sf->kmin + 2.0, sf->kmin + sf->nk - 3.0) &
           inside(p->h[2], sf->lmin + 2.0, sf->lmin + sf->nl - 3.0);
    return vl_any(fits) ? vd_pick(fits, F_tricubic(sf, table, p->h, fits), F) : F;
}

/** Sum over the orientations of F_cell^2 F_latt^2 at q, F from one table. */
NB_INLINE vd double_sum(const nb_scene *sc, const double *table, const vd q[3],
                        const int shape)
{
    vd total = {0};
    int m, i;
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        const nb_vec3 cell[3] = {u->a, u->b, u->c};
        sample p;
        vd F;
        for (i = 0; i < 3; i++) {
            p.h[i] = vd_fma(q[0], vd_set(cell[i].x),
                            vd_fma(q[1], vd_set(cell[i].y), q[2] * cell[i].z));
            p.h0[i] = -vd_floor(0.5 - p.h[i]); /* halves go down */
            p.d[i] = p.h[i] - p.h0[i];
        }
        F = structure_factor(&sc->factors.table, table, &p) *
            lattice_factor(&sc->lattice, p.d, shape);
        total = vd_fma(F, F, total);
    }
    return total;
}

#endif
