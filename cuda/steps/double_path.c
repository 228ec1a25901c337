/* SPDX-License-Identifier: MIT */
/* The path that renders every scene: src/physics in double (double.cu). */
#include "../backend/paths.h"

static int applies(const nb_plan *plan, const char **why)
{
    (void)plan;
    (void)why;
    return 1;
}

static double seconds(const nb_plan *plan)
{
    return plan->rays * plan->steps / nb_cuda_double_rate(plan);
}

const nb_path nb_cuda_path_double = {.name = "double",
                                     .how = "every operation in double",
                                     .applies = applies,
                                     .seconds = seconds,
                                     .prepare = NB_ON_DEVICE(nb_cuda_steps_prepare),
                                     .run = NB_ON_DEVICE(nb_cuda_steps_run),
                                     .kernel = NB_ON_DEVICE(&nb_cuda_kernel_double)};
