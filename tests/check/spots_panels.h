/* SPDX-License-Identifier: MIT */
/** Extreme detectors of several panels, for images from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_PANELS_H
#define NB_TESTS_CHECK_SPOTS_PANELS_H

#include "cases.h"

/** Gives a case the detector i. Returns pairs of a flag's name and value for it; NULL
 * after the last detector. */
const char *const *check_spots_panels(check_case *c, int i);

#endif
