/* SPDX-License-Identifier: MIT */
/** F_cell at a point of reciprocal space: F of the nearest reflection, or a tricubic
 * interpolation between reflections. */
#ifndef NB_PHYSICS_STRUCTURE_FACTOR_H
#define NB_PHYSICS_STRUCTURE_FACTOR_H

#include "lattice.h"

/** Entries of the n-th table; nh > 0. */
NB_HD const double *nb_table_at(const nb_factor_table *sf, int n)
{
    return sf->F + (int64_t)n * sf->nh * sf->nk * sf->nl;
}

/** F of (h0, k0, l0), whole numbers, in table n; default_F outside the box. */
NB_HD double nb_F_nearest(const nb_factor_table *sf, int n, double h0, double k0,
                          double l0)
{
    double h = h0 - sf->hmin, k = k0 - sf->kmin, l = l0 - sf->lmin;
    if (!(h >= 0 && h < sf->nh && k >= 0 && k < sf->nk && l >= 0 && l < sf->nl))
        return sf->default_F;
    return nb_table_at(sf, n)[((int64_t)h * sf->nk + (int64_t)k) * sf->nl + (int64_t)l];
}

/** Weights w[4] of the values at -1, 0, 1, 2: they give the value at t of the cubic
 * through these points (Lagrange). */
NB_HD void nb_cubic_weights(double t, double w[4])
{
    w[0] = -t * (t - 1.0) * (t - 2.0) / 6.0;
    w[1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0;
    w[2] = -(t + 1.0) * t * (t - 2.0) / 2.0;
    w[3] = (t + 1.0) * t * (t - 1.0) / 6.0;
}

/** True if x is at least two points inside [min, min + n - 1]. */
NB_HD int nb_cubic_fits(double x, int min, int n)
{
    return x >= min + 2.0 && x <= min + n - 3.0;
}

/** Interpolate |F| of table n between its 4x4x4 nearest reflections. The caller has
 * checked nb_cubic_fits. */
NB_HD double nb_F_tricubic(const nb_factor_table *sf, int n, double h, double k, double l)
{
    double fh = floor(h), fk = floor(k), fl = floor(l), wh[4], wk[4], wl[4], sum = 0;
    int64_t h0 = (int64_t)fh - 1 - sf->hmin, k0 = (int64_t)fk - 1 - sf->kmin,
            l0 = (int64_t)fl - 1 - sf->lmin;
    const double *F = nb_table_at(sf, n);
    int i, j, m;
    nb_cubic_weights(h - fh, wh);
    nb_cubic_weights(k - fk, wk);
    nb_cubic_weights(l - fl, wl);
    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            const double *row = F + ((h0 + i) * sf->nk + (k0 + j)) * sf->nl + l0;
            double along_l = 0;
            for (m = 0; m < 4; m++)
                along_l += wl[m] * row[m];
            sum += wh[i] * wk[j] * along_l;
        }
    return sum;
}

/** F_cell from table n at (h, k, l), whose nearest reflection is (h0, k0, l0). */
NB_HD double nb_structure_factor(const nb_factor_table *sf, int n, double h, double k,
                                 double l, double h0, double k0, double l0)
{
    if (sf->nh == 0)
        return sf->default_F;
    if (sf->interpolate && nb_cubic_fits(h, sf->hmin, sf->nh) &&
        nb_cubic_fits(k, sf->kmin, sf->nk) && nb_cubic_fits(l, sf->lmin, sf->nl))
        return nb_F_tricubic(sf, n, h, k, l);
    return nb_F_nearest(sf, n, h0, k0, l0);
}

#endif
