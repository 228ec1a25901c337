/* SPDX-License-Identifier: MIT */
/** The photons of an amorphous background. For each layer of the sensor they are the mean over a
 * pixel's rays at the sine of its middle (background_means.h) times a smooth factor: solid angle,
 * capture, polarization and scale. In each tile of pixels the factor is a polynomial. Pixels at
 * rough sines, and those of tiles that are not smooth, are calculated ray by ray. Host code. */
#ifndef NB_PLAN_BACKGROUND_TILES_H
#define NB_PLAN_BACKGROUND_TILES_H

#include "background_means.h"

enum {
    NB_BACKGROUND_ORDER = 4,  /* coefficients along fast and along slow */
    NB_BACKGROUND_LAYERS = 64 /* sensors with more layers have no tiles */
};

typedef enum nb_background_kind {
    NB_BACKGROUND_RAYS, /* all pixels are calculated ray by ray */
    NB_BACKGROUND_SOME, /* pixels at rough sines are calculated ray by ray */
    NB_BACKGROUND_SMOOTH
} nb_background_kind;

typedef struct nb_background_tile {
    nb_background_kind kind;
    int mean;   /* index of its means; -1: none, a pixel is one ray at its middle */
    double off; /* largest relative difference of its spreads from that of the means */
} nb_background_tile;

/** A layer of the sensor in a tile. */
typedef struct nb_background_layer {
    double depth; /* depth of the points that represent the pixels, m */
    double c[NB_BACKGROUND_ORDER]
            [NB_BACKGROUND_ORDER]; /* [i][j]: coefficient of u^i v^j (u, v below) */
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

/** Number of pixels of a row that are tested together for rough sines. */
enum { NB_BACKGROUND_PIECE = 8 };

/** Coordinates of a pixel in its tile, -1 to 1. */
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

/** The tiles that meet the scene's region; the table must outlive them. Curved panels have none.
 * The caller frees *tiles (nb_background_tiles_free). Errors: NB_ERR_NOMEM, with *tiles NULL. */
nb_status nb_background_tiles_build(const nb_scene *sc, const nb_background_table *table,
                                    int threads, nb_background_tiles **tiles,
                                    nb_error *err);
/** Is a pixel of the piece of a row in a tile of SOME rough?  f: its first one, of the panel. */
int nb_background_piece_is_rough(const nb_background_tiles *tiles, const nb_scene *sc,
                                 int panel, int f, int s);
void nb_background_tiles_free(nb_background_tiles *tiles); /* NULL is allowed */

#endif
