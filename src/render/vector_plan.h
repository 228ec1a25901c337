/* SPDX-License-Identifier: MIT */
/** What the vector kernels need of a scene beside its plan (../plan/plan.h), calculated once a
 * render.
 *
 * Two ways to sum over the crystal (plans/paths.md, section 1):
 *   FIXED   SQUARE crystals in fixed point: t = magic - h in double, whose low word is the
 *           fractional index in units of 2^-32 and whose high word counts reflections; the
 *           interference functions in float, sums in float of SUM_RUN terms, then in double.
 *   DOUBLE  every shape and option, every operation in double. */
#ifndef NB_RENDER_VECTOR_PLAN_H
#define NB_RENDER_VECTOR_PLAN_H

#include "../plan/fixed_point.h"
#include "../plan/plan.h"

enum {
    NB_VECTOR_MAX_FACTORS = 256, /* sources whose factors a kernel keeps on its stack */
    NB_VECTOR_SUM_RUN = 32       /* float terms added before they go to a double */
};

/** How the fixed-point kernel gets an axis' interference function. */
typedef enum nb_fixed_mode {
    NB_FIXED_INDEX,   /* a ratio of sines, the index in steps of 2^-32 */
    NB_FIXED_FRINGES, /* many cells: N h in steps of 2^-32 too */
    NB_FIXED_REAL,    /* as INDEX, N not whole */
    NB_FIXED_MODES
} nb_fixed_mode;
nb_fixed_mode nb_vector_mode(const nb_plan *plan);

/** In which numbers a kernel sums. */
typedef enum nb_vector_sums {
    NB_SUMS_DOUBLE, /* kernel_double.h */
    NB_SUMS_FIXED,  /* kernel_fixed.h */
    NB_SUMS_SIMPLE  /* as FIXED, one step a pixel: kernel_simple.h */
} nb_vector_sums;

/** Where F^2 comes from. */
typedef enum nb_f_kind {
    NB_F_ZERO,    /* nothing visible scatters */
    NB_F_CONST,   /* one value for every visible reflection */
    NB_F_BOX,     /* table over all that is visible: no bounds test */
    NB_F_CLAMPED, /* table over a part, its rim standing for all outside */
    NB_F_TABLES,  /* as BOX, a table for each group of sources */
    NB_F_TABLES_CLAMPED
} nb_f_kind;

/** F^2 over a box of reflections.  Index: (i_h << shift_h) + (i_k << shift_k) + i_l.
 * TABLES: the tables' values of a reflection lie side by side (shift_l > 0), for sources of nearly one
 * wavelength see the same reflection one after the other; they read the same lines of a cache, and one
 * page.  Of the index only the bits of `mask` count: the axis with the largest shift is folded on itself,
 * because only short runs of its rows are visible. */
typedef struct nb_factor_squares {
    nb_f_kind kind;
    float *F2;   /* relative to `unit`; owned, but TABLES that nb_kept_squares has */
    double unit; /* electrons^2 of 1 in F2, or the constant F^2 */
    nb_index_box box;
    int32_t shift[3]; /* of l: 0 */
    int32_t offset;   /* nb_fixed_offset */
    int32_t mask;     /* TABLES */
} nb_factor_squares;

static inline int nb_has_tables(int kind)
{
    return kind == NB_F_TABLES || kind == NB_F_TABLES_CLAMPED;
}

/** Squares of TABLES that stay for the next render, and what they were made of.  All zero: none. */
typedef struct nb_kept_squares {
    nb_factor_squares squares; /* F2 is owned */
    size_t bytes;              /* of F2 */
    nb_factor_table from;      /* its F is not read */
    nb_index_run *runs;        /* owned; reflections that are filled, NULL: all */
    size_t n_runs;
    int made; /* how often they were filled */
} nb_kept_squares;

void nb_kept_squares_free(nb_kept_squares *kept);

typedef struct nb_vector_source {
    nb_vec3 incident;
    double inv_lambda; /* 1/m */
    double weight;
    nb_vec3 B, E;    /* frame of the polarization (Kahn), unit or 0 */
    const double *F; /* the source's table; NULL without one */
    const float *F2; /* TABLES: the table of its own in nb_factor_squares */
} nb_vector_source;

typedef struct nb_vector_plan {
    nb_scene scene;            /* a copy; its arrays are the caller's */
    int fixed;                 /* fixed point; 0: double */
    nb_fixed_mode mode;        /* FIXED */
    nb_factor_squares table;   /* FIXED only */
    nb_kept_squares own;       /* behind table where nobody keeps it */
    nb_vector_source *sources; /* owned */
    double *offsets; /* owned, FIXED: [orientation][source][3] start + a.i/lambda, or NULL
                               when there is one source or they would not fit */
    int simple;      /* FIXED: NB_SUMS_SIMPLE */
    int has_factors; /* the sources' factors differ between sources or pixels */
    int amorphous;   /* the materials alone, added to what is there: dark_rows.h */
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

/** What the kernels need: *plans[n_panels].  They share what the first owns: sources, offsets and table.  The scene's arrays and `kept`, from an earlier render or
 * NULL, must outlive them.  Errors: NB_ERR_NOMEM, and *plans is NULL. */
nb_status nb_vector_plans_build(const nb_plan *plan, nb_vector_sums sums,
                                nb_kept_squares *kept, nb_vector_plan **plans,
                                nb_error *err);
void nb_vector_plans_free(nb_vector_plan *plans); /* NULL or built */

/** to[orientation][source][3] = start + a.i/lambda, for a, b and c. */
void nb_fill_offsets(const nb_vector_plan *plan, double start, double *to);

/** Fill squares for the visible reflections.  Errors: NB_ERR_NOMEM. */
nb_status nb_factor_squares_build(const nb_plan *plan, nb_kept_squares *kept,
                                  nb_factor_squares *squares, nb_error *err);

/** The same where sources have tables of their own, into kept; box: the visible one. */
nb_status nb_factor_tables_build(const nb_plan *plan, const nb_index_box *box,
                                 nb_kept_squares *kept, nb_error *err);

/** Can it be?  Indices have 31 bits. */
int nb_factor_tables_fit(const nb_factor_table *table);

/** Shrink a visible box to the indices of the file and a rim, whose F is that of all indices outside. */
void nb_clamp_box(const nb_factor_table *table, nb_index_box *box);

/** (F/most)^2; every table of squares has these bytes. */
static inline float nb_relative_square(double F, double inv_most)
{
    return (float)(F * inv_most * (F * inv_most));
}

/** Least number of bits that hold n. */
static inline int nb_log2_ceil(int64_t n)
{
    int shift = 0;
    while (((int64_t)1 << shift) < n)
        shift++;
    return shift;
}

#endif
