/* SPDX-License-Identifier: MIT */
/** Axes of a cell and 3 x 3 matrices, row by row. */
#ifndef NB_FACTORS_CELL_H
#define NB_FACTORS_CELL_H

/** The axes as columns, A: a along x, b in the xy plane. r = A x. */
void nb_cell_axes(const double cell[6], double A[9]);
double nb_cell_volume(const double cell[6]);

/** Inverse of m; returns the determinant (0 or NaN: out has no meaning). */
double nb_invert(const double m[9], double out[9]);
void nb_transform(const double m[9], const double v[3], double out[3]);

/** m u m^T of a symmetric u = 11 22 33 12 13 23. */
void nb_turn_symmetric(const double m[9], const double u[6], double out[6]);
/** Smallest and largest principal value of a symmetric u = 11 22 33 12 13 23. */
void nb_principal_limits(const double u[6], double *low, double *high);

#endif
