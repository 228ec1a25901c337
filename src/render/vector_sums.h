/* SPDX-License-Identifier: MIT */
/** Data that the vector kernels (kernel_slopes.h) need to make the slopes of a job. */
#ifndef NB_RENDER_VECTOR_SUMS_H
#define NB_RENDER_VECTOR_SUMS_H

#include "sums.h"
#include "vector_plan.h"

/** Which sums the kernels make of a ray. A level includes the levels before it. */
typedef enum nb_slope_level {
    NB_SLOPES_IMAGE, /* no slopes, only the photons */
    NB_SLOPES_H,     /* gradient times index, for cell, misset, rot, lambda */
    NB_SLOPES_N,     /* slopes by the numbers of cells */
    /* by the scattering vector, spindle, mosaic spread, dispersion, shape factor, beam */
    NB_SLOPES_ALL
} nb_slope_level;

/** Indices of the sums. Gradients are by -h, because fixed-point indices are -h. */
enum nb_slope_place {
    SLOPE_IMAGE,
    SLOPE_N,
    SLOPE_H = SLOPE_N + 3,
    SLOPE_V = SLOPE_H + 9,
    SLOPE_CAPTURED = SLOPE_V, /* light scenes only: sum of dloss times factor */
    SLOPE_LIGHT,
    SLOPE_PHI = SLOPE_V + 3,
    SLOPE_OSC,
    SLOPE_MOSAIC,
    SLOPE_DISPERSION,
    SLOPE_FUDGE,
    SLOPE_BEAM,
    SLOPE_TENSOR = SLOPE_BEAM + 2, /* further turns after SLOPE_MOSAIC */
    SLOPE_SUMS = SLOPE_TENSOR + NB_TURNS - 1
};

/** Index of the sum of turn number i. */
static inline int nb_slope_turn(int i)
{
    return i ? SLOPE_TENSOR + i - 1 : SLOPE_MOSAIC;
}

/** Law of decay: sums are multiplied by 2^64 (nb_vector_slopes.unit). Otherwise terms far
 * from a peak would be denormal numbers, which a CPU handles a hundred times slower. */
enum { SLOPE_RAISED = 64 };

/** How N d is reduced to a fraction. d is h less the nearest whole number. */
typedef enum nb_slope_phase {
    NB_PHASE_INDEX = NB_FIXED_INDEX,     /* few cells, whole N: fixed point */
    NB_PHASE_FRINGES = NB_FIXED_FRINGES, /* many cells, whole N: fixed point of N h */
    NB_PHASE_PARTS = NB_FIXED_REAL,      /* few cells, any N: fixed point, fraction */
    NB_PHASE_REAL                        /* many cells, any N: in double */
} nb_slope_phase;

/** Indices of the slopes of a pixel by the numbers that describe a flat panel's position
 * (physics/panel_pull.h). */
enum nb_pull_place {
    PULL_PIX0,
    PULL_FAST = PULL_PIX0 + 3,
    PULL_SLOW = PULL_FAST + 3,
    PULL_NORMAL = PULL_SLOW + 3,
    PULL_CLOSE = PULL_NORMAL + 3,
    PULL_STEP,
    PULL_MU,
    PULL_SUMS
};

/** A parameter's slope is the sum over k of by[k] times sum number sum[k], plus
 * `captured` times the captured weights, plus `polarization` and `beam` times the
 * polarization's slopes by Kahn's factor and by turns of the beam. */
typedef struct nb_slope_line {
    int n, sum[SLOPE_SUMS];
    double by[SLOPE_SUMS], captured, polarization, beam[2];
    float light[SLOPE_SUMS],
        /* light scenes: factors in units of nb_vector_slopes.unit */
        light_captured;
    unsigned light_parts; /* bit k: light[k ... k + 2] are not all 0, k = SLOPE_N + 3 i */
} nb_slope_line;

/** A parameter's slope by way of a panel's position: by[k] times slope number sum[k]. */
typedef struct nb_place_line {
    int n, sum[PULL_SUMS];
    double by[PULL_SUMS];
} nb_place_line;

/** Sources first .. end - 1, which have the same incident direction. */
typedef struct nb_slope_group {
    int first, end, direction;
} nb_slope_group;

/** A job with its tables. The struct owns its arrays. */
typedef struct nb_vector_slopes {
    const nb_slope_job *job;
    /* light scenes: adds the sums of kernel_slope_light.h to sums[SLOPE_LIGHT] */
    nb_slope_dot *light_dot;
    nb_vector_plan *plans; /* one per panel */
    nb_slope_level level;
    nb_slope_phase phase;
    nb_slope_line *lines; /* [count] */
    /* [panels][count], flat panels only; NULL: the detector does not move */
    nb_place_line *places;
    /* 1: a light scene, with one step per pixel and a fixed detector */
    int light;
    nb_slope_row *crystal; /* kernel of the instruction set */
    /* job of the scene without its crystal; scene NULL: no materials */
    nb_slope_job materials;
    /* weight of the water: sum over all terms; 0 with materials, which include the water */
    double weights;
    double unit;       /* the sums are in units of this, electrons^2 */
    double width;      /* nb_shape_row */
    double wavenumber; /* wavenumber of the first source, 1/m: the unit of `relative` */
    double start;      /* added to -h: nb_fixed_start(1) for INDEX and PARTS, else 0 */
    double (*incident)[3]; /* [orientation][direction]: a.i, b.i, c.i of the incident direction */
    nb_slope_group *groups;
    /* numbers of groups and of directions; largest number of sources of a group */
    int n_groups, n_directions, together;
    float *relative;   /* [source]: wavenumber relative to the first source's */
    float (*cells)[9]; /* [orientation]: a b c, times the wavenumber */
    /* [n_turns][orientation]: nb_slope_job.turns; NULL if not summed */
    float (*axes)[3];
    /* [orientation]: position in the oscillation, 0 .. 1; NULL if not summed */
    float *turned;
    float *spectrum; /* [source]: nb_slope_job.spectrum; NULL if not summed */
    /* [direction]: nb_slope_job.beam, 0 if fixed; NULL if not summed */
    float (*beam)[2][3];
} nb_vector_slopes;

/** False if the scattering does not change along an axis: one cell has no fringes, and
 * its slope is exactly 0, without rounding errors. */
static inline int nb_slope_varies(const nb_lattice *lattice, int axis)
{
    return nb_shape_law(lattice->shape) != NB_LAW_FRINGES || lattice->N[axis] != 1;
}

/* The kernels of each instruction set; argument `of`: nb_vector_slopes. The kernels with
 * floats, and with sums[SLOPE_LIGHT] times dloss[] of each pixel, are for light scenes. */
nb_slope_row nb_slopes_sse2, nb_slopes_avx2, nb_slopes_avx512, nb_slopes_neon;
nb_slope_floats nb_slope_floats_sse2, nb_slope_floats_avx2, nb_slope_floats_avx512,
    nb_slope_floats_neon;
nb_slope_dot nb_slope_dot_sse2, nb_slope_dot_avx2, nb_slope_dot_avx512, nb_slope_dot_neon;

#endif
