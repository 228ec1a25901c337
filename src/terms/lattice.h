/* SPDX-License-Identifier: MIT */
/** The lattice factor of every shape in double, as in src/physics/lattice.h, for vectors
 * of a CPU (one lane for each pixel). Threads of a GPU use src/physics in double and
 * shapes.h in floats. */
#ifndef NB_TERMS_LATTICE_H
#define NB_TERMS_LATTICE_H

#include "../physics/lattice.h"
#include "../physics/structure_factor.h"
#include "functions.h"

NB_INLINE vd interference_lanes(vd d, double N)
{
    vd u = N * d, ratio;
    u = u - vd_round(u);
    ratio = vd_sinpi(u) / vd_sinpi(d);
    return vd_pick((vl)(d == 0.0), vd_set(N), ratio);
}

/** 3 (sin x - x cos x)/x^3 at x = pi z. The sign may be wrong for z > 1/2, as only the
 * square is used. */
NB_INLINE vd sphere_lanes(vd z)
{
    vd x = NB_PI * z, x2 = x * x, f = z - vd_round(z), near, far;
    near = 1.0 - x2 / 10.0 * (1.0 - x2 / 28.0 * (1.0 - x2 / 54.0));
    far = 3.0 * (vd_sinpi(f) / x - vd_cospi(f)) / x2;
    return vd_pick((vl)(x < NB_SPHERE_SERIES), near, far);
}

NB_INLINE vd radius2_lanes(const double *m, const vd d[3])
{
    return m[0] * d[0] * d[0] + m[1] * d[1] * d[1] + m[2] * d[2] * d[2] +
           m[3] * d[0] * d[1] + m[4] * d[0] * d[2] + m[5] * d[1] * d[2];
}

NB_INLINE vd lattice_lanes(const nb_lattice *lattice, const vd d[3], const int shape)
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
        return cells * sphere_lanes(vd_sqrt(lattice->fudge * r2));
    case NB_LAW_DECAY:
        r2 = radius2_lanes(lattice->radius2, d);
        return cells * vd_exp(-(r2 / row.width * lattice->fudge));
    case NB_LAW_EDGE:
        r2 = radius2_lanes(lattice->radius2, d);
        return (vd)((vl)(r2 * lattice->fudge < row.width) & (vl)vd_set(cells));
    case NB_LAW_FRINGES:
        for (i = 0; i < 3; i++)
            if (N[i] > 1)
                product = product * interference_lanes(d[i], N[i]);
        break;
    }
    return product;
}

/* F of a reflection and tricubic F between reflections in double, as in
 * src/physics/structure_factor.h, for vectors of a CPU. Threads of a GPU use
 * cubic_cells.h. */

NB_INLINE vl inside(vd x, double first, double last)
{
    return (vl)(x >= first) & (vl)(x <= last);
}

NB_INLINE vd box_index(const nb_factor_table *sf, vd i, vd j, vd k)
{
    return (i * sf->nk + j) * sf->nl + k;
}

/** F of the nearest reflection of each lane, from the table at F. */
NB_INLINE vd nearest_lanes(const nb_factor_table *sf, const double *F, const vd h0[3])
{
    vd i = h0[0] - sf->hmin, j = h0[1] - sf->kmin, k = h0[2] - sf->lmin, index;
    vl in = inside(i, 0, sf->nh - 1) & inside(j, 0, sf->nk - 1) & inside(k, 0, sf->nl - 1);
    index = (vd)(in & (vl)box_index(sf, i, j, k));
    return vd_pick(in, vd_gather(F, index), vd_set(sf->default_F));
}

NB_INLINE void weights_lanes(vd t, vd w[4])
{
    w[0] = -t * (t - 1.0) * (t - 2.0) / 6.0;
    w[1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0;
    w[2] = -(t + 1.0) * t * (t - 2.0) / 2.0;
    w[3] = (t + 1.0) * t * (t - 1.0) / 6.0;
}

/** Four amplitudes at adjacent addresses. */
typedef double four __attribute__((vector_size(4 * sizeof(double))));

/** Tricubic F for the lanes that `fits` marks (all 64 nearest reflections are in the
 * box); 0 for other lanes. The loop takes one lane after another and reads four adjacent
 * F at once, because a gather costs time for each address. */
NB_INLINE vd tricubic_lanes(const nb_factor_table *sf, const double *F, const vd h[3],
                            vl fits)
{
    const int start[3] = {sf->hmin, sf->kmin, sf->lmin};
    vd w[3][4], corner[3], result = {0};
    int axis, i, j, lane;
    for (axis = 0; axis < 3; axis++) {
        vd below = vd_floor(h[axis]);
        weights_lanes(h[axis] - below, w[axis]);
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

NB_INLINE vd F_lanes(const nb_factor_table *sf, const double *table, const vd h[3],
                     const vd h0[3])
{
    vd F;
    vl fits;
    if (sf->nh == 0)
        return vd_set(sf->default_F);
    F = nearest_lanes(sf, table, h0);
    if (!sf->interpolate)
        return F;
    fits = inside(h[0], sf->hmin + 2.0, sf->hmin + sf->nh - 3.0) &
           inside(h[1], sf->kmin + 2.0, sf->kmin + sf->nk - 3.0) &
           inside(h[2], sf->lmin + 2.0, sf->lmin + sf->nl - 3.0);
    return vl_any(fits) ? vd_pick(fits, tricubic_lanes(sf, table, h, fits), F) : F;
}

#endif
