/* SPDX-License-Identifier: MIT */
/** The geometry as DIALS has it: x along the fast axis across the beam, z against the beam.  And what
 * of it a simple header cannot say. */
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

/** What DIALS does not learn from a header of distance, beam centre and pixel size alone. */
enum {
    NB_LOST_TILT = 1, /* a detector that is not across the beam, or runs the other way */
    NB_LOST_SPINDLE = 2 /* a rotation about another axis than the fast one */
};
int nb_simple_header_loses(const nb_image_meta *m);

/** DIALS' numbers for the polarization: the fraction along the polarization vector, and the normal
 * of the plane of that vector and the beam, in its frame. */
void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3]);

#endif
