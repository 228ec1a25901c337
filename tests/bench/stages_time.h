/* SPDX-License-Identifier: MIT */
/** Time of the stages of a detector's noise on a device. */
#ifndef NB_TESTS_BENCH_STAGES_TIME_H
#define NB_TESTS_BENCH_STAGES_TIME_H

#include "render/backend.h"

/** Print a line for each set of stages, of the image of columns x rows that `state` rendered last:
 *   NAME device_ms wall_ms first_ms
 * (median of warm calls by the device's events and by the clock; the first call by the clock, with
 * memory and transforms).  Returns how many failed. */
int time_stages(const nb_backend *backend, nb_backend_state *state, const nb_scene *scene);

#endif
