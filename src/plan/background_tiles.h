/* SPDX-License-Identifier: MIT */
/** A detector's photons of an amorphous background: for each layer of the sensor the product of the mean over a pixel's
 * rays at the sine of its middle (background_means.h) and of a smooth factor, which holds what the rays weigh: solid
 * angle, capture, polarization and scale.  In each tile of pixels the factor is a polynomial.  The pixels at rough sines
 * and those of tiles that are not smooth are to be calculated ray by ray.  Host code. */
#ifndef NB_PLAN_BACKGROUND_TILES_H
#define NB_PLAN_BACKGROUND_TILES_H

#include "background_means.h"

enum {
    NB_BACKGROUND_ORDER = 4,  /* coefficients along fast and along slow */
    NB_BACKGROUND_LAYERS = 64 /* sensors of more have no tiles */
};

typedef enum nb_background_kind {
    NB_BACKGROUND_RAYS, /* the pixels are to be calculated ray by ray */
    NB_BACKGROUND_SOME, /* some of them, at rough sines */
    NB_BACKGROUND_SMOOTH
} nb_background_kind;

typedef struct nb_background_tile {
    nb_background_kind kind;
    int mean;   /* number of its means; -1: none, the middles are the rays */
    double off; /* its spreads are up to so far from that of the means, of it */
} nb_background_tile;

/** A layer of the sensor in a tile. */
typedef struct nb_background_layer {
    double depth; /* of the points that stand for the pixels, m */
    double c[NB_BACKGROUND_ORDER][NB_BACKGROUND_ORDER]; /* [i][j]: of u^i v^j, below */
} nb_background_layer;

typedef struct nb_background_panel {
    int edge, across, down; /* pixels, tiles, tiles */
    int layers;
    nb_background_tile *tiles;  /* owned; [down][across]; NULL: none is smooth */
    nb_background_layer *layer; /* owned; [down][across][layers] */
} nb_background_panel;

typedef struct nb_background_tiles {
    const nb_background_table *table;
    int n;
    nb_background_panel *panels; /* owned */
    nb_background_mean means[NB_BACKGROUND_MEANS];
} nb_background_tiles;

/** Pixels of a row that are looked at together: is one rough? */
enum { NB_BACKGROUND_PIECE = 8 };

/** A pixel's place in its tile, -1 to 1. */
static inline double nb_background_place(int edge, int pixel)
{
    return (2.0 * (pixel % edge) + 1) / edge - 1;
}

/** The means of a tile; NULL: none. */
static inline const nb_background_mean *nb_background_tile_mean(
    const nb_background_tiles *t, const nb_background_tile *tile)
{
    return tile->mean < 0 ? NULL : &t->means[tile->mean];
}

/** The tiles that meet the scene's region; the table must outlive them.  Curved panels have none.  *tiles is the
 * caller's (nb_background_tiles_free), and NULL on errors: NB_ERR_NOMEM. */
nb_status nb_background_tiles_build(const nb_scene *sc, const nb_background_table *table,
                                    int threads, nb_background_tiles **tiles,
                                    nb_error *err);
/** Is a pixel of the piece of a row in a tile of SOME rough?  f: its first one, of the panel. */
int nb_background_piece_is_rough(const nb_background_tiles *tiles, const nb_scene *sc,
                                 int panel, int f, int s);
void nb_background_tiles_free(nb_background_tiles *tiles); /* NULL is fine */

#endif
