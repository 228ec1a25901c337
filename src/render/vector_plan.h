/* SPDX-License-Identifier: MIT */
/** What the vector kernels need of a scene beside its plan (../plan/plan.h), worked out once a
 * render.
 *
 * Two ways to sum over the crystal (docs/physics.md, section 21.1):
 *   FIXED   SQUARE crystals in fixed point: t = magic - h in double, whose low word is the
 *           fractional index in units of 2^-32 and whose high word counts reflections; the
 *           interference functions in float, sums in float of SUM_RUN terms, then in double.
 *   DOUBLE  every shape and option, every operation in double. */
#ifndef NB_RENDER_VECTOR_PLAN_H
#define NB_RENDER_VECTOR_PLAN_H

#include "../plan/fixed_point.h"
#include "vector_paths.h"

enum {
    NB_VECTOR_MAX_FACTORS = 256
}; /* sources whose factors a kernel keeps on its stack */

/** Where F^2 comes from. */
typedef enum nb_f_kind {
    NB_F_ZERO,   /* nothing visible scatters */
    NB_F_CONST,  /* one value for every visible reflection */
    NB_F_BOX,    /* table over all that is visible: no bounds test */
    NB_F_CLAMPED /* table over a part, its rim standing for all outside */
} nb_f_kind;

/** F^2 over a box of reflections.  Index: (i_h << shift_h) + (i_k << shift_k) + i_l. */
typedef struct nb_factor_squares {
    nb_f_kind kind;
    float *F2;   /* owned; relative to `unit` */
    double unit; /* electrons^2 of 1 in F2, or the constant F^2 */
    nb_index_box box;
    int32_t shift[3]; /* of l: 0 */
    int32_t offset;   /* nb_fixed_offset */
} nb_factor_squares;

typedef struct nb_vector_source {
    nb_vec3 incident;
    double inv_lambda; /* 1/m */
    double weight;
    nb_vec3 B, E;    /* frame of the polarization (Kahn), unit or 0 */
    const double *F; /* the source's table; NULL without one */
} nb_vector_source;

typedef struct nb_vector_plan {
    nb_scene scene;            /* a copy; its arrays are the caller's */
    int fixed;                 /* fixed point; 0: double */
    int fastest;               /* FIXED: cheaper polynomials */
    nb_fixed_mode mode;        /* FIXED */
    nb_factor_squares table;   /* FIXED only */
    nb_vector_source *sources; /* owned */
    double *offsets; /* owned, FIXED: [orientation][source][3] start + a.i/lambda, or NULL
                               when there is one source or they would not fit */
    int simple;      /* FIXED: NB_VECTOR_SIMPLE */
    int has_factors; /* the sources' factors differ between sources or pixels */
    /* of one panel */
    nb_panel panel;
    nb_sensor sensor;
    nb_region region;      /* rendered, in the panel's pixels */
    double edge;           /* of a sub-pixel along fast, m */
    double *cos_u, *sin_u; /* owned; curved panel: [region's fast][sub-pixel] */
} nb_vector_plan;

/** nb_fixed_start; nothing yet when N h is wanted too. */
static inline double nb_vector_start(int kind, int mode)
{
    return mode == NB_FIXED_FRINGES ? 0.0 : nb_fixed_start(kind != NB_F_CONST);
}

/** What the kernels need for a path (any but NB_VECTOR_REFERENCE): *plans[n_panels].  They share what
 * the first owns: sources, offsets and table.  The scene's arrays must outlive them.
 * Errors: NB_ERR_NOMEM, and *plans is NULL. */
nb_status nb_vector_plans_build(const nb_plan *plan, nb_vector_path path,
                                nb_vector_plan **plans, nb_error *err);
void nb_vector_plans_free(nb_vector_plan *plans); /* NULL or built */

/** Fill squares for the visible reflections.  Errors: NB_ERR_NOMEM. */
nb_status nb_factor_squares_build(const nb_plan *plan, nb_factor_squares *squares,
                                  nb_error *err);

#endif
