/* SPDX-License-Identifier: MIT */
/* The path in double by vectors: every shape and option (kernel_double.h). */
#include "vector_paths.h"

/* A step with interpolated F, in steps of the fixed-point kernel. */
#define TRICUBIC_STEP 20
/* In such steps, too: a step in double of each shape (tests/bench/choose.c; between those of an EPYC and of a Xeon). */
static const double double_steps[] = {3, 3, 2, 1}; /* NB_LATTICE_... */

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_vectors_refuse(plan);
    return reason ? nb_path_refuse(why, reason) : 1;
}

static double seconds(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const double steps =
        sc->factors.table.interpolate ? TRICUBIC_STEP : double_steps[sc->lattice.shape];
    return nb_steps_seconds(plan, steps * plan->engine.step);
}

static nb_status prepare(nb_render *r, nb_error *err)
{
    return nb_vector_plans_build(r->plan, NB_SUMS_DOUBLE, r->kept, &r->plans, err);
}

const nb_path nb_path_double = {.name = "double",
                                .applies = applies,
                                .seconds = seconds,
                                .prepare = prepare,
                                .run = nb_steps_run};
