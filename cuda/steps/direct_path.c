/* SPDX-License-Identifier: MIT */
/* The path for few steps per pixel: indices in double, lattice in float (direct.cu). */
#include "../backend/paths.h"

int nb_cuda_direct_applies(const nb_plan *plan, const char **why)
{
    if (plan->scene->factors.table.interpolate)
        return nb_path_refuse(why, "structure factors are interpolated");
    if (nb_cuda_is_few_round(plan) && !nb_cuda_has_one_direction(&plan->scene->beam))
        return nb_path_refuse(why, NB_CUDA_SINGLE_SPHERE);
    return nb_cuda_floats_apply(plan, why);
}

static double seconds(const nb_plan *plan)
{
    return plan->rays * plan->steps / nb_cuda_direct_rate(plan);
}

const nb_path nb_cuda_path_direct = {.name = "direct",
                                     .how = "indices in double, lattice in float",
                                     .applies = nb_cuda_direct_applies,
                                     .seconds = seconds,
                                     .prepare = NB_ON_DEVICE(nb_cuda_steps_prepare),
                                     .run = NB_ON_DEVICE(nb_cuda_steps_run),
                                     .kernel = NB_ON_DEVICE(&nb_cuda_kernel_direct)};
