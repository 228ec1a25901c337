/* SPDX-License-Identifier: MIT */
/* Approximate steps per second of the kernels of the device, for the choice of a path and the
 * division of a render. */
#include <math.h>

#include "../backend/paths.h"

double nb_cuda_shape_rate(const nb_plan *plan)
{
    return nb_shape_row_of(plan->scene->lattice.shape).rate;
}

double nb_cuda_slow_double(const nb_plan *plan)
{
    const double fp64 = 2.0 / plan->engine.fp64_ratio;
    return fp64 > 0.5 ? 1.0 : fmin(1.0, 4 * fp64);
}

double nb_cuda_direct_rate(const nb_plan *plan)
{
    return 300e9 * plan->engine.size * nb_cuda_shape_rate(plan) *
           nb_cuda_slow_double(plan);
}

double nb_cuda_tensor_rate(const nb_plan *plan)
{
    return 450e9 * plan->engine.size * nb_cuda_shape_rate(plan);
}

double nb_cuda_tricubic_rate(const nb_plan *plan)
{
    return 131e9 * plan->engine.size * nb_cuda_shape_rate(plan) *
           nb_cuda_slow_double(plan);
}

double nb_cuda_double_rate(const nb_plan *plan)
{
    return 50e9 * plan->engine.size * (2.0 / plan->engine.fp64_ratio);
}
