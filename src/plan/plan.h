/* SPDX-License-Identifier: MIT */
/** The theory of the fast paths, worked out once for a scene: how large its numbers become, which
 * reflections its pixels can see, and so which arithmetic holds.  The vector renderer, a GPU
 * and the choice between them read the same plan. */
#ifndef NB_PLAN_PLAN_H
#define NB_PLAN_PLAN_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "tolerance.h"

/** What renders, as far as the choice of a path depends on it. */
typedef struct nb_engine {
    int threads;       /* CPU */
    double step;       /* CPU: seconds of a fixed-point step on one core */
    const char *lacks; /* CPU: why it has no vector kernel; NULL: it has one */
    double size;       /* GPU: multiprocessors times clock, relative to an H200 */
    int fp64_ratio;    /* GPU: FP32 operations in the time of one FP64 operation */
    int has_tensor;    /* GPU: FP64 tensor cores, and code for them */
} nb_engine;

struct nb_path;

typedef struct nb_plan {
    const nb_scene *scene;
    nb_precision precision;
    nb_tolerance tolerance; /* for whoever made the plan to set; else every step */
    nb_engine engine;
    /* To be set before a path is chosen: */
    const struct nb_path *const *paths; /* NULL-terminated, the last applies always */
    const char *forced; /* name of the one that is asked for; NULL: none */
    double pixels;      /* that are rendered */
    double rays;        /* of them all: sub-pixels and layers */
    double steps;       /* of a ray: sources and orientations */
    double terms;       /* of a pixel, the most: rays and steps */
    double cells;       /* most unit cells along an axis */
    double weight;      /* of the strongest source, 1 at least */
    double largest;     /* |F|, electrons */
    double index; /* bound of |h|, |k| and |l| over the whole sphere of directions */
} nb_plan;

/** The scene must outlive the plan. */
nb_plan nb_plan_of(const nb_scene *scene, nb_precision precision, const nb_engine *engine);

/** Do floats hold F^2 relative to `unit` [electrons^2] and the sum of so many terms? */
int nb_plan_floats_carry(const nb_plan *plan, double unit, double terms);

/** Why no fast path can have this lattice in this precision, in a few words; NULL: one may.  real_cells: up to so
 * many along each axis need not be whole. */
const char *nb_plan_needs_double(const nb_plan *plan, double real_cells);

/** Whole reflections, all NEGATED: -h0, so that floor(1/2 - h) sends halves down as
 * nb_nearest_index does. */
typedef struct nb_index_box {
    int32_t low[3], n[3]; /* first and count along each axis */
} nb_index_box;

/** The box of all reflections that the rendered pixels see, of every source and orientation: exact or
 * too wide, with a margin of one for rounding.  plan->index must be below 2^30.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_visible_box(const nb_plan *plan, nb_index_box *box, nb_error *err);

/** The part of a row of a box that is seen: places first .. end-1, counted from box->low. */
typedef struct nb_index_run {
    int32_t first, end; /* equal: none */
} nb_index_run;

/** For each row of a visible box along `axis`, one run that holds all of its reflections that the
 * rendered pixels see: exact or too wide.  (*runs)[i n[b] + j] is the row at places i and j of the
 * two other axes a < b; the caller's (nb_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_visible_runs(const nb_plan *plan, const nb_index_box *box, int axis,
                          nb_index_run **runs, nb_error *err);

/** The axis whose rows go most steeply through the Ewald sphere: there, runs are short. */
int nb_steepest_axis(const nb_scene *scene);

/** Largest |q| that a rendered pixel sees, 1/m: exact or too large.  Errors: NB_ERR_NOMEM. */
nb_status nb_largest_q(const nb_scene *scene, double *q, nb_error *err);

static inline double nb_index_box_count(const nb_index_box *box)
{
    return (double)box->n[0] * box->n[1] * box->n[2];
}

#endif
