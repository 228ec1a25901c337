/* SPDX-License-Identifier: MIT */
/** Cruel scenes for pictures from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_SCENES_H
#define NB_TESTS_CHECK_SPOTS_SCENES_H

#include "cases.h"

/** Scene i with a shape; 0 if there is none.  check_free_case frees it. */
int check_spots_scene(check_case *c, int i, nb_shape shape);

#endif
