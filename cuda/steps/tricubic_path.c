/* SPDX-License-Identifier: MIT */
/* The path for F between reflections: indices in double, F in float (tricubic.cu). */
#include "../../src/plan/plan.h"
#include "../backend/paths.h"

static int applies(const nb_plan *plan, const char **why)
{
    if (!nb_cuda_interpolates(plan->scene))
        return nb_path_refuse(why, "structure factors are not interpolated");
    if (!nb_one_table(&plan->scene->beam))
        return nb_path_refuse(why, "sources have their own structure factors");
    if (nb_cuda_is_few_round(plan))
        return nb_path_refuse(why, NB_CUDA_SINGLE_SPHERE);
    return nb_cuda_floats_apply(plan, why);
}

/** Estimated seconds, for making the cells from the table and for the steps. */
static double seconds(const nb_plan *plan)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    const double cells = (double)sf->nh * sf->nk * sf->nl, rate = 5e9;
    return cells / (rate * plan->engine.size) +
           plan->rays * plan->steps / nb_cuda_tricubic_rate(plan);
}

const nb_path nb_cuda_path_tricubic = {
    .name = "tricubic",
    .how =
        "indices in double, tricubic F and lattice in float, pixels in doubt in double",
    .applies = applies,
    .seconds = seconds,
    .prepare = NB_ON_DEVICE(nb_cuda_steps_prepare),
    .run = NB_ON_DEVICE(nb_cuda_steps_run),
    .kernel = NB_ON_DEVICE(&nb_cuda_kernel_tricubic)};
