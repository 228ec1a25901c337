/* SPDX-License-Identifier: MIT */
/** Random orientations: of the whole crystal (misset) and of its mosaic domains. */
#ifndef NB_MODEL_MISSET_H
#define NB_MODEL_MISSET_H

#include <stdint.h>

#include "../nanobragg.h"
#include "../physics/vec3.h"

/** Angles [rad] about lab x, y, z (in that order) of an orientation drawn uniformly over SO(3)
 * (Shoemake, Graphics Gems III, 124 (1992)); Philox keyed by the seed.  crystal: its number in the image, from 0. */
nb_status nb_misset_random(int64_t seed, int crystal, double angles[3], nb_error *err);

/** The distribution of nanoBragg for `-misset random`: a cap of 90 radians, not uniform. */
void nb_misset_random_compat(int64_t seed, double angles[3]);

/** Rotations [count] of the mosaic domains: uniform in volume up to `spread` [rad] about random
 * axes, from nanoBragg's ran1 sequence; domain 0 is the identity. */
void nb_mosaic_rotations(double spread, int64_t seed, int count, nb_mat3 *rotations);

/** How these rotations grow with the spread: the axis times the rate of its angle. */
void nb_mosaic_rates(int64_t seed, int count, nb_vec3 *rates);

/** Angles about x, y, z (applied in that order) that make the proper rotation U. */
void nb_rotation_angles(const nb_mat3 *U, double angles[3]);

/** Rotation by angle [rad] about a unit axis. */
nb_mat3 nb_axis_rotation(nb_vec3 axis, double angle);

#endif
