/* SPDX-License-Identifier: MIT */
/** Bounds for the fast paths, calculated once for a scene: sizes of the numbers, and
 * reflections that the pixels can see. The bounds decide which arithmetic is exact
 * enough. The vector renderer, a GPU and the choice between them read the same plan. */
#ifndef NB_PLAN_PLAN_H
#define NB_PLAN_PLAN_H

#include <math.h>

#include "../nanobragg.h"
#include "../physics/scene.h"

/* Limits of the light that a renderer may leave out (plans/paths.md, section 3). */

/** If all members are 0, every step is calculated. Else no pixel may lack more light than
 * each bound that is above 0. If both bounds are 0, only steps of 0 are left out. */
typedef struct nb_tolerance {
    int skip;       /* 1: steps may be left out */
    int asked;      /* 1: typed by the user, who gets a note if nothing is left out */
    double part;    /* bound in parts of the brightest pixel of the whole detector */
    double photons; /* bound in photons of a pixel */
} nb_tolerance;

/** Photons that a pixel may lack. brightest: lower bound of the brightest pixel, photons;
 * used with may->part. */
static inline double nb_tolerance_photons(const nb_tolerance *may, double brightest)
{
    const double photons = may->photons > 0 ? may->photons : INFINITY;
    return may->part > 0 ? fmin(photons, may->part * brightest) : photons;
}

/** Properties of the device that renders, for the choice of a path. */
typedef struct nb_engine {
    int threads;       /* CPU */
    double step;       /* CPU: seconds of a fixed-point step on one core */
    const char *lacks; /* CPU: reason why a vector kernel is missing, or NULL */
    double size;       /* GPU: multiprocessors times clock, relative to an H200 */
    int fp64_ratio;    /* GPU: FP32 operations in the time of one FP64 operation */
    int has_tensor;    /* GPU: FP64 tensor cores, and code for them */
} nb_engine;

struct nb_path;
struct nb_slope_job;

typedef struct nb_plan {
    const nb_scene *scene;
    nb_precision precision;
    /* set by the caller; if all members are 0, every step is calculated */
    nb_tolerance tolerance;
    nb_engine engine;
    /* The caller sets paths, forced and sums before a path is chosen. */
    const struct nb_path *const *paths; /* NULL-terminated, the last always applies */
    const char *forced; /* name of the path that the user asked for, or NULL */
    double pixels;      /* number of rendered pixels */
    double rays;        /* number of rays to the pixels: pixels x sub-pixels x layers */
    double steps;       /* number of steps of a ray: sources times orientations */
    double terms;       /* largest number of rays times steps of a pixel */
    double cells;       /* largest number of unit cells along an axis */
    double weight;      /* weight of the strongest source, at least 1 */
    double largest;     /* largest |F|, electrons */
    double index; /* bound of |h|, |k| and |l| over the whole sphere of directions */
    /** Wanted slopes (../render/sums.h), or NULL for the image. */
    const struct nb_slope_job *sums;
} nb_plan;

/** Make a plan. The scene must outlive the plan. */
nb_plan nb_plan_of(const nb_scene *scene, nb_precision precision, const nb_engine *engine);

/** True if floats hold F^2 / unit (unit in electrons^2) and a sum of `terms` terms. */
int nb_plan_floats_carry(const nb_plan *plan, double unit, double terms);

/** Reason, in a few words, why no fast path can render this lattice in this precision; or
 * NULL. The number of cells along an axis must be whole if it exceeds real_cells. */
const char *nb_plan_needs_double(const nb_plan *plan, double real_cells);

/** A box of reflections. All indices have the opposite sign, -h0, so that floor(1/2 - h)
 * sends halves down as nb_nearest_index does. */
typedef struct nb_index_box {
    int32_t low[3], n[3]; /* first and count along each axis */
} nb_index_box;

/** Find a box of all reflections that the rendered pixels see, for every source and
 * orientation, with a margin of one for rounding. The box may be too wide. plan->index
 * must be below 2^30. Errors: NB_ERR_NOMEM. */
nb_status nb_visible_box(const nb_plan *plan, nb_index_box *box, nb_error *err);

/** Visible part of a row of a box: places first .. end - 1, counted from box->low. */
typedef struct nb_index_run {
    int32_t first, end; /* equal for an empty run */
} nb_index_run;

/** Find the run of each row of a visible box along `axis`: all reflections that the
 * rendered pixels see, or more. (*runs)[i n[b] + j] is the row at places i and j of the
 * other axes a < b. The caller frees *runs (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_visible_runs(const nb_plan *plan, const nb_index_box *box, int axis,
                          nb_index_run **runs, nb_error *err);

/** Axis whose rows cross the Ewald sphere at the steepest angle, for short runs. */
int nb_steepest_axis(const nb_scene *scene);

/** Directions within an angle of an axis. */
typedef struct nb_cone {
    nb_vec3 axis;
    double cos_angle, sin_angle; /* cos_angle is -1 for every direction */
} nb_cone;

/** Cone around the directions to a patch of a panel, F[0] to F[1] and S[0] to S[1] (m),
 * at all depths of the sensor. A curved or very wide patch gets every direction. */
nb_cone nb_cone_of(const nb_panel *panel, const nb_sensor *sensor, const double F[2],
                   const double S[2]);

/** Largest |q| that a rendered pixel sees, 1/m, or more. Errors: NB_ERR_NOMEM. */
nb_status nb_largest_q(const nb_scene *scene, double *q, nb_error *err);

static inline double nb_index_box_count(const nb_index_box *box)
{
    return (double)box->n[0] * box->n[1] * box->n[2];
}

/* --- Tables of F of the sources --- */

/** True if all sources have the same table of F. */
static inline int nb_one_table(const nb_beam *beam)
{
    for (int i = 1; i < beam->n_sources; i++)
        if (beam->sources[i].table != beam->sources[0].table)
            return 0;
    return 1;
}

#endif
