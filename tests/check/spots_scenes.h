/* SPDX-License-Identifier: MIT */
/** Extreme scenes for images from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_SCENES_H
#define NB_TESTS_CHECK_SPOTS_SCENES_H

#include "cases.h"

/** Makes scene i with a shape; free it with check_free_case. 0 after the last scene. */
int check_spots_scene(check_case *c, int i, nb_shape shape);

#endif
