/* SPDX-License-Identifier: MIT */
/** The axes of DIALS and of NeXus in the lab, and the parts of a geometry that a simple header
 * cannot hold. */
#ifndef NB_IO_AXES_H
#define NB_IO_AXES_H

#include "meta.h"

/** Unit vectors, right-handed. */
typedef struct nb_axes {
    double x[3], y[3], z[3];
} nb_axes;

double nb_dot3(const double a[3], const double b[3]);
void nb_cross3(const double a[3], const double b[3], double out[3]);

/** DIALS: x along the fast axis as far as it is across the beam, z against the beam. */
nb_axes nb_dials_axes(const nb_image_meta *m);
/** NeXus: x against the fast axis, z along the beam; from unit vectors. */
nb_axes nb_nexus_axes(const double fast[3], const double slow[3], const double beam[3]);
/** A vector of the lab along these axes; residues of rounding become 0. */
void nb_dials_turn(const nb_axes *axes, const double v[3], double out[3]);
void nb_nexus_turn(const nb_axes *axes, const double v[3], double out[3]);

/** Geometry that DIALS cannot read from a header with only distance, beam centre and pixel
 * size. */
enum {
    NB_LOST_TILT = 1, /* a detector that is not across the beam, or runs the other way */
    NB_LOST_SPINDLE = 2 /* a rotation about another axis than the fast one */
};
int nb_simple_header_loses(const nb_image_meta *m);

/** The polarization of DIALS: the fraction along the polarization vector, and the normal of
 * the plane of this vector and the beam, in the frame of DIALS. */
void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3]);

/* --- the axes a* b* c* of a crystal, columns of A, 1/A, row major --- */

/** A = U B (Busing & Levy 1967): B has a* along x and b* in the xy plane; columns of U are
 * those axes in the lab. */
void nb_axes_split(const double A[9], double U[9], double B[9]);
/** The cell of A, of twelve digits: Angstrom, deg. */
void nb_axes_cell(const double A[9], double cell[6]);
/** The rotations of -misset that turn the crystal of -cell into that of A, deg; of a left-handed or unknown A NaN. */
void nb_axes_misset(const double A[9], double misset[3]);

#endif
