/* SPDX-License-Identifier: MIT */
/* The path for many steps per pixel: Miller indices on FP64 tensor cores (tensor.cu). */
#include "../backend/paths.h"

/** True if the crystal scatters. Other scenes need the direct kernel. */
static int scatters(const nb_plan *plan)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    return sf->nh > 0 || sf->default_F != 0;
}

static int applies(const nb_plan *plan, const char **why)
{
    if (!plan->engine.has_tensor)
        return nb_path_refuse(why, "there are no FP64 tensor cores");
    if (!scatters(plan))
        return nb_path_refuse(why, "there is no crystal to sum");
    if (nb_cuda_is_few_round(plan))
        return nb_path_refuse(why, NB_CUDA_SINGLE_SPHERE);
    return nb_cuda_direct_applies(plan, why);
}

/** True if a panel has layers at their mean depth. */
static int is_deep(const nb_scene *sc)
{
    for (int k = 0; k < sc->n_panels; k++)
        if (sc->sensors[sc->panels[k].sensor].mean_depth)
            return 1;
    return 0;
}

/** Estimated seconds: a time per ray and a time per step. The time per ray follows from
 * the measured number of steps from which on this kernel is quicker than the direct
 * kernel. It is 24, or 8 with layers at their mean depth, with which a step takes a third
 * longer in the direct kernel but not on tensor cores. */
static double seconds(const nb_plan *plan)
{
    /* number of steps for which both kernels take the same time */
    const double even = (is_deep(plan->scene) ? 8 : 24) - 0.5;
    return plan->rays * even *
               (1 / nb_cuda_direct_rate(plan) - 1 / nb_cuda_tensor_rate(plan)) +
           plan->rays * plan->steps / nb_cuda_tensor_rate(plan);
}

const nb_path nb_cuda_path_tensor = {.name = "mma",
                                     .how =
                                         "indices on FP64 tensor cores, lattice in float",
                                     .applies = applies,
                                     .seconds = seconds,
                                     .prepare = NB_ON_DEVICE(nb_cuda_steps_prepare),
                                     .run = NB_ON_DEVICE(nb_cuda_steps_run),
                                     .kernel = NB_ON_DEVICE(&nb_cuda_kernel_tensor)};
