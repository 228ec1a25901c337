/* SPDX-License-Identifier: MIT */
/** Render images in blocks of rays (tile_work.h): make the tables in one piece of
 * memory, and run the passes in order. This code is plain C and needs no device. The
 * caller's nb_tile_runner does the arithmetic of a pass. */
#ifndef NB_CUDA_TILE_SETUP_H
#define NB_CUDA_TILE_SETUP_H

#include "../../src/plan/plan.h"
#include "../spots/spot_setup.h"
#include "tile_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nb_tile_setup {
    /* scene with Gaussian spots (nb_tiles_like), for the first search */
    nb_scene like;
    nb_spot_setup spots; /* setup for the scene `like` */
    /* points into `tables`; the arrays of its scene are in host memory */
    nb_tile_pass pass;
    nb_tiles tiles; /* without factors.pairs, which the caller sets in pass.tiles */
    nb_plan plan;
    void *tables;           /* owned */
    size_t bytes;           /* size of `tables` */
    void *steps_at, *packs; /* in `tables`, like grids and lit: data of `tiles` */
    /* grids of the wanted part of each panel, then of whole panels */
    nb_tile_grid *grids;
    int *lit;
    int64_t items[2]; /* numbers of blocks: of the wanted parts, of whole panels */
    nb_tolerance tolerance;
    double part;    /* smallest ratio of a term to the Gaussian term in `like` */
    double every;   /* seconds of rendering every step; 0: this path is forced */
    double size;    /* speed of the GPU relative to an H200 */
    double seconds; /* approximate seconds for the wanted pixels; 0: not known */
    double queued;  /* approximate part of the queue that each item fills */
    int exact;      /* 1: terms are in doubles */
} nb_tile_setup;

/** Functions that run passes. */
typedef struct nb_tile_runner {
    nb_spot_runner *spots; /* runner of the passes of the first search */
    /** Sum all terms of the pixel that the last search found. *photons: photons of this
     * pixel. pass: setup->pass, changed to whole panels. */
    nb_status (*pixel)(void *context, const nb_tile_setup *setup,
                       const nb_tile_pass *pass, double *photons, nb_error *err);
    /** Run the items of setup->pass. If counts is NULL, sum the terms and make the image;
     * otherwise only count the work, in counts[NB_TILE_TALLIES]. *lack: upper bound of
     * the photons that are left out of a pixel. */
    nb_status (*tiles)(void *context, nb_tile_setup *setup, double *counts, double *lack,
                       nb_error *err);
    void *context;
} nb_tile_runner;

/** Build a setup. plan->scene has the wanted region and no mask, and must outlive the
 * setup. Errors: NB_ERR_NOMEM; the setup is then freed. */
nb_status nb_tile_setup_build(const nb_plan *plan, nb_tile_setup *setup, nb_error *err);
void nb_tile_setup_free(nb_tile_setup *setup);

/** Bytes of factors.pairs. */
size_t nb_tile_setup_pairs(const nb_tile_setup *setup);

/** Let the pass point to a copy of the tables, and to the data of setup->spots.pass. */
void nb_tile_setup_move(nb_tile_setup *setup, const void *tables);

/** Make the image, or set result->refused. Errors: those of the runner. */
nb_status nb_tile_setup_render(nb_tile_setup *setup, const nb_tile_runner *run,
                               nb_spots_result *result, nb_error *err);

#ifdef __cplusplus
}
#endif

/* The choice whether blocks of rays are tried on a device, and the settings of a trial. */

#define NB_CUDA_TILES "tiles" /* the name of the path */

/** The reason, in a few words, why blocks of rays are not tried; or NULL. */
const char *nb_cuda_tiles_refuse(const nb_plan *plan);

/** Settings of a trial, which do not depend on the region. */
typedef struct nb_cuda_tile_choice {
    int exact;    /* 1: terms are in doubles, because floats would overflow */
    double every; /* seconds to render all steps of the detector; 0: the path is forced */
} nb_cuda_tile_choice;
nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan);

#endif
