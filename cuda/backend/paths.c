/* SPDX-License-Identifier: MIT */
/* The paths of a device. A new path needs a line here and a file. */
#include "paths.h"

#include <stdlib.h>

/* If paths have equal estimates, the first one is taken; the last renders everything. */
#define PATHS(A)                                                                         \
    A(nb_cuda_path_direct)                                                               \
    A(nb_cuda_path_tensor)                                                               \
    A(nb_cuda_path_tricubic)                                                             \
    A(nb_cuda_path_spots)                                                                \
    A(nb_cuda_path_tiles)                                                                \
    A(nb_cuda_path_double)

#define DECLARE(path) extern const nb_path path;
#define ADDRESS(path) &path,

PATHS(DECLARE)

const nb_path *const nb_cuda_paths[] = {PATHS(ADDRESS) NULL};

nb_plan nb_cuda_plan_of(const nb_scene *scene, nb_precision precision,
                        const nb_tolerance *tolerance, const nb_engine *engine)
{
    nb_plan plan = nb_plan_of(scene, precision, engine);
    plan.tolerance = *tolerance;
    plan.paths = nb_cuda_paths;
    plan.forced = getenv("NANOBRAGG_CUDA_PATH");
    return plan;
}

const nb_path *nb_cuda_last_path(void)
{
    return nb_cuda_paths[sizeof nb_cuda_paths / sizeof *nb_cuda_paths - 2];
}

/** The path that NANOBRAGG_CUDA_PATH names, or NULL. */
static const nb_path *forced_path(const nb_plan *plan)
{
    int i = 0;
    while (nb_cuda_paths[i] && !nb_path_is_forced(plan, nb_cuda_paths[i]->name))
        i++;
    return nb_cuda_paths[i];
}

const nb_path *nb_cuda_choose_path(const nb_plan *plan, const char **why)
{
    const nb_path *forced = forced_path(plan), *last = nb_cuda_last_path(),
                  *best = nb_path_choose(plan, why);
    const char *unused;
    if (best != last)
        *why = "";
    if (!forced || best == last || best == forced)
        return best;
    if (forced == last)
        *why = "NANOBRAGG_CUDA_PATH=double";
    else if (!forced->applies(plan, &unused))
        return best;
    return forced;
}
