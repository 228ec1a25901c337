/* SPDX-License-Identifier: MIT */
/** Cruel detectors of several panels, for pictures from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_PANELS_H
#define NB_TESTS_CHECK_SPOTS_PANELS_H

#include "cases.h"

/** Give a case the detector i.  Returns pairs of a flag's name and value that go with it; NULL: there is
 * no such detector. */
const char *const *check_spots_panels(check_case *c, int i);

#endif
