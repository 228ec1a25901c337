/* SPDX-License-Identifier: MIT */
/** Ways to break derivatives on purpose.  A test compiles src/derive with, say,
 * -DNB_SLOPE_MUTATE=NB_SLOPE_MUTANT_DEGREES and must see the reference planes fail
 * (tests/check/test_derive_mutate.sh). */
#ifndef NB_PHYSICS_SLOPE_MUTANT_H
#define NB_PHYSICS_SLOPE_MUTANT_H

enum nb_slope_mutant {
    NB_SLOPE_MUTANT_FRINGE_SIGN = 1,
    NB_SLOPE_MUTANT_CELLS_SLOPE,
    NB_SLOPE_MUTANT_SPHERE_SLOPE,
    NB_SLOPE_MUTANT_CUBIC_SLOPE,
    NB_SLOPE_MUTANT_OBLIQUE_CAPTURE,
    NB_SLOPE_MUTANT_SOLID_ANGLE,
    NB_SLOPE_MUTANT_DEGREES,
    NB_SLOPE_MUTANT_CELL_ANGLE,
    NB_SLOPE_MUTANT_CLOSE_DISTANCE,
    NB_SLOPE_MUTANT_TWOTHETA_ORDER,
    NB_SLOPE_MUTANT_CACHED_POLAR,
    NB_SLOPE_MUTANT_TORQUE_SIGN,
    NB_SLOPE_MUTANT_OSC_PLACE,
    NB_SLOPE_MUTANT_WAVE_SIGN,
    NB_SLOPE_MUTANT_WATER_POWER
};

/** `right`, or `broken` in the mutant of this name. */
#ifdef NB_SLOPE_MUTATE
#define NB_SLOPE_MUTANT(name, broken, right)                                             \
    (NB_SLOPE_MUTATE == NB_SLOPE_MUTANT_##name ? (broken) : (right))
#else
#define NB_SLOPE_MUTANT(name, broken, right) (right)
#endif

#endif
