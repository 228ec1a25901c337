/* SPDX-License-Identifier: MIT */
/** Tiles of a panel, and the spans of an image that receive their pixels. */
#ifndef NB_RENDER_TILE_ROWS_H
#define NB_RENDER_TILE_ROWS_H

#include "../physics/structure_factor.h"
#include "../plan/spots.h"
#include "../plan/tiles.h"
#include "backend.h"
#include "vector_plan.h"

/* A tile of a panel. Kernels either draw its reflections (../plan/spots.h), or search the
 * steps that count for its rays (../plan/tiles.h). */

typedef struct nb_spot_tile {
    const nb_spots *spots;
    const nb_spot_list *list;
    const nb_vector_plan *plan; /* plan of the panel */
    const nb_spot_plane *plane;
    size_t tile; /* number of the tile in the list */
    /* 1: the shape is a top hat; 1: the array `factor` is used */
    int tophat, has_factor;
    int f0, s0, nf, ns;         /* first pixel and number along fast and slow */
    int nu, nv;                 /* number of sub-pixels along fast and slow */
    int layer;                  /* the layer that is being drawn */
    size_t pitch;               /* length of a row of the arrays below: [nv][pitch] */
    double *x, *y, *z, *factor; /* directions and weights of the rays */
    double *sum;                /* sum of terms, electrons^2 */
    /* For nb_spot_draw only; NULL for images */
    double *phi, *lambda; /* sums of terms times their phi step and wavelength */
    int (*wanted)[2]; /* [ns]: first and last wanted sub-pixel of each row of pixels */
    int drawn[2][2];  /* first and last sub-pixels that terms may have been added to */
    /* [nv]: 1 if the row has rays of the layer, and 1 if it has sums */
    unsigned char *aimed, *touched;
} nb_spot_tile;

/** Sum the terms of the tile's reflections; rows without terms are not `touched`. */
typedef void nb_spot_kernel(nb_spot_tile *tile);

nb_spot_kernel nb_spots_sse2, nb_spots_avx2, nb_spots_avx512, nb_spots_neon;

/** Sum the terms of one reflection in the tile's layer, with phi and lambda, where pixels
 * are `wanted`, and set `drawn`; drawn[0][0] > drawn[0][1] if there are no terms. The
 * caller zeroes `touched` and, for each layer, `aimed`. */
typedef void nb_spot_draw(nb_spot_tile *tile, const nb_spot *spot);

nb_spot_draw nb_draw_sse2, nb_draw_avx2, nb_draw_avx512, nb_draw_neon;

/** Set box to the sub-pixels of the tile that the reflection g may light in the layer
 * with the sources of a run. g: reciprocal-lattice vector of the reflection in the
 * orientation. Returns 0 if there is no such sub-pixel. */
int nb_spot_box(const nb_spot_tile *tile, const nb_spot *spot, const nb_spot_cell *cell,
                const nb_spot_run *run, const double g[3], int box[2][2]);

/** Set the tile to number `number` of the list; plans: of all panels. Returns its panel. */
int nb_spot_tile_place(nb_spot_tile *tile, const nb_spots *spots, const nb_spot_list *list,
                       const nb_vector_plan *plans, size_t number);

/** Allocate memory for tiles with this number of sub-pixels along an edge. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_spot_tile_alloc(nb_spot_tile *tile, int edge, nb_error *err);
void nb_spot_tile_free(nb_spot_tile *tile);

/* --- A tile for the search of the steps that count for its rays (../plan/tiles.h) --- */

enum { NB_TILE_LEVELS = 6 }; /* sizes of blocks, from 64 rays along an edge to 2 */

typedef struct nb_tile_group { /* 16 steps; row and column as in nb_tiles */
    int32_t row, column;
} nb_tile_group;

/** Counts of the work, for the choice between blocks and every step. */
typedef struct nb_tile_counts {
    double rays;   /* pixels that may be lit */
    double blocks; /* blocks of all sizes */
    double groups; /* groups that are tested by their middles */
    double steps;  /* groups whose steps are tested */
    double terms;  /* groups whose terms are calculated */
} nb_tile_counts;

typedef struct nb_ray_tile {
    nb_spot_tile rays; /* this tile's spots and list are not used */
    const nb_tiles *tiles;
    int block;           /* edge of the first blocks, sub-pixels */
    int only_count;      /* do not calculate terms */
    unsigned char *want; /* [ns][nf] pixels that may be lit and are requested; owned */
    double budget;       /* limit of `lack` */
    /* largest value of all rays of (sum of the bounds of the terms left out /
     * tiles->unit) times solid angle */
    double lack;
    nb_tile_counts counts;
    /* scratch, owned */
    float *bounds;                        /* bounds of groups */
    nb_tile_group *lists[NB_TILE_LEVELS]; /* kept groups, for each size of block */
    double *weights;                      /* weights of the sources for a ray */
} nb_ray_tile;

/** Add the terms that are not left out to rays.sum. */
typedef void nb_tile_kernel(nb_ray_tile *tile);

nb_tile_kernel nb_tiles_sse2, nb_tiles_avx2, nb_tiles_avx512, nb_tiles_neon;

/** Upper bound of the solid angles of the n x n rays from (u, v) and of their pixels. */
double nb_tile_solid_angle(const nb_ray_tile *tile, int u, int v, int n);

/** True if a pixel of the block of n x n rays from (u, v) is wanted. */
int nb_tile_wanted(const nb_ray_tile *tile, int u, int v, int n);

/** Allocate memory for a tile with this number of sub-pixels along an edge. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_ray_tile_alloc(nb_ray_tile *tile, const nb_tiles *tiles, int edge,
                            nb_error *err);
void nb_ray_tile_free(nb_ray_tile *tile);

/** Spans of each row: row r of the stack has spans[order[i]] with first[r] <= i < first[r
 * + 1]. */
typedef struct nb_span_rows {
    const nb_span *spans;
    size_t *first, *order; /* owned */
} nb_span_rows;

/** Sort the spans by row. Errors: NB_ERR_NOMEM. The caller frees *rows, after an error
 * too. */
nb_status nb_span_rows_build(const nb_scene *scene, const nb_span *spans, size_t n,
                             nb_span_rows *rows, nb_error *err);
void nb_span_rows_free(nb_span_rows *rows);

/** Add the tile's sums to the pixels of an image; returns the larger one of `brightest`
 * and the photons of the brightest pixel. */
double nb_tile_finish(const nb_spot_tile *tile, const nb_span_rows *rows, float *image,
                      double brightest);

/** A pixel of a panel and its photons. */
typedef struct nb_bright {
    double photons;
    int panel, f, s;
} nb_bright;

/** The brighter one of two pixels; of equally bright ones the first on the detector. */
nb_bright nb_brighter(nb_bright a, nb_bright b);

/** The brighter one of `best` and the brightest pixel of the tile, which lies on this
 * panel. */
nb_bright nb_tile_look(const nb_spot_tile *tile, int panel, nb_bright best);

#endif
