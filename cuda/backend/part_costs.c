/* SPDX-License-Identifier: MIT */
#include "part_costs.h"

#include <math.h>

#include "../../src/plan/spots.h"

/* Of the spots, on an H200: to start and for the first pass; of a column of reflections and a group of
 * orientations, a reflection in an orientation, a ray of its box, one of a Gaussian with several sources, a term, a
 * pixel. */
#define SPOTS_START 2e-4
#define SPOTS_COLUMN 1e-9
#define SPOTS_PAIR 3e-10
#define SPOTS_RAY 2e-11
#define SPOTS_GAUSS_RAY 1e-11
#define SPOTS_TERM 5e-13
#define SPOTS_PIXEL 3e-12
#define SPOTS_DIM 1e3 /* nb_spots_work_of */

double nb_cuda_spots_seconds(const nb_plan *plan)
{
    const nb_spots_work w = nb_spots_work_of(plan, SPOTS_DIM);
    const double size = plan->engine.size, fp64 = 2.0 / plan->engine.fp64_ratio;
    const nb_scene *sc = plan->scene;
    const int slow = sc->lattice.shape == NB_LATTICE_GAUSS && sc->beam.n_sources > 1;
    const double ray = slow ? SPOTS_GAUSS_RAY : SPOTS_RAY;
    return SPOTS_START + SPOTS_PIXEL * w.pixels / size +
           (SPOTS_COLUMN * w.columns + SPOTS_PAIR * w.pairs + ray * w.rays +
            SPOTS_TERM * w.terms) /
               (size * fp64);
}

/* Fitted to the trials of 108 random scenes, and scaled to 220 others (reports/cuda).  With one F for all reflections the tails
 * of square crystals meet everywhere. */
double nb_cuda_tiles_gain(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    const double *N = lattice->N, cells = cbrt(N[0] * N[1] * N[2]);
    const double part = plan->tolerance.part > 0 ? plan->tolerance.part : 1e-4;
    const double even = plan->scene->factors.table.nh > 0 ? 1 : 0.5;
    if (lattice->shape == NB_LATTICE_ROUND)
        return 0.016 * pow(plan->steps, 0.42) * pow(cells, 0.46) * pow(part, 0.27) *
               pow(plan->rays, 0.11);
    return 2.3e-4 * even * pow(plan->steps, 0.39) * pow(cells, 0.33) * pow(part, 0.13) *
           pow(plan->rays, 0.41);
}

/* Seconds of every step: less is not worth trying blocks of rays; and beside so much, and so much for each step of a
 * ray, a trial does not count.  Between them blocks are tried where they seem to gain so much. */
#define TILES_START 2e-3
#define TILES_LONG 2e-2
#define TILES_LONG_STEP 2.5e-6
#define TILES_LOOK 0.15 /* of the time on a core of a CPU */
#define TILES_SEEM 1.3
/* A trial takes so long, and so much for each step of a ray; where that is such a part of every step it must seem to gain more. */
#define TILES_TRIAL 5e-4
#define TILES_TRIAL_STEP 5e-8
#define TILES_DEAR 0.05
#define TILES_SEEM_DEAR 1.5
/* Steps that take less than TILES_START by the slowest kernel in single precision, on an H200. */
#define TILES_FEW 5e7

int nb_cuda_has_few_steps(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    return plan->tolerance.skip && (double)sc->raster.pixels * (double)sc->samples <
                                       TILES_FEW * plan->engine.size;
}

const char *nb_cuda_refuse_trial(const nb_plan *plan, double every)
{
    const double trial = TILES_TRIAL + TILES_TRIAL_STEP * plan->steps;
    const double seem = trial > TILES_DEAR * every ? TILES_SEEM_DEAR : TILES_SEEM;
    if (!(TILES_START < every))
        return "every step is quick";
    if (every < TILES_LONG + TILES_LONG_STEP * plan->steps +
                    TILES_LOOK * nb_spots_look_seconds(plan) &&
        nb_spots_whole(plan, nb_cuda_tiles_gain) < seem)
        return "every step seems to be as quick";
    return NULL;
}
