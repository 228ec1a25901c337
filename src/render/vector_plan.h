/* SPDX-License-Identifier: MIT */
/** Data of a scene for the vector kernels, in addition to its plan (../plan/plan.h); calculated
 * once per render.
 *
 * There are two ways to sum over the crystal (plans/paths.md, section 1):
 *   FIXED   SQUARE crystals. Indices are in fixed point: the low word of t = magic - h in
 *           double is the fraction of -h in units of 2^-32, the high word counts
 *           reflections. Interference functions are in float, sums in float over
 *           NB_VECTOR_SUM_RUN terms, then in double.
 *   DOUBLE  Every shape and option; every operation is in double. */
#ifndef NB_RENDER_VECTOR_PLAN_H
#define NB_RENDER_VECTOR_PLAN_H

#include "../plan/fixed_point.h"
#include "../plan/plan.h"

enum {
    /* limit of the sources whose factors a kernel keeps on its stack */
    NB_VECTOR_MAX_FACTORS = 256,
    /* number of terms that are added in float before the sum is added to a double */
    NB_VECTOR_SUM_RUN = 32
};

/** How the fixed-point kernel calculates the interference function of an axis. */
typedef enum nb_fixed_mode {
    NB_FIXED_INDEX,   /* whole N: from the index h in steps of 2^-32 */
    NB_FIXED_FRINGES, /* many cells: from N h in steps of 2^-32, too */
    NB_FIXED_REAL,    /* like INDEX, but N is not a whole number */
    NB_FIXED_MODES
} nb_fixed_mode;
nb_fixed_mode nb_vector_mode(const nb_plan *plan);

/** Arithmetic of a kernel's sums. */
typedef enum nb_vector_sums {
    NB_SUMS_DOUBLE, /* kernel_double.h */
    NB_SUMS_FIXED,  /* kernel_fixed.h */
    NB_SUMS_SIMPLE  /* like FIXED, for one step per pixel (kernel_simple.h) */
} nb_vector_sums;

/** Where the kernels get F^2 from. */
typedef enum nb_f_kind {
    NB_F_ZERO,    /* F is 0 for every visible reflection */
    NB_F_CONST,   /* one value for every visible reflection */
    NB_F_BOX,     /* table of all visible reflections; indices need no test */
    NB_F_CLAMPED, /* table of a part; indices outside are moved to its rim of default_F */
    NB_F_TABLES,  /* like BOX, but with a table for each group of sources */
    NB_F_TABLES_CLAMPED
} nb_f_kind;

/** F^2 over a box of reflections. Index: (i_h << shift[0]) + (i_k << shift[1]) + i_l.
 * TABLES: the values of one reflection in all tables are adjacent (shift[2] > 0):
 * consecutive sources of nearly one wavelength see the same reflection, so they read the
 * same lines of a cache. The index is cut to the bits of `mask`. So entries along the
 * axis with the largest shift are used again for other reflections, which is possible
 * because only short runs along this axis are visible. */
typedef struct nb_factor_squares {
    nb_f_kind kind;
    /* relative to `unit`; owned, except for TABLES, which nb_kept_squares owns */
    float *F2;
    double unit; /* electrons^2 of 1 in F2, or the constant F^2 */
    nb_index_box box;
    int32_t shift[3]; /* shift[2] is 0 except for TABLES */
    int32_t offset;   /* value of nb_fixed_offset */
    int32_t mask;     /* used by TABLES */
} nb_factor_squares;

static inline int nb_has_tables(int kind)
{
    return kind == NB_F_TABLES || kind == NB_F_TABLES_CLAMPED;
}

/** Squares of TABLES that are kept for the next render, and the inputs that they were
 * made from. All zero: no squares. */
typedef struct nb_kept_squares {
    nb_factor_squares squares; /* F2 is owned */
    size_t bytes;              /* size of F2 */
    nb_factor_table from;      /* input table; its member F is not read */
    nb_index_run *runs; /* owned; reflections that are filled; NULL: all reflections */
    size_t n_runs;
    int made; /* number of times the squares were filled */
} nb_kept_squares;

void nb_kept_squares_free(nb_kept_squares *kept);

typedef struct nb_vector_source {
    nb_vec3 incident;
    double inv_lambda; /* 1/m */
    double weight;
    nb_vec3 B, E;    /* frame of the polarization (Kahn), unit or 0 */
    const double *F; /* the source's table; may be NULL */
    const float *F2; /* TABLES: the source's table in nb_factor_squares */
} nb_vector_source;

typedef struct nb_vector_plan {
    nb_scene scene;            /* a copy; its arrays belong to the caller */
    int fixed;                 /* fixed point; 0: double */
    nb_fixed_mode mode;        /* FIXED */
    nb_factor_squares table;   /* FIXED only */
    nb_kept_squares squares;   /* holds `table` if the caller keeps no squares */
    nb_vector_source *sources; /* owned */
    /* owned, FIXED: [orientation][source][3] start + a.i/lambda; NULL with one source or
     * if they would not fit */
    double *offsets;
    int simple;      /* FIXED: NB_SUMS_SIMPLE */
    int has_factors; /* factors differ between sources or pixels */
    /* members of one panel: */
    nb_panel panel;
    nb_sensor sensor;
    nb_region region;      /* rendered region, in the panel's pixels */
    double edge;           /* edge of a sub-pixel along fast, m */
    double *cos_u, *sin_u; /* owned; curved panel: [region's fast][sub-pixel] */
} nb_vector_plan;

/** nb_fixed_start, or 0 when the kernel also needs N h. */
static inline double nb_vector_start(int kind, int mode)
{
    return mode == NB_FIXED_FRINGES ? 0.0 : nb_fixed_start(kind != NB_F_CONST);
}

/** Make the data for the kernels: *plans[n_panels]. All plans share the arrays of the
 * first plan, which owns them: sources, offsets and table. kept: squares of an earlier
 * render, or NULL. The scene's arrays and `kept` must outlive the plans. Errors:
 * NB_ERR_NOMEM; *plans is then NULL. */
nb_status nb_vector_plans_build(const nb_plan *plan, nb_vector_sums sums,
                                nb_kept_squares *kept, nb_vector_plan **plans,
                                nb_error *err);
void nb_vector_plans_free(nb_vector_plan *plans); /* NULL is allowed */

/** to[orientation][source][3] = start + a.i/lambda, for a, b and c. */
void nb_fill_offsets(const nb_vector_plan *plan, double start, double *to);

/** Fill squares for the visible reflections.  Errors: NB_ERR_NOMEM. */
nb_status nb_factor_squares_build(const nb_plan *plan, nb_kept_squares *kept,
                                  nb_factor_squares *squares, nb_error *err);

/** nb_factor_squares_build for sources with different tables; the squares are in kept.
 * box: the visible box. */
nb_status nb_factor_tables_build(const nb_plan *plan, const nb_index_box *box,
                                 nb_kept_squares *kept, nb_error *err);

/** True if the index of an entry in all tables together fits 30 bits. */
int nb_factor_tables_fit(const nb_factor_table *table);

/** Shrink a visible box to the indices of the file and a rim; F of the rim stands for all
 * indices outside. */
void nb_clamp_box(const nb_factor_table *table, nb_index_box *box);

/** (F/largest F)^2, calculated in the same way for every table of squares. */
static inline float nb_relative_square(double F, double inv_largest)
{
    return (float)(F * inv_largest * (F * inv_largest));
}

/** Smallest number of bits that hold n. */
static inline int nb_log2_ceil(int64_t n)
{
    int shift = 0;
    while (((int64_t)1 << shift) < n)
        shift++;
    return shift;
}

#endif
