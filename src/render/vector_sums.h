/* SPDX-License-Identifier: MIT */
/** The path of slopes by vectors: data of a job for its kernels (kernel_slopes.h). */
#ifndef NB_RENDER_VECTOR_SUMS_H
#define NB_RENDER_VECTOR_SUMS_H

#include "sums.h"
#include "vector_plan.h"

/** Levels of the sums of a ray; a level has the sums of the levels above it in this list,
 * too. */
typedef enum nb_slope_level {
    NB_SLOPES_IMAGE, /* only the photons */
    NB_SLOPES_H,     /* gradient times index: cell, misset, rot, lambda */
    NB_SLOPES_N,     /* slopes by the numbers of cells */
    /* slopes by the scattering vector, spindle, mosaic, dispersion, shape factor, beam */
    NB_SLOPES_ALL
} nb_slope_level;

/** Places of the sums; slopes are by -h, as in fixed point. */
enum nb_slope_place {
    SLOPE_IMAGE,
    SLOPE_N,
    SLOPE_H = SLOPE_N + 3,
    SLOPE_V = SLOPE_H + 9,
    SLOPE_CAPTURED = SLOPE_V, /* light scenes: the pixel's factor alone */
    SLOPE_LIGHT,
    SLOPE_PHI = SLOPE_V + 3,
    SLOPE_OSC,
    SLOPE_MOSAIC,
    SLOPE_DISPERSION,
    SLOPE_FUDGE,
    SLOPE_BEAM,
    SLOPE_SUMS = SLOPE_BEAM + 2
};

/** Law of decay: the sums are 2^64 times larger, and their unit smaller.  Otherwise terms far from a peak would be denormal
 * numbers, each of which takes a processor as long as hundred others. */
enum { SLOPE_RAISED = 64 };

/** How N d is reduced to a fraction. */
typedef enum nb_slope_phase {
    NB_PHASE_INDEX = NB_FIXED_INDEX,     /* whole N, few: fixed point */
    NB_PHASE_FRINGES = NB_FIXED_FRINGES, /* whole N, many: fixed point of N h */
    NB_PHASE_PARTS = NB_FIXED_REAL,      /* any N, few: fixed point and a part */
    NB_PHASE_REAL                        /* any N, many: in double */
} nb_slope_phase;

/** Slopes of a pixel by the numbers of a flat panel's place (physics/panel_pull.h). */
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

/** Contraction of the sums by a parameter: by[k] times sum number sum[k]; factors of the
 * captured weights, and of the polarization's slopes by Kahn's factor and by turns of
 * the beam. */
typedef struct nb_slope_line {
    int n, sum[SLOPE_SUMS];
    double by[SLOPE_SUMS], captured, polarization, beam[2];
    float light[SLOPE_SUMS],
        /* factor of each sum, per nb_vector_slopes.unit; of the captured weights, too */
        light_captured;
    unsigned light_parts; /* bit k: light[k ... k + 2] are not all 0, k = SLOPE_N + 3 i */
} nb_slope_line;

/** Contraction of the slopes by a panel's position, by a parameter. */
typedef struct nb_place_line {
    int n, sum[PULL_SUMS];
    double by[PULL_SUMS];
} nb_place_line;

/** Sources first .. end - 1, with one incident direction. */
typedef struct nb_slope_group {
    int first, end, direction;
} nb_slope_group;

/** A job with its tables. The struct owns its arrays. */
typedef struct nb_vector_slopes {
    const nb_slope_job *job;
    /* light scenes: add the sums of kernel_slope_light.h to sums[SLOPE_LIGHT] */
    nb_slope_dot *light_dot;
    nb_vector_plan *plans; /* one per panel */
    nb_slope_level level;
    nb_slope_phase phase;
    nb_slope_line *lines; /* [count] */
    /* [panels][count], flat panels only; NULL: the detector does not move */
    nb_place_line *places;
    /* one step per pixel, and the detector does not move: kernel_slope_light.h */
    int light;
    nb_slope_row *crystal; /* kernel of the instruction set */
    /* job of the scene without its crystal; scene NULL: no materials */
    nb_slope_job materials;
    /* sum over all terms; 0 with materials, whose reference has the water, too */
    double weights;
    double unit;       /* electrons^2 of a 1 in the sums */
    double width;      /* nb_shape_row */
    double wavenumber; /* wavenumber of the first source, 1/m: the unit of `relative` */
    double start;      /* start of -h */
    double (*incident)[3]; /* [orientation][direction]: a.i, b.i, c.i of the incident direction */
    nb_slope_group *groups;
    /* together: largest number of sources of a group */
    int n_groups, n_directions, together;
    float *relative;   /* [source]: wavenumber relative to the first source's */
    float (*cells)[9]; /* [orientation]: a b c, times the wavenumber */
    float (*axes)[3];  /* [orientation]: nb_slope_job.turns; NULL if not summed */
    /* [orientation]: place in the oscillation, 0 .. 1; NULL if not summed */
    float *turned;
    float *spectrum; /* [source]: nb_slope_job.spectrum; NULL if not summed */
    /* [direction]: nb_slope_job.beam, 0 if fixed; NULL if not summed */
    float (*beam)[2][3];
} nb_vector_slopes;

/** True if the crystal's sums change along an axis. One cell has no fringes: its slope is
 * exactly 0, without rounding errors. */
static inline int nb_slope_varies(const nb_lattice *lattice, int axis)
{
    return nb_shape_law(lattice->shape) != NB_LAW_FRINGES || lattice->N[axis] != 1;
}

/* The kernels of each instruction set; of: nb_vector_slopes. The kernels of floats and of
 * sums are for light scenes; sums[SLOPE_LIGHT], each times its pixel's dloss[]. */
nb_slope_row nb_slopes_sse2, nb_slopes_avx2, nb_slopes_avx512, nb_slopes_neon;
nb_slope_floats nb_slope_floats_sse2, nb_slope_floats_avx2, nb_slope_floats_avx512,
    nb_slope_floats_neon;
nb_slope_dot nb_slope_dot_sse2, nb_slope_dot_avx2, nb_slope_dot_avx512, nb_slope_dot_neon;

#endif
