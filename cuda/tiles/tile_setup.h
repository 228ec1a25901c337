/* SPDX-License-Identifier: MIT */
/** Pictures in blocks of rays (tile_work.h): tables in one piece, and the passes from start to end.  Plain C,
 * for it needs no device: whoever runs a pass gives the arithmetic. */
#ifndef NB_CUDA_TILE_SETUP_H
#define NB_CUDA_TILE_SETUP_H

#include "../spots/spot_setup.h"
#include "tile_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nb_tile_setup {
    nb_scene like; /* of Gaussians as bright as the spots' middles, for the first look */
    nb_spot_setup spots; /* of that scene */
    nb_tile_pass pass;   /* addresses are in `tables`, of the scene's arrays the host's */
    nb_tiles tiles; /* without factors.pairs: pass.tiles has them, from whoever fills them */
    nb_plan plan;
    void *tables;           /* owned */
    size_t bytes;           /* of them */
    void *steps_at, *packs; /* in the tables: the arrays of tiles, and the next two */
    nb_tile_grid *grids;    /* of what is wanted of each panel, then of whole panels */
    int *lit;
    int64_t items[2]; /* of these */
    nb_tolerance may;
    double part; /* of a Gaussian's middle that is seen at least */
    double every; /* seconds of every step; 0: blocks of rays are taken whatever they need */
    double size;    /* of the engine */
    double seconds; /* of what is wanted, about; 0: not known */
    double queued;  /* part of the queue that an item needs, about */
    int exact;      /* terms are in doubles */
} nb_tile_setup;

/** How passes are run. */
typedef struct nb_tile_runner {
    nb_spot_runner *spots; /* the first look */
    /** The photons of the pixel that the last look found brightest, of all of its terms.  pass: that of setup for
     * whole panels. */
    nb_status (*pixel)(void *context, const nb_tile_setup *setup,
                       const nb_tile_pass *pass, double *photons, nb_error *err);
    /** The items of a pass.  counts: only what they need, [NB_TILE_TALLIES]; NULL: sum their terms and make the
     * image; *lack: photons that a pixel lacks at most. */
    nb_status (*tiles)(void *context, nb_tile_setup *setup, double *counts, double *lack,
                       nb_error *err);
    void *context;
} nb_tile_runner;

/** plan->scene: with the region that is wanted and no mask; it must outlive the setup.  Errors:
 * NB_ERR_NOMEM; then the setup is freed. */
nb_status nb_tile_setup_build(const nb_plan *plan, nb_tile_setup *setup, nb_error *err);
void nb_tile_setup_free(nb_tile_setup *setup);

/** Bytes of factors.pairs. */
size_t nb_tile_setup_pairs(const nb_tile_setup *setup);

/** Let the pass refer to a copy of the tables, and to what setup->spots.pass refers to. */
void nb_tile_setup_move(nb_tile_setup *setup, const void *tables);

/** Make the image, or refuse.  Errors: those of the runner. */
nb_status nb_tile_setup_render(nb_tile_setup *setup, const nb_tile_runner *run,
                               nb_spots_result *result, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
