/* SPDX-License-Identifier: MIT */
/** The geometry in the frame of DIALS: x along the fast axis across the beam, z against the
 * beam. And the parts that a simple header cannot hold. */
#ifndef NB_IO_DIALS_FRAME_H
#define NB_IO_DIALS_FRAME_H

#include "meta.h"

/** Axes of DIALS' frame in the lab, unit, right-handed. */
typedef struct nb_dials_frame {
    double x[3], y[3], z[3];
} nb_dials_frame;

nb_dials_frame nb_dials_frame_of(const nb_image_meta *m);
/** A vector of the lab in that frame. */
void nb_dials_turn(const nb_dials_frame *f, const double v[3], double out[3]);

/** What DIALS cannot read from a header with only distance, beam centre and pixel size. */
enum {
    NB_LOST_TILT = 1, /* a detector that is not across the beam, or runs the other way */
    NB_LOST_SPINDLE = 2 /* a rotation about another axis than the fast one */
};
int nb_simple_header_loses(const nb_image_meta *m);

/** The polarization of DIALS: the fraction along the polarization vector, and the normal of
 * the plane of this vector and the beam, in the frame of DIALS. */
void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3]);

#endif
