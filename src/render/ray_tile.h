/* SPDX-License-Identifier: MIT */
/** A tile of a panel whose rays look for the steps that matter (../plan/tiles.h): what the kernels
 * share. */
#ifndef NB_RENDER_RAY_TILE_H
#define NB_RENDER_RAY_TILE_H

#include "../plan/tiles.h"
#include "spot_tile.h"

enum { NB_TILE_LEVELS = 6 }; /* of blocks, from 64 rays along an edge to 2 */

typedef struct nb_tile_group {
    int32_t row, column;
} nb_tile_group;

/** What was done, for the choice between this way and every step. */
typedef struct nb_tile_counts {
    double rays;   /* pixels that may be lit */
    double blocks; /* of all sizes */
    double groups; /* tested by their middles */
    double steps;  /* tested, in groups */
    double terms;  /* calculated, in groups */
} nb_tile_counts;

typedef struct nb_ray_tile {
    nb_spot_tile rays; /* without spots and list */
    const nb_tiles *tiles;
    int block;           /* edge of the first blocks, sub-pixels */
    int only_count;      /* leave the terms out */
    unsigned char *want; /* [ns][nf] pixels that may be lit and are asked for; owned */
    double budget; /* sum of terms that a ray may lack at a solid angle of 1, relative to unit */
    double lack; /* the largest sum of bounds left out of a ray, times its solid angle */
    nb_tile_counts counts;
    /* scratch, owned */
    float *bounds;                        /* of groups */
    nb_tile_group *lists[NB_TILE_LEVELS]; /* groups that are left, for each size of block */
    double *weights;                      /* of the sources, for a ray */
} nb_ray_tile;

/** Sum the terms of the tile's rays that are not left out, to rays.sum. */
typedef void nb_tile_kernel(nb_ray_tile *tile);

nb_tile_kernel nb_tiles_sse2, nb_tiles_avx2, nb_tiles_avx512, nb_tiles_neon;

/** No less than the solid angle of the pixels and rays of a block of the tile. */
double nb_tile_solid_angle(const nb_ray_tile *tile, int u, int v, int n);

/** Is a pixel of the block wanted? */
int nb_tile_wanted(const nb_ray_tile *tile, int u, int v, int n);

/** Memory for a tile of so many sub-pixels along an edge.  Errors: NB_ERR_NOMEM. */
nb_status nb_ray_tile_alloc(nb_ray_tile *tile, const nb_tiles *tiles, int edge,
                            nb_error *err);
void nb_ray_tile_free(nb_ray_tile *tile);

#endif
