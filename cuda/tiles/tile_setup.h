/* SPDX-License-Identifier: MIT */
/** Images in blocks of rays (tile_work.h): tables in one piece of memory, and the
 * sequence of passes. Plain C without a device: the runner of a pass provides the
 * arithmetic. */
#ifndef NB_CUDA_TILE_SETUP_H
#define NB_CUDA_TILE_SETUP_H

#include "../../src/plan/plan.h"
#include "../spots/spot_setup.h"
#include "tile_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nb_tile_setup {
    /* the scene with Gaussians as bright as the middles of spots, for the first search */
    nb_scene like;
    nb_spot_setup spots; /* for the scene `like` */
    /* addresses are in `tables`; those of the scene's arrays are in host memory */
    nb_tile_pass pass;
    nb_tiles tiles; /* without factors.pairs, which the caller sets in pass.tiles */
    nb_plan plan;
    void *tables;           /* owned */
    size_t bytes;           /* size of `tables` */
    void *steps_at, *packs; /* in `tables`, like the next two: the arrays of tiles */
    /* grids of the wanted part of each panel, then of whole panels */
    nb_tile_grid *grids;
    int *lit;
    int64_t items[2]; /* numbers of blocks: of the wanted parts, of whole panels */
    nb_tolerance tolerance;
    double part;    /* smallest visible part of a Gaussian's middle */
    double every;   /* seconds of every step; 0: blocks of rays are used in any case */
    double size;    /* size of the engine */
    double seconds; /* approximate, for the wanted pixels; 0: not known */
    double queued;  /* approximate part of the queue for an item */
    int exact;      /* terms are in doubles */
} nb_tile_setup;

/** Functions that run passes. */
typedef struct nb_tile_runner {
    nb_spot_runner *spots; /* for the first search */
    /** Photons, with all terms, of the brightest pixel that the last search found. pass:
     * the pass of setup for whole panels. */
    nb_status (*pixel)(void *context, const nb_tile_setup *setup,
                       const nb_tile_pass *pass, double *photons, nb_error *err);
    /** Run the items of a pass. counts: only count the work, [NB_TILE_TALLIES]; NULL: sum
     * the terms and make the image. *lack: largest number of photons that a pixel
     * lacks. */
    nb_status (*tiles)(void *context, nb_tile_setup *setup, double *counts, double *lack,
                       nb_error *err);
    void *context;
} nb_tile_runner;

/** plan->scene: with the wanted region and without mask; it must outlive the setup.
 * Errors: NB_ERR_NOMEM; the setup is then freed. */
nb_status nb_tile_setup_build(const nb_plan *plan, nb_tile_setup *setup, nb_error *err);
void nb_tile_setup_free(nb_tile_setup *setup);

/** Bytes of factors.pairs. */
size_t nb_tile_setup_pairs(const nb_tile_setup *setup);

/** Let the pass refer to a copy of the tables, and to the data of setup->spots.pass. */
void nb_tile_setup_move(nb_tile_setup *setup, const void *tables);

/** Make the image, or refuse.  Errors: those of the runner. */
nb_status nb_tile_setup_render(nb_tile_setup *setup, const nb_tile_runner *run,
                               nb_spots_result *result, nb_error *err);

#ifdef __cplusplus
}
#endif

/* The choice whether blocks of rays are tried on a device, and the order of a trial. */

#define NB_CUDA_TILES "tiles" /* the name of the path */

/** The reason, in a few words, why blocks of rays are not tried; NULL if they are. */
const char *nb_cuda_tiles_refuse(const nb_plan *plan);

/** Settings of a trial, which do not depend on the region. */
typedef struct nb_cuda_tile_choice {
    int exact;    /* terms are in doubles, as floats would overflow */
    double every; /* seconds of every step of the whole detector; 0: the path is forced */
} nb_cuda_tile_choice;
nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan);

#endif
