/* SPDX-License-Identifier: MIT */
/** What the vector kernels need of a scene, worked out once a render.
 *
 * Two ways to sum over the crystal (docs/physics.md, section 21.1):
 *   FIXED   SQUARE crystals in fixed point: t = magic - h in double, whose low word is the
 *           fractional index in units of 2^-32 and whose high word counts reflections; the
 *           interference functions in float, sums in float of SUM_RUN terms, then in double.
 *   DOUBLE  every shape and option, every operation in double. */
#ifndef NB_RENDER_PLAN_H
#define NB_RENDER_PLAN_H

#include "../base/coefficients.h"
#include "../nanobragg.h"
#include "../physics/scene.h"

enum {
    NB_PLAN_SUM_RUN = 32,     /* float terms added before they go to a double */
    NB_PLAN_MAX_FACTORS = 256 /* sources whose factors a kernel keeps on its stack */
};

typedef enum nb_arithmetic { NB_ARITH_FIXED, NB_ARITH_DOUBLE } nb_arithmetic;

/** How the fixed-point kernel gets an axis' interference function. */
typedef enum nb_fixed_mode {
    NB_FIXED_INDEX,  /* a ratio of sines, the index in steps of 2^-32 */
    NB_FIXED_FRINGES /* many cells: N h in steps of 2^-32 too */
} nb_fixed_mode;

/** Where F^2 comes from. */
typedef enum nb_f_kind {
    NB_F_ZERO,   /* nothing visible scatters */
    NB_F_CONST,  /* one value for every visible reflection */
    NB_F_BOX,    /* table over all that is visible: no bounds test */
    NB_F_CLAMPED /* table over a part, its rim standing for all outside */
} nb_f_kind;

/** F^2 over a box of NEGATED reflections -h0, so that floor(1/2 - h) sends halves down as
 * nb_nearest_index does.  Index: (i_h << shift_h) + (i_k << shift_k) + i_l. */
typedef struct nb_factor_squares {
    nb_f_kind kind;
    float *F2;            /* owned; relative to `unit` */
    double unit;          /* electrons^2 of 1 in F2, or the constant F^2 */
    int32_t shift[3];     /* of l: 0 */
    int32_t low[3], n[3]; /* first -h0 and count along each axis */
} nb_factor_squares;

typedef struct nb_plan_source {
    nb_vec3 incident;
    double inv_lambda; /* 1/m */
    double weight;
    nb_vec3 B, E; /* frame of the polarization (Kahn), unit or 0 */
} nb_plan_source;

typedef struct nb_plan {
    nb_scene scene; /* a copy; its arrays are the caller's */
    nb_panel panel;
    nb_sensor sensor;
    nb_region region; /* of the panel, rendered */
    nb_arithmetic arithmetic;
    int fastest;             /* FIXED: cheaper polynomials */
    nb_fixed_mode mode;      /* FIXED */
    nb_factor_squares table; /* FIXED only */
    nb_plan_source *sources; /* owned */
    double *offsets; /* owned, FIXED: [orientation][source][3] start + a.i/lambda, or NULL
                               when there is one source or they would not fit */
    int simple;      /* FIXED: flat detector, one ray a pixel, one step a ray */
    double edge;     /* of a sub-pixel, m */
    int has_factors; /* the sources' factors differ between sources or pixels */
    double *cos_u, *sin_u; /* owned; curved detector: [roi fast][sub-pixel] */
} nb_plan;

/** What is added to -h before it is taken apart: the magic number, half a step of the
 * high word when that is needed; nothing yet when N h is wanted too. */
static inline double nb_fixed_start(int kind, int mode)
{
    return mode == NB_FIXED_FRINGES ? 0.0
                                    : NB_FIXED_MAGIC + (kind == NB_F_CONST ? 0.0 : 0.5);
}

/** Why this scene cannot be rendered by the vector kernels and goes to the reference,
 * or NULL. The only such scenes: Miller indices or tables beyond 32 bits. */
const char *nb_simd_reference_reason(const nb_scene *scene);

/** Build the plan.  The scene's arrays must outlive it.  On error nothing is left.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_plan_build(const nb_scene *scene, nb_precision precision, nb_plan *plan,
                        nb_error *err);
void nb_plan_free(nb_plan *plan); /* zeroed or built */

/** Extremes of the fractional Miller indices h, k, l over the region of interest, every
 * source and orientation; exact or too wide, never too narrow. */
typedef struct nb_hkl_range {
    double min[3], max[3];
} nb_hkl_range;
nb_hkl_range nb_visible_range(const nb_scene *scene);

/** Fill table for the visible range; work = terms that will be looked up.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_factor_squares_build(const nb_factor_table *sf, const nb_hkl_range *range,
                                  double work, nb_factor_squares *table, nb_error *err);

#endif
