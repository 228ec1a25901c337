/* SPDX-License-Identifier: MIT */
/* The vector path in fixed point, for parallelepipeds (kernel_fixed.h). */
#include "../plan/plan.h"
#include "vector_paths.h"

/* Largest |h|, or N |h|, that a number in fixed point holds. */
#define MAX_INDEX 500000.0

const char *nb_fixed_refuse(const nb_plan *plan, double turns, double terms)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    if (sf->interpolate)
        return "F is interpolated";
    if (nb_table_refuse(sf))
        return nb_table_refuse(sf);
    if (!nb_one_table(&plan->scene->beam) && !nb_factor_tables_fit(sf))
        return "the tables of F are too large for fixed point";
    if (!(plan->index * turns < MAX_INDEX))
        return "Miller indices are too large for fixed point";
    if (!nb_plan_floats_carry(plan, plan->largest * plan->largest, terms))
        return "single precision cannot hold the numbers";
    return NULL;
}

int nb_fixed_applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_vectors_refuse(plan);
    const double turns = nb_vector_mode(plan) == NB_FIXED_FRINGES ? plan->cells : 1;
    if (!reason)
        reason = nb_plan_needs_double(plan, NB_FIXED_CELLS);
    if (!reason)
        reason = nb_fixed_refuse(plan, turns, NB_VECTOR_SUM_RUN);
    return reason ? nb_path_refuse(why, reason) : 1;
}

double nb_fixed_seconds(const nb_plan *plan)
{
    return nb_steps_seconds(plan, plan->engine.step);
}

static nb_status prepare(nb_render *r, nb_error *err)
{
    return nb_vector_plans_build(r->plan, NB_SUMS_FIXED, r->kept, &r->plans, err);
}

const nb_path nb_path_fixed = {.name = "fixed",
                               .applies = nb_fixed_applies,
                               .seconds = nb_fixed_seconds,
                               .prepare = prepare,
                               .run = nb_steps_run};
