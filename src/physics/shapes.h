/* SPDX-License-Identifier: MIT */
/** The shapes of a crystal, one row of NB_SHAPES each. The numbers of a shape come from
 * its row, and its formulas from the law (nb_law) that the row names. */
#ifndef NB_PHYSICS_SHAPES_H
#define NB_PHYSICS_SHAPES_H

#include "../nanobragg/config.h"
#include "hostdevice.h"

/** How F_latt falls with the distance d = h - h0 from a reflection. All laws but the
 * fringes are functions of g R^2. R is the length of d in units of the spot, g is the
 * shape factor (-fudge). Formulas: lattice.h (scalar), slopes.h (derivatives),
 * ../terms/lattice.h (vectors), shapes.cuh of the devices (floats). */
typedef enum nb_law {
    NB_LAW_FRINGES, /* product over the axes of sin(pi N d)/sin(pi d) */
    NB_LAW_SPHERE, /* transform of a uniform sphere at pi sqrt(g R^2), R^2 = sum (N d)^2 */
    NB_LAW_DECAY,  /* exp(-g R^2/width), R^2 of nb_lattice.radius2 */
    NB_LAW_EDGE    /* 1 where g R^2 < width, else 0, the same R^2 */
} nb_law;

/* ROW(number, law, height, width, reach, step, rate, name, flag, its old names, its help)
 *   height  F_latt at a reflection, in unit cells; at most 1
 *   width   of the law; 1 if the law has no width
 *   reach   shift, in sizes of the crystal, at which it hardly overlaps with itself
 *   step    time of a step in double on a CPU / time in the fixed-point kernel: a value
 *           between those measured on an EPYC and a Xeon (reports/cpu)
 *   rate    speed of a step on a GPU relative to a parallelepiped; measured on an H200
 * Heights and widths: docs/physics.md, section 12. */
/* clang-format off */
#define NB_SHAPES(ROW) \
    ROW(NB_SHAPE_SQUARE, NB_LAW_FRINGES, 1, 1, 1, 3, 1, "square", "square_xtal", NULL, \
        "parallelepiped: fringes between the spots") \
    ROW(NB_SHAPE_ROUND, NB_LAW_SPHERE, 0.723601254558268, 1, 1, 3, 0.82, "round", "round_xtal", NULL, \
        "spheroid: fringes of a sphere") \
    ROW(NB_SHAPE_GAUSS, NB_LAW_DECAY, 1, 0.63, 1.3, 2, 1.7, "gauss", "gauss_xtal", NULL, \
        "Gaussian spots without fringes") \
    ROW(NB_SHAPE_TOPHAT, NB_LAW_EDGE, 1, 0.3969, 3, 1, 1.75, "tophat", "tophat_spots", "binary_spots", \
        "spots of constant intensity with a sharp edge")
/* clang-format on */

#ifdef __cplusplus /* templates of C++ need constexpr functions */
#define NB_SHAPE_HD NB_HD constexpr
#else
#define NB_SHAPE_HD NB_HD
#endif

/** The law and the numbers of a row of NB_SHAPES. */
typedef struct nb_shape_row {
    nb_law law;
    double height, width, reach, step, rate;
} nb_shape_row;

#define NB_SHAPE_ONE(...) +1
enum { NB_SHAPE_COUNT = 0 NB_SHAPES(NB_SHAPE_ONE) };

/** The row of a shape (nb_shape); all zero for other numbers. The row is a constant if
 * the shape is a constant. */
NB_SHAPE_HD nb_shape_row nb_shape_row_of(int shape)
{
    const nb_shape_row none = {NB_LAW_FRINGES, 0, 0, 0, 0, 0};
    switch (shape) {
#define NB_DO(number, law, height, width, reach, step, rate, ...)                        \
    case number: {                                                                       \
        const nb_shape_row row = {law, height, width, reach, step, rate};                \
        return row;                                                                      \
    }
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return none;
    }
}

NB_SHAPE_HD nb_law nb_shape_law(int shape)
{
    return nb_shape_row_of(shape).law;
}

/** The shape without fringes and tails. It replaces other shapes in searches for spots
 * and near the middles of spots. */
enum { NB_SHAPE_SMOOTH = NB_SHAPE_GAUSS };

/** True if the shape factor (-fudge) scales the shape. */
NB_SHAPE_HD int nb_shape_is_scaled(int shape)
{
    return nb_shape_law(shape) != NB_LAW_FRINGES;
}

/** True if a spot of the shape has an edge, or falls so quickly that it is 0 for any
 * tolerance from some distance on. Spots of other shapes have tails. */
NB_SHAPE_HD int nb_shape_ends(int shape)
{
    switch (nb_shape_law(shape)) {
    case NB_LAW_DECAY:
    case NB_LAW_EDGE:
        return 1;
    case NB_LAW_FRINGES:
    case NB_LAW_SPHERE:
        return 0;
    }
    return 0;
}

#endif
