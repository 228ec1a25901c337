/* SPDX-License-Identifier: MIT */
/** Ways to break the vector kernels on purpose. A test compiles a kernel with
 * -DNB_MUTATE= and the name of a mutant, or of a variable that has its number at run
 * time, and must see the checks fail (tests/check/test_mutate.sh). */
#ifndef NB_BASE_MUTANT_H
#define NB_BASE_MUTANT_H

enum nb_mutant {
    NB_MUTANT_POLYNOMIAL_COEFFICIENT = 1,
    NB_MUTANT_DOUBLE_COEFFICIENT,
    NB_MUTANT_SHIFTED_INDEX,
    NB_MUTANT_CLAMPED_TOO_EARLY,
    NB_MUTANT_LAST_COLUMN_SKIPPED,
    NB_MUTANT_FRINGE_SIGN,
    NB_MUTANT_PART_OF_CELL,
    NB_MUTANT_BEAM_SIGN,
    NB_MUTANT_NO_GUARD_AT_ZERO,
    NB_MUTANT_SUM_COUNTED_TWICE,
    NB_MUTANT_CUBIC_WEIGHT,
    NB_MUTANT_LAYER_CAPTURE,
    NB_MUTANT_MEAN_DEPTH,
    NB_MUTANT_MEAN_DEPTH_THIN,
    NB_MUTANT_ROW_SOLID_ANGLE,
    NB_MUTANT_ROW_BACKGROUND,
    NB_MUTANT_ROW_POLARIZATION,
    NB_MUTANT_FACTORS_OF_LAST_RAY,
    NB_MUTANT_TILE_HALF_WIDTH, /* this and the next two: tests/unit/test_tiles.c */
    NB_MUTANT_TILE_NEIGHBOURS,
    NB_MUTANT_TILE_WIDE
};

/** `right`, or `broken` in the mutant of this name. NB_MUTANT_STATIC: storage of a table
 * with mutants, static unless mutants are compiled in or the code runs on a GPU. */
#ifdef NB_MUTATE
#define NB_MUTANT(name, broken, right)                                                   \
    (NB_MUTATE == NB_MUTANT_##name ? (broken) : (right))
#else
#define NB_MUTANT(name, broken, right) (right)
#endif
#if defined(NB_MUTATE) || defined(NB_GPU)
#define NB_MUTANT_STATIC
#else
#define NB_MUTANT_STATIC static
#endif

#endif
