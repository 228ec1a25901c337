/* SPDX-License-Identifier: MIT */
/** A fake device: the CPU renders into memory that stands for the device's memory, and
 * src/image makes integers. */
#ifndef NB_TESTS_FAKE_DEVICE_H
#define NB_TESTS_FAKE_DEVICE_H

#include <stdatomic.h>

#include "render/backend.h"

extern const nb_backend fake_backend;
extern atomic_int fake_fetches, fake_closed;
extern atomic_int fake_is_full; /* 1: `make` and `light` fail for lack of memory */
extern atomic_int fake_lights;  /* number of planes of light that the device made */

/** Makes the sums of each row of the region, as a device does. */
void fake_row_sums(const float *image, const nb_scene *scene, nb_row_sums *sums);

#endif
