/* SPDX-License-Identifier: MIT */
/* The path in blocks of rays: only steps that matter are calculated (tiles.cu). */
#include <math.h>
#include <stdio.h>

#include "../../src/plan/tiles.h"
#include "../backend/paths.h"
#include "tile_setup.h"

#define HOW "in blocks of rays"

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_cuda_tiles_refuse(plan);
    return reason ? nb_path_refuse(why, reason) : 1;
}

/** The time is known only after a trial, so blocks are tried if the path applies. */
static double seconds(const nb_plan *plan)
{
    return nb_tiles_refuse(plan) ? INFINITY : 0.5 * nb_path_every_step(plan);
}

static void describe(const nb_path_notes *notes, char *line, size_t size)
{
    snprintf(line, size, HOW ", a pixel lacks at most %.2g of the brightest",
             nb_spots_part(&notes->left));
}

const nb_path nb_cuda_path_tiles = {.name = NB_CUDA_TILES,
                                    .how = HOW,
                                    .applies = applies,
                                    .seconds = seconds,
                                    .skips = nb_tiles_suit,
                                    .run = NB_ON_DEVICE(nb_cuda_tiles_run),
                                    .describe = describe};
