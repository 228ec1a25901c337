/* SPDX-License-Identifier: MIT */
#include "tile_setup.h"

#include <math.h>

#include "../../src/plan/tiles.h"
#include "../backend/paths.h"

/* The formulas are fitted to trials of 108 random scenes, and scaled to 220 other scenes
 * (reports/cuda). If all reflections have the same F, tails of square crystals overlap. */
/** Estimated ratio of the time of every step to the time in blocks of rays, for the
 * plan's part of the image. */
static double tiles_gain(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    const double *N = lattice->N, cells = cbrt(N[0] * N[1] * N[2]);
    const double part = plan->tolerance.part > 0 ? plan->tolerance.part : 1e-4;
    const double even = plan->scene->factors.table.nh > 0 ? 1 : 0.5;
    if (nb_shape_law(lattice->shape) == NB_LAW_SPHERE)
        return 0.016 * pow(plan->steps, 0.42) * pow(cells, 0.46) * pow(part, 0.27) *
               pow(plan->rays, 0.11);
    return 2.3e-4 * even * pow(plan->steps, 0.39) * pow(cells, 0.33) * pow(part, 0.13) *
           pow(plan->rays, 0.41);
}

/* T: seconds of every step. If T < TILES_START, no blocks are tried. If T > TILES_LONG +
 * TILES_LONG_STEP times the steps of a ray + TILES_LOOK times the first search, they are
 * always tried. In between they are tried if the estimated gain is at least TILES_SEEM. */
#define TILES_START 2e-3
#define TILES_LONG 2e-2
#define TILES_LONG_STEP 2.5e-6
/* seconds of the first search on a device, as a fraction of those on a core of a CPU */
#define TILES_LOOK 0.15
#define TILES_SEEM 1.3
/* Seconds of a trial: TILES_TRIAL, plus TILES_TRIAL_STEP for each step of a ray. If this
 * is more than the part TILES_DEAR of the time of every step, the estimated gain must be
 * at least TILES_SEEM_DEAR. */
#define TILES_TRIAL 5e-4
#define TILES_TRIAL_STEP 5e-8
#define TILES_DEAR 0.05
#define TILES_SEEM_DEAR 1.5
/* Steps that the slowest single-precision kernel does in TILES_START on an H200. */
#define TILES_FEW 5e7

/** True if steps may be left out, but the whole detector has so few steps (without
 * layers) that calculating all is quick. */
static int has_few_steps(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    return plan->tolerance.skip && (double)sc->raster.pixels * (double)sc->samples <
                                       TILES_FEW * plan->engine.size;
}

/** The reason why a trial would take too long compared with `every`, the seconds of every
 * step; or NULL. */
static const char *refuse_trial(const nb_plan *plan, double every)
{
    const double trial = TILES_TRIAL + TILES_TRIAL_STEP * plan->steps;
    const double seem = trial > TILES_DEAR * every ? TILES_SEEM_DEAR : TILES_SEEM;
    if (!(TILES_START < every))
        return "every step is quick";
    if (every < TILES_LONG + TILES_LONG_STEP * plan->steps +
                    TILES_LOOK * nb_spots_look_seconds(plan) &&
        nb_spots_whole(plan, tiles_gain) < seem)
        return "every step seems to be as quick";
    return NULL;
}

const char *nb_cuda_tiles_refuse(const nb_plan *plan)
{
    const int forced = nb_path_is_forced(plan, NB_CUDA_TILES);
    const char *reason = NULL;
    if (!forced && has_few_steps(plan)) /* the following tests take microseconds */
        reason = "every step is quick";
    if (!reason)
        reason = nb_tiles_refuse(plan);
    if (!reason && !forced)
        reason = refuse_trial(plan, nb_spots_whole(plan, nb_path_every_step));
    return reason;
}

static double floats_hold(const nb_plan *plan)
{
    const char *unused;
    return nb_cuda_direct_applies(plan, &unused);
}

nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan)
{
    const nb_cuda_tile_choice choice = {!(nb_spots_whole(plan, floats_hold) > 0),
                                        nb_path_is_forced(plan, NB_CUDA_TILES)
                                            ? 0
                                            : nb_spots_whole(plan, nb_path_every_step)};
    return choice;
}
