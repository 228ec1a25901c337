/* SPDX-License-Identifier: MIT */
#include "tile_grid.h"

#include <stdlib.h>

#include "grid.h"

#include "../../cuda/tiles/tile_setup.h"
#include "base/memory.h"

enum { TASKS = 40, WORDS = 400 }; /* sizes of the queue, too small for some blocks */

static nb_status run_tiles(void *context, nb_tile_setup *setup, double *counts,
                           double *lack, nb_error *err)
{
    static nb_tile_shared shared;
    static nb_tile_late tasks[TASKS];
    static uint32_t words[WORDS];
    unsigned used[2];
    nb_tile_pass *p = &setup->pass;
    nb_tile_walk walk = {.p = p, .w = &shared};
    const int how = p->lattice.shape | NB_TILE_EXACT;
    (void)err;
    p->queue = (nb_tile_queue){tasks, words, TASKS, WORDS, used};
    for (int64_t i = 0; i < p->items; i += p->stride) {
        used[0] = used[1] = 0;
        nb_tile_item(&walk, i, how);
        for (unsigned k = 0; k < used[0] && k < TASKS; k++)
            nb_tile_late_item(&walk, k, how);
    }
    *lack = walk.lack * (1 + 1e-5);
    for (int i = 0; i < NB_TILE_TALLIES && counts; i++)
        counts[i] = walk.tally[i];
    if (!counts)
        check_grid_finish(context, &p->spots, NULL);
    return NB_OK;
}

static nb_status run_pixel(void *context, const nb_tile_setup *setup,
                           const nb_tile_pass *pass, double *photons, nb_error *err)
{
    const check_grid *g = context;
    const int how = pass->lattice.shape | NB_TILE_EXACT;
    const double sum = nb_tile_pixel_sum(pass, g->brightest, 0, 1, 0, 1, how);
    (void)setup, (void)err;
    *photons = nb_spot_photons(&pass->spots, g->brightest,
                               (unsigned long long)(sum * pass->spots.per_unit));
    return NB_OK;
}

nb_status check_tile_grid_render(const nb_plan *plan, float *image,
                                 nb_spots_result *result, nb_error *err)
{
    check_grid g = check_grid_new(plan->scene, image);
    const nb_tile_runner run = {check_grid_run, run_pixel, run_tiles, &g};
    nb_scene unmasked = *plan->scene;
    nb_plan of = *plan;
    nb_tile_setup setup;
    nb_status st;
    unmasked.raster.mask = NULL;
    of.scene = &unmasked;
    st = nb_tile_setup_build(&of, &setup, err);
    if (!st) {
        setup.exact = 1;
        setup.size = 1;
        setup.spots.pass.mask = plan->scene->raster.mask;
        setup.spots.pass.sums = g.sums;
        setup.spots.pass.marks = g.marks;
        nb_tile_setup_move(&setup, setup.tables);
        st = nb_tile_factors_build(&plan->scene->factors.table, setup.tiles.unit,
                                   &setup.pass.tiles.factors, err);
        if (!st)
            st = nb_tile_setup_render(&setup, &run, result, err);
        nb_free(setup.pass.tiles.factors.pairs);
        nb_tile_setup_free(&setup);
    }
    check_grid_free(&g);
    return st;
}
