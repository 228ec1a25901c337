/* SPDX-License-Identifier: MIT */
/** Photons of an amorphous background, on the host. In a tile of pixels, three
 * polynomials give weight, squared mean sine and spread (rms distance of sines to the
 * mean) of the rays of a pixel to a layer. Photons are weight times mean scattering at
 * mean sine +- spread: exact if scattering is a cubic over a pixel. A grid has the sum of
 * the scattering of all sources of one direction, in even steps of the sine of half the
 * scattering angle. Pixels at rough sines, where kinks of the tables matter, and tiles
 * with wrong polynomials are calculated ray by ray. */
#ifndef NB_PLAN_BACKGROUND_TILES_H
#define NB_PLAN_BACKGROUND_TILES_H

#include "../nanobragg.h"
#include "../physics/amorphous.h"

enum {
    NB_BACKGROUND_ORDER = 8,   /* number of coefficients along fast and along slow */
    NB_BACKGROUND_PARTS = 128, /* layers x groups; a panel with more has no tiles */
    NB_BACKGROUND_GROUPS = 64, /* directions; a scene with more has no tiles */
    NB_BACKGROUND_LEVELS = 96, /* number of grids, each for a spread */
    NB_BACKGROUND_PIECE = 8 /* pixels of a row that are tested together for rough sines */
};

/** Polynomials of a part: one direction, layer and tile. */
typedef enum nb_background_law {
    NB_BACKGROUND_WEIGHT, /* weight of each of two sines, or of the sine of one ray */
    NB_BACKGROUND_SQUARE, /* square of the mean sine */
    NB_BACKGROUND_SPREAD,
    NB_BACKGROUND_LAWS
} nb_background_law;

/** Coefficients of u^i v^j (nb_background_place) of a part. */
typedef struct nb_background_part {
    double c[NB_BACKGROUND_LAWS][NB_BACKGROUND_ORDER][NB_BACKGROUND_ORDER]; /* [law][i][j] */
} nb_background_part;

typedef enum nb_background_kind {
    NB_BACKGROUND_RAYS, /* all pixels are calculated ray by ray */
    NB_BACKGROUND_SOME, /* pixels at rough sines are calculated ray by ray */
    NB_BACKGROUND_SMOOTH
} nb_background_kind;

typedef struct nb_background_panel {
    int edge, across, down; /* edge of a tile, pixels; number of tiles along fast, slow */
    int layers;
    double nearest;    /* m; approximate distance of the nearest point */
    int level;         /* index of the grid in nb_background_tiles */
    int block, blocks; /* pixels along an edge of a block; blocks in a row of tiles */
    uint8_t *kind;     /* owned; nb_background_kind of each block; NULL: all RAYS */
    nb_background_part *part; /* owned; [down][across][layers][group] */
} nb_background_panel;

/** Scattering of all orientations, electrons^2. Cell i has the width spread/2 and
 * begins at sine (first + i)/per. It is c[0] + t (c[1] + t (c[2] + t c[3])), t = 0..1. */
typedef struct nb_background_grid {
    double spread, per;
    int first, n;   /* n is 0 in an unused grid */
    float *c;       /* owned; [group][n][4] */
    int32_t *count; /* owned; [group][n + 1]: number of rough cells before each cell */
} nb_background_grid;

/** Sources of one direction. */
typedef struct nb_background_group {
    nb_vec3 incident;
    int first, n; /* place in nb_background_tiles.sources */
} nb_background_group;

typedef struct nb_background_tiles {
    int n_groups;
    nb_background_group groups[NB_BACKGROUND_GROUPS];
    nb_source *sources; /* owned; sorted by group */
    int one;            /* 1: a pixel has one ray to a layer, and no spread */
    int n;
    nb_background_panel *panels; /* owned */
    nb_background_grid grids[NB_BACKGROUND_LEVELS];
} nb_background_tiles;

/** Kind of pixel (f, s) of a panel with tiles. */
static inline nb_background_kind nb_background_kind_of(const nb_background_panel *p,
                                                       int f, int s)
{
    return (nb_background_kind)p->kind[s / p->block * p->blocks + f / p->block];
}

/** Coordinate of a pixel in the tile, -1 to 1. */
static inline double nb_background_place(int edge, int pixel)
{
    return (2.0 * (pixel % edge) + 1) / edge - 1;
}

/** c[0] + c[1] x + ... */
static inline double nb_background_polynomial(const double c[NB_BACKGROUND_ORDER],
                                              double x)
{
    double sum = 0;
    for (int i = NB_BACKGROUND_ORDER - 1; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/** Make the tiles that meet the region. *tiles is NULL for few rays or many directions.
 * The caller frees *tiles (nb_background_tiles_free). Errors: NB_ERR_NOMEM. */
nb_status nb_background_tiles_build(const nb_scene *sc, int threads,
                                    nb_background_tiles **tiles, nb_error *err);
/** True if any of NB_BACKGROUND_PIECE pixels of a row, from (f, s) on, is rough. */
int nb_background_piece_is_rough(const nb_background_tiles *tiles, const nb_scene *sc,
                                 int panel, int f, int s);
void nb_background_tiles_free(nb_background_tiles *tiles); /* NULL is allowed */

#endif
