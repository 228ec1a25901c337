/* SPDX-License-Identifier: MIT */
/** The paths (ways to render) of a device, and functions that they share. Plain C,
 * because the choice of a path needs no device. */
#ifndef NB_CUDA_PATHS_H
#define NB_CUDA_PATHS_H

#include "../../src/plan/path.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const nb_path *const nb_cuda_paths[]; /* NULL-terminated */

/** Make a plan with the paths of a device. The environment variable NANOBRAGG_CUDA_PATH
 * (direct, mma, tricubic, double, spots or tiles) selects a path. */
nb_plan nb_cuda_plan_of(const nb_scene *scene, nb_precision precision,
                        const nb_tolerance *tolerance, const nb_engine *engine);

/** Choose the path for such a plan. If the choice is the last path of the list, *why is
 * the reason in a few words; otherwise it is "". */
const nb_path *nb_cuda_choose_path(const nb_plan *plan, const char **why);

/** The last path of the list, which renders everything. */
const nb_path *nb_cuda_last_path(void);

/* --- functions that paths share: steps/floats.c --- */
/** True if indices may be in fixed point, and lattice factors and sums in float; for
 * `applies` of a path. */
int nb_cuda_floats_apply(const nb_plan *plan, const char **why);
/** True if F is interpolated between reflections of a table. */
int nb_cuda_interpolates(const nb_scene *scene);
int nb_cuda_has_one_direction(const nb_beam *beam);
/** True for a round crystal with so few steps per pixel that zeros of a single sphere are
 * visible. */
int nb_cuda_is_few_round(const nb_plan *plan);
#define NB_CUDA_SINGLE_SPHERE "the zeros of a single sphere need double precision"
/** Speed of a step of the crystal's shape relative to a parallelepiped. */
double nb_cuda_shape_rate(const nb_plan *plan);
/** Factor of the steps per second on devices with slow double precision. */
double nb_cuda_slow_double(const nb_plan *plan);

/* --- steps/..._path.c: steps per second, from measurements on an H200 (132
 * multiprocessors at 1.98 GHz, FP64 at half the FP32 rate) --- */
int nb_cuda_direct_applies(const nb_plan *plan, const char **why);
double nb_cuda_direct_rate(const nb_plan *plan);
double nb_cuda_tensor_rate(const nb_plan *plan);
double nb_cuda_tricubic_rate(const nb_plan *plan);
double nb_cuda_double_rate(const nb_plan *plan);

/* --- functions for a device; a build without nvcc can choose a path, but cannot run it
 * --- */
#ifdef NB_HAVE_CUDA
#define NB_ON_DEVICE(is) (is)
#else
#define NB_ON_DEVICE(is) NULL
#endif
nb_status nb_cuda_steps_prepare(nb_render *render, nb_error *err);
nb_status nb_cuda_steps_run(nb_render *render, nb_error *err);
nb_status nb_cuda_spots_run(nb_render *render, nb_error *err);
nb_status nb_cuda_tiles_run(nb_render *render, nb_error *err);
extern const struct nb_path_kernel nb_cuda_kernel_direct, nb_cuda_kernel_tensor,
    nb_cuda_kernel_tricubic, nb_cuda_kernel_double;

#ifdef __cplusplus
}
#endif
#endif
