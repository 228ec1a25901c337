/* SPDX-License-Identifier: MIT */
/** The lattice factor of every shape in double, by lanes: what src/physics/lattice.h says.  For the vectors of a CPU
 * alone; threads of a GPU take the text of src/physics in double, and shapes.h in floats. */
#ifndef NB_TERMS_LATTICE_H
#define NB_TERMS_LATTICE_H

#include "../physics/lattice.h"
#include "functions.h"

NB_INLINE vd interference_lanes(vd d, double N)
{
    vd u = N * d, ratio;
    u = u - vd_round(u);
    ratio = vd_sinpi(u) / vd_sinpi(d);
    return vd_pick((vl)(d == 0.0), vd_set(N), ratio);
}

/** 3 (sin x - x cos x)/x^3 at x = pi z, but for a sign where z is beyond 1/2: only its
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

#endif
