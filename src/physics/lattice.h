/* SPDX-License-Identifier: MIT */
/** F_latt, the lattice transform of a mosaic domain: sum over cells of exp(2 pi i q.r).
 * Only its square is used, so signs that depend on h0 are dropped. */
#ifndef NB_PHYSICS_LATTICE_H
#define NB_PHYSICS_LATTICE_H

#include "scene.h"

/** Below this value of x the closed form of nb_sphere_transform loses digits, and its
 * series is exact in double precision. */
#define NB_SPHERE_SERIES 0.05

/** The reciprocal cell, 1/m: reciprocal[i] times axis i is 1; times another axis, 0. */
NB_HD void nb_reciprocal_cell(const nb_orientation *cell, nb_vec3 reciprocal[3])
{
    double inverse = 1.0 / nb_dot(cell->a, nb_cross(cell->b, cell->c));
    reciprocal[0] = nb_scale(inverse, nb_cross(cell->b, cell->c));
    reciprocal[1] = nb_scale(inverse, nb_cross(cell->c, cell->a));
    reciprocal[2] = nb_scale(inverse, nb_cross(cell->a, cell->b));
}

/** True if the numbers of cells are whole. Then only N d modulo 1 changes the result. */
NB_HD int nb_whole_cells(const nb_lattice *lattice)
{
    const double *N = lattice->N;
    return N[0] == floor(N[0]) && N[1] == floor(N[1]) && N[2] == floor(N[2]);
}

/** Round a fractional Miller index to the nearest whole number, halves down. */
NB_HD double nb_nearest_index(double h)
{
    return ceil(h - 0.5);
}

/** sin(pi N d)/sin(pi d): the interference function of N points on a line.  d = h - h0 in
 * [-1/2, 1/2], so that near a reflection no digits cancel. (Warren, X-ray Diffraction, 3.2) */
NB_HD double nb_interference(double d, double N)
{
    return d == 0 ? N : sin(NB_PI * (N * d)) / sin(NB_PI * d);
}

/** Transform of a uniform sphere, 3 (sin x - x cos x)/x^3, 1 at x = 0. */
NB_HD double nb_sphere_transform(double x)
{
    double x2 = x * x;
    if (x < NB_SPHERE_SERIES)
        return 1.0 - x2 / 10.0 * (1.0 - x2 / 28.0 * (1.0 - x2 / 54.0));
    return 3.0 * (sin(x) / x - cos(x)) / x2;
}

/** R^2, the squared distance in units of the spot, for the laws of decay and edge at d =
 * h - h0; m is nb_lattice.radius2. */
NB_HD double nb_shape_radius2(const double *m, double dh, double dk, double dl)
{
    return m[0] * dh * dh + m[1] * dk * dk + m[2] * dl * dl + m[3] * dh * dk +
           m[4] * dh * dl + m[5] * dk * dl;
}

/** nb_lattice_factor for a shape that the compiler knows as a constant. */
NB_HD double nb_lattice_factor_of(const nb_lattice *lattice, int shape, double dh,
                                  double dk, double dl)
{
    const nb_shape_row row = nb_shape_row_of(shape);
    const double *N = lattice->N;
    double cells = N[0] * N[1] * N[2], r2 = row.height;
    switch (row.law) {
    case NB_LAW_SPHERE:
        r2 = dh * N[0] * (dh * N[0]) + dk * N[1] * (dk * N[1]) + dl * N[2] * (dl * N[2]);
        return cells * row.height * nb_sphere_transform(NB_PI * sqrt(lattice->fudge * r2));
    case NB_LAW_DECAY:
        r2 = nb_shape_radius2(lattice->radius2, dh, dk, dl);
        return cells * row.height * exp(-(r2 / row.width * lattice->fudge));
    case NB_LAW_EDGE:
        r2 = nb_shape_radius2(lattice->radius2, dh, dk, dl);
        return r2 * lattice->fudge < row.width ? cells * row.height : 0.0;
    case NB_LAW_FRINGES:
        if (N[0] > 1)
            r2 *= nb_interference(dh, N[0]);
        if (N[1] > 1)
            r2 *= nb_interference(dk, N[1]);
        if (N[2] > 1)
            r2 *= nb_interference(dl, N[2]);
        break;
    }
    return r2;
}

/** F_latt at the offset (dh, dk, dl), in Miller indices, from the nearest reflection. */
NB_HD double nb_lattice_factor(const nb_lattice *lattice, double dh, double dk, double dl)
{
    switch (lattice->shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        return nb_lattice_factor_of(lattice, number, dh, dk, dl);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return 0;
    }
}

#endif
