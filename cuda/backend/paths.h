/* SPDX-License-Identifier: MIT */
/** The kernels that render, as paths.  Plain C, for it needs no device. */
#ifndef NB_CUDA_PATHS_H
#define NB_CUDA_PATHS_H

#include "../../src/plan/path.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which kernel renders a scene. */
typedef enum nb_cuda_path {
    NB_PATH_DIRECT,   /* few steps a pixel: Miller indices in double, lattice in float */
    NB_PATH_TENSOR,   /* many steps: Miller indices on the FP64 tensor cores */
    NB_PATH_TRICUBIC, /* F between reflections: indices and F in double, lattice in float */
    NB_PATH_DOUBLE,   /* src/physics in double, everything */
    NB_PATH_SPOTS,    /* from reflections to pixels: steps that are dark are left out */
    NB_PATH_TILES,    /* from blocks of rays to the steps that matter there */
    NB_CUDA_PATHS
} nb_cuda_path;

extern const nb_path nb_cuda_paths[NB_CUDA_PATHS];

/** The kernel for a scene on plan->engine; *why says in a few words why it is DOUBLE, else "".  The
 * environment's NANOBRAGG_CUDA_PATH (direct, mma, tricubic, double, spots or tiles) asks for one. */
nb_cuda_path nb_cuda_choose_path(const nb_plan *plan, const char **why);

/** Why the steps that the tolerance allows are not left out, in a few words; NULL: NB_PATH_SPOTS or
 * NB_PATH_TILES leaves them out, or says why not when it renders. */
const char *nb_cuda_refuses_tolerance(const nb_plan *plan);

/** How NB_PATH_TILES is to go on: the same for every region. */
typedef struct nb_cuda_tile_choice {
    int exact;    /* terms are in doubles: floats do not hold them */
    double every; /* seconds of every step of the whole detector; 0: it is forced */
} nb_cuda_tile_choice;
nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan);

/** A round crystal of so few steps a pixel that the zeros of a single sphere show. */
int nb_cuda_is_few_round(const nb_plan *plan);

/** Steps a second that the kernel of a path reaches on plan->engine. */
double nb_cuda_step_rate(nb_cuda_path path, const nb_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
