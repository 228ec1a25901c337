/* SPDX-License-Identifier: MIT */
/** What pictures with fewer than all steps take on a device, about. */
#ifndef NB_CUDA_PART_COSTS_H
#define NB_CUDA_PART_COSTS_H

#include "../../src/plan/plan.h"

/** Seconds of a picture from its reflections. */
double nb_cuda_spots_seconds(const nb_plan *plan);

/** Time of every step over that in blocks of rays, for the plan's part of the picture. */
double nb_cuda_tiles_gain(const nb_plan *plan);

/** Is a tolerance asked for, and are there so few steps on the whole detector, layers aside, that every one is quick? */
int nb_cuda_has_few_steps(const nb_plan *plan);

/** Why blocks of rays are not worth a trial where every step takes so many seconds, in a few words; NULL: they are. */
const char *nb_cuda_refuse_trial(const nb_plan *plan, double every);

#endif
