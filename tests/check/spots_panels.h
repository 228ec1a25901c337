/* SPDX-License-Identifier: MIT */
/** Extreme detectors of several panels, for images from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_PANELS_H
#define NB_TESTS_CHECK_SPOTS_PANELS_H

#include "cases.h"

/** Sets detector i in a case. Returns pairs of name and value of flags for this detector,
 * or NULL after the last detector. */
const char *const *check_spots_panels(check_case *c, int i);

#endif
