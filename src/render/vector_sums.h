/* SPDX-License-Identifier: MIT */
/** The path of slopes by vectors: what its kernels (kernel_slopes.h) need of a job. */
#ifndef NB_RENDER_VECTOR_SUMS_H
#define NB_RENDER_VECTOR_SUMS_H

#include "sums.h"
#include "vector_plan.h"

/** Which sums of a ray are made: each level has those below it. */
typedef enum nb_slope_level {
    NB_SLOPES_IMAGE, /* none but the photons */
    NB_SLOPES_H,     /* gradient times index: cell, misset, rot, lambda */
    NB_SLOPES_N,     /* and by the numbers of cells */
    NB_SLOPES_ALL /* and by the scattering vector, spindle, mosaic, dispersion, shape factor, beam */
} nb_slope_level;

/** Their places; by -h, as fixed point has it. */
enum nb_slope_place {
    SLOPE_IMAGE,
    SLOPE_N,
    SLOPE_H = SLOPE_N + 3,
    SLOPE_V = SLOPE_H + 9,
    SLOPE_CAPTURED = SLOPE_V, /* of light scenes: the pixel's factor alone */
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

/** What a parameter makes of the sums: by[k] times the sum of that number; of what is captured, and of the
 * polarization's slopes by Kahn's factor and by turns of the beam. */
typedef struct nb_slope_line {
    int n, sum[SLOPE_SUMS];
    double by[SLOPE_SUMS], captured, polarization, beam[2];
    float light[SLOPE_SUMS],
        light_captured; /* of each sum, per nb_vector_slopes.unit; captured: of its weights, too */
    unsigned light_parts; /* bit k: light[k ... k + 2] are not all 0, k = SLOPE_N + 3 i */
} nb_slope_line;

/** What a parameter makes of the slopes by a panel's place. */
typedef struct nb_place_line {
    int n, sum[PULL_SUMS];
    double by[PULL_SUMS];
} nb_place_line;

/** Sources first .. end - 1, of one incident direction. */
typedef struct nb_slope_group {
    int first, end, direction;
} nb_slope_group;

/** A job with its tables.  Arrays are owned. */
typedef struct nb_vector_slopes {
    const nb_slope_job *job;
    nb_slope_dot *light_dot; /* of light scenes: add to sums[SLOPE_LIGHT] those of kernel_slope_light.h */
    nb_vector_plan *plans; /* of each panel */
    nb_slope_level level;
    nb_slope_phase phase;
    nb_slope_line *lines;  /* [count] */
    nb_place_line *places; /* [panels][count], of flat panels; NULL: the detector stays */
    int light; /* one step a pixel, and no detector moves: kernel_slope_light.h */
    nb_slope_row *crystal; /* of the instruction set */
    nb_slope_job materials; /* what scatters without the crystal, with materials; scene NULL: none */
    double weights; /* of all terms; with materials 0: their reference has the water, too */
    double unit;    /* electrons^2 of 1 in the sums */
    double width;   /* nb_shape_row */
    double wavenumber; /* of the first source, 1/m: the unit of the next */
    double start;      /* of -h */
    double (*incident)[3]; /* [orientation][direction]: a.i, b.i, c.i of the incident direction */
    nb_slope_group *groups;
    int n_groups, n_directions, together; /* most sources of a group */
    float *relative;                      /* [source]: wavenumber, of the first one's */
    float (*cells)[9];                    /* [orientation]: a b c, times the wavenumber */
    float (*axes)[3]; /* [orientation]: nb_slope_job.turns; NULL: no such sum */
    float *turned; /* [orientation]: place in the oscillation, 0 .. 1; NULL: no such sum */
    float *spectrum; /* [source]: nb_slope_job.spectrum; NULL: no such sum */
    float (*beam)[2][3]; /* [direction]: nb_slope_job.beam, 0 where it stays; NULL: no such sums */
} nb_vector_slopes;

/** Does the crystal change along an axis?  One cell has no fringes: exactly none, not
 * a rounding. */
static inline int nb_slope_varies(const nb_lattice *lattice, int axis)
{
    return nb_shape_law(lattice->shape) != NB_LAW_FRINGES || lattice->N[axis] != 1;
}

/* The kernels of each instruction set; of: nb_vector_slopes.  Those of floats and sums are for light scenes; sums[SLOPE_LIGHT],
 * each times its pixel's dloss[]. */
nb_slope_row nb_slopes_sse2, nb_slopes_avx2, nb_slopes_avx512, nb_slopes_neon;
nb_slope_floats nb_slope_floats_sse2, nb_slope_floats_avx2, nb_slope_floats_avx512,
    nb_slope_floats_neon;
nb_slope_dot nb_slope_dot_sse2, nb_slope_dot_avx2, nb_slope_dot_avx512, nb_slope_dot_neon;

#endif
