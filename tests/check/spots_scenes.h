/* SPDX-License-Identifier: MIT */
/** Extreme scenes for images from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_SCENES_H
#define NB_TESTS_CHECK_SPOTS_SCENES_H

#include "cases.h"

/** Scene i with a shape; 0 after the last one. Free it with check_free_case. */
int check_spots_scene(check_case *c, int i, nb_shape shape);

#endif
