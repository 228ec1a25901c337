/* SPDX-License-Identifier: MIT */
/* The vector path in double precision, for every shape and option (kernel_double.h). */
#include "vector_paths.h"

/* Time of a step with interpolated F; unit: a step of the fixed-point kernel. */
#define TRICUBIC_STEP 20

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_vectors_refuse(plan);
    return reason ? nb_path_refuse(why, reason) : 1;
}

static double seconds(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const double steps = sc->factors.table.interpolate
                             ? TRICUBIC_STEP
                             : nb_shape_row_of(sc->lattice.shape).step;
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
