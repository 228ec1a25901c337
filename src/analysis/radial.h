/* SPDX-License-Identifier: MIT */
/** Mean intensity against the distance from the beam centre. */
#ifndef NB_ANALYSIS_RADIAL_H
#define NB_ANALYSIS_RADIAL_H

#include "pixels.h"

/** Fill the radial figures of *d: both images averaged over rings of one pixel's width about
 * centre (fast, slow, pixels from the outer corner of the first pixel; a pixel belongs to the
 * ring that its own centre is in).  Errors: NB_ERR_NOMEM. */
nb_status nb_compare_radial(const nb_pair *pair, const double centre[2], nb_difference *d,
                            nb_error *err);

#endif
