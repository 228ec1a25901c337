/* SPDX-License-Identifier: MIT */
/** The photons of an amorphous background. For each layer of the sensor they are the mean over a
 * pixel's rays at the sine of its middle (nb_background_mean) times a smooth factor: solid angle,
 * capture, polarization and scale. In each tile of pixels the factor is a polynomial. Pixels at
 * rough sines, and those of tiles that are not smooth, are calculated ray by ray. Host code. */
#ifndef NB_PLAN_BACKGROUND_TILES_H
#define NB_PLAN_BACKGROUND_TILES_H

#include "background_table.h"

/* --- Means of a background's table over the rays of a pixel, as a function of the sine of half the
 * scattering angle at the pixel's middle. The rays are those of one depth. The spread is the root
 * mean square distance of their sines from that of the middle; the means of square pixels depend
 * on little else. There is a table for each spread, in steps of 2.5 %. A sine is rough if the
 * means depend on the angle of the pixel to the radius. Host code --- */

/** Number of cells in a spread. */
#define NB_BACKGROUND_CELLS 3
/** The means are valid for spreads larger or smaller by this factor, and for sines shifted by this
 * number of spreads. */
#define NB_BACKGROUND_SPREADS 1.045
#define NB_BACKGROUND_SHIFT 0.02
/** Largest relative error of a mean where a sine is not rough. */
#define NB_BACKGROUND_ROUGH 2e-7

enum {
    NB_BACKGROUND_MEANS = 280,
    NB_BACKGROUND_BEGIN = 6 /* in spreads: nearer to the beam all sines are rough */
};

/** The means for a spread.  Cell i begins at the sine (first + i)/per; its mean is the cubic c[0] + t (c[1] + t (c[2] +
 * t c[3])), t from 0 to 1. */
typedef struct nb_background_mean {
    double spread;
    double per;
    int one; /* a pixel has one ray: the table itself is the mean, and only kinks are searched */
    int first, n;   /* n 0: not used */
    double *c;      /* owned; [group][n][4], padded for rows of 8 */
    int32_t *rough; /* owned; [group][n + 1]: number of rough cells before each */
} nb_background_mean;

/** The spread of table number i, largest first. */
double nb_background_spread(int number);
/** Index of the means that are valid for a spread; -1: none. */
int nb_background_mean_of(double spread);
/** Widen the range of a mean to the sines from low to high and some around. Call it before
 * filling. */
void nb_background_mean_widen(nb_background_mean *mean, double low, double high);
/** Fill the means that were widened; means: [NB_BACKGROUND_MEANS]. The cells do not depend on the
 * range. Errors: NB_ERR_NOMEM. */
nb_status nb_background_means_fill(const nb_background_table *table, int oversample,
                                   int threads, nb_background_mean *means, nb_error *err);
void nb_background_means_free(nb_background_mean *means);

/** Is a sine from low to high rough for a group? */
int nb_background_is_rough(const nb_background_mean *mean, int group, double low,
                           double high);

/** The mean of a group at a sine; the table's value if the mean is NULL or of one ray. */
static inline double nb_background_mean_at(const nb_background_table *table,
                                           const nb_background_mean *mean, int group,
                                           double sine)
{
    if (!mean || mean->one)
        return nb_background_at(&table->groups[group], fabs(sine));
    double at = sine * mean->per - mean->first;
    at = fmin(fmax(at, 0), mean->n - 1);
    const double *c = mean->c + ((size_t)group * (size_t)mean->n + (size_t)at) * 4;
    const double t = at - floor(at);
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/* --- Tiles --- */

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
