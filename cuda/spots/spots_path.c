/* SPDX-License-Identifier: MIT */
/* The path from reflections to pixels, which leaves out steps without photons (spots.cu). */
#include <math.h>

#include "../backend/paths.h"

/* Seconds on an H200: START with the first pass; then for each COLUMN of reflections and
 * group of orientations, PAIR of reflection and orientation, RAY of its box (GAUSS_RAY:
 * of a Gaussian crystal with several sources), TERM and PIXEL. */
#define SPOTS_START 2e-4
#define SPOTS_COLUMN 1e-9
#define SPOTS_PAIR 3e-10
#define SPOTS_RAY 2e-11
#define SPOTS_GAUSS_RAY 1e-11
#define SPOTS_TERM 5e-13
#define SPOTS_PIXEL 3e-12
#define SPOTS_DIM 1e3 /* argument of nb_spots_work_of */

static double spots_seconds(const nb_plan *plan)
{
    const nb_spots_work w = nb_spots_work_of(plan, SPOTS_DIM);
    const double size = plan->engine.size, fp64 = 2.0 / plan->engine.fp64_ratio;
    const nb_scene *sc = plan->scene;
    const int slow =
        nb_shape_law(sc->lattice.shape) == NB_LAW_DECAY && sc->beam.n_sources > 1;
    const double ray = slow ? SPOTS_GAUSS_RAY : SPOTS_RAY;
    return SPOTS_START + SPOTS_PIXEL * w.pixels / size +
           (SPOTS_COLUMN * w.columns + SPOTS_PAIR * w.pairs + ray * w.rays +
            SPOTS_TERM * w.terms) /
               (size * fp64);
}

/* Smallest estimated gain for which the path is used; as large as errors of estimates. */
#define GAIN 1.5

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_spots_refuse(plan);
    if (reason)
        return nb_path_refuse(why, reason);
    if (!nb_path_is_forced(plan, "spots") &&
        !(GAIN * spots_seconds(plan) < nb_spots_whole(plan, nb_path_every_step)))
        return nb_path_refuse(why, "every step is as quick");
    return 1;
}

/** Seconds of the whole detector, so that the choice does not depend on the region. */
static double seconds(const nb_plan *plan)
{
    if (nb_spots_refuse(plan))
        return INFINITY;
    return fmin(spots_seconds(plan), 0.5 * nb_path_every_step(plan));
}

static void describe(const nb_path_notes *notes, char *line, size_t size)
{
    nb_spots_describe(&notes->left, line, size);
}

const nb_path nb_cuda_path_spots = {.name = "spots",
                                    .how = "from its reflections",
                                    .applies = applies,
                                    .seconds = seconds,
                                    .skips = nb_spots_suit,
                                    .run = NB_ON_DEVICE(nb_cuda_spots_run),
                                    .describe = describe};
