/* SPDX-License-Identifier: MIT */
/** A panel's photons of an amorphous background: the product of what scatters into the direction of a pixel's centre
 * (background_table.h) and of a smooth factor, which holds sub-pixels, layers, solid angle, polarization and scale.  In
 * each tile of pixels the factor is a polynomial, tested to NB_BACKGROUND_ERROR at five pixels.  It is not smooth where
 * the mean over the rays of a pixel changes from pixel to pixel, at the kinks of a coarse table and at sharp rings: such
 * sines are rough.  Host code. */
#ifndef NB_PLAN_BACKGROUND_TILES_H
#define NB_PLAN_BACKGROUND_TILES_H

#include "background_table.h"

enum { NB_BACKGROUND_ORDER = 4 }; /* coefficients along fast and along slow */

typedef struct nb_background_tile {
    int smooth; /* 0: the pixels are to be calculated one by one */
    double c[NB_BACKGROUND_ORDER][NB_BACKGROUND_ORDER]; /* [i][j]: of u^i v^j, below */
} nb_background_tile;

typedef struct nb_background_tiles {
    int edge, across, down; /* pixels, tiles, tiles */
    nb_background_tile *tiles; /* owned; [down][across]; those outside of the region are zero */
    double depth;              /* of the points that stand for the pixels, m */
    /* rough sines of each group */
    double per;     /* steps of a sine of 1 */
    int steps;      /* 0: no sine is rough */
    int32_t *rough; /* owned; [group][steps + 1]: how many rough ones come before */
} nb_background_tiles;

/** Pixels of a row that are looked at together: is one rough? */
enum { NB_BACKGROUND_PIECE = 8 };

/** A pixel's place in its tile, -1 to 1. */
static inline double nb_background_place(const nb_background_tiles *t, int pixel)
{
    return (2.0 * (pixel % t->edge) + 1) / t->edge - 1;
}

/** Tiles of a panel that meet the scene's region.  tiles: zeroed; nothing is made for curved panels.  The caller's
 * (nb_background_tiles_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_background_tiles_build(const nb_scene *sc, const nb_panel *panel,
                                    const nb_background_table *table, int threads,
                                    nb_background_tiles *tiles, nb_error *err);
/** Is a pixel of the piece of a row in a smooth tile rough?  f: its first one, of the panel. */
int nb_background_is_rough(const nb_background_tiles *tiles, const nb_panel *panel,
                           const nb_background_table *table, int f, int s);
void nb_background_tiles_free(nb_background_tiles *tiles);

/** As nb_pixel_background, by the table. */
double nb_background_pixel(const nb_scene *sc, const nb_panel *panel,
                           const nb_background_table *table, int f, int s);

#endif
