/* SPDX-License-Identifier: MIT */
/** The footprint of the Bragg light on panels: it spreads an image of this light before
 * background and noise are added (docs/physics.md, section 22). Panels have tiles; all
 * pixels of a tile spread their light alike. Light that leaves its panel is lost. */
#ifndef NB_IMAGE_FOOTPRINT_H
#define NB_IMAGE_FOOTPRINT_H

#include "../nanobragg.h"
#include "../physics/footprint.h"
#include "../physics/scene.h"
#include "kernels.h"

/* A tap is the fraction of a pixel's light that the footprint moves to one neighbour. The
 * slopes are derivatives of taps by the map M (docs/physics.md, section 22). */

enum { NB_TAPS_FARTHEST = 250 /* limit of displacements, pixels */ };

/** Taps of a map M. The light is constant over the area of a pixel. Each point (x, y) of
 * nb_footprint shifts it by M (x, y). A tap is the part that then lies in one pixel. */
typedef struct nb_taps {
    int fast, slow; /* displacements -fast to fast, -slow to slow */
    double *w;      /* owned; [2 slow + 1][2 fast + 1], with sum 1; w[-d] = w[d] */
    double *by[4];  /* in the memory of w: slopes of w by M[0 to 3], or NULL */
} nb_taps;

/** Find the largest displacements, pixels; returns 0 if one exceeds NB_TAPS_FARTHEST. */
int nb_taps_reach(int box, const double M[4], int *fast, int *slow);

/** Make the taps for M in pixels (nb_footprint_map). Errors: NB_ERR_NOMEM. */
nb_status nb_taps_make(int box, const double M[4], int slopes, nb_taps *taps,
                       nb_error *err);
void nb_taps_free(nb_taps *taps); /* The taps may be all zero. */

/** Copy taps as floats to to[nb_taps_count]. Taps below 1e-9 (lost in sums) become 0. */
void nb_taps_floats(const nb_taps *taps, float *to);

static inline size_t nb_taps_count(const nb_taps *t)
{
    return (2 * (size_t)t->fast + 1) * (2 * (size_t)t->slow + 1);
}

/** Pixels fast to fast_end - 1 and slow to slow_end - 1, which all use the taps of the
 * tile's middle. */
typedef struct nb_footprint_tile {
    int fast, fast_end, slow, slow_end;
    double F, S; /* middle, m */
    int taps;    /* number of the taps in the plan */
} nb_footprint_tile;

typedef struct nb_footprint_panel {
    int across, down; /* number of tiles */
    int tile;         /* first tile; tiles go row by row */
    int fast, slow;   /* largest displacements of light, pixels */
} nb_footprint_panel;

/** Tiles and taps of the panels of a scene, for any region and mask. */
typedef struct nb_footprint_plan {
    int n_panels, n_tiles, n_taps;
    nb_footprint_panel *panels; /* owned, as all arrays */
    nb_footprint_tile *tiles;
    nb_taps *taps;
} nb_footprint_plan;

/** Make the plan, with slopes of the taps if `slopes` is 1. Free it, also after an error.
 * Errors: NB_ERR_INPUT (light moves more than NB_TAPS_FARTHEST pixels), NB_ERR_NOMEM. */
nb_status nb_footprint_plan_make(const nb_footprint *fp, const nb_scene *scene,
                                 int slopes, nb_footprint_plan *plan, nb_error *err);
void nb_footprint_plan_free(nb_footprint_plan *plan); /* The plan may be all zero. */

/** Make *sources: `scene` with a larger region and mask that have all pixels whose light
 * reaches `scene`. *mask: new mask (nb_free), or NULL without a mask. NB_ERR_NOMEM. */
nb_status nb_footprint_sources(const nb_footprint_plan *plan, const nb_scene *scene,
                               nb_scene *sources, uint8_t **mask, nb_error *err);

/** Inputs for spreading the light of the pixels of `sources` over the pixels of
 * `scene`. */
typedef struct nb_footprint_work {
    const nb_footprint_plan *plan;
    const nb_scene *scene, *sources;
    const nb_image_kernels *kernels;
    int threads;
} nb_footprint_work;

/** Spread image[pixels], rendered from `sources`, in place. Pixels outside of the scene's
 * region and mask become 0. The result does not depend on threads and kernels. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_footprint_spread(const nb_footprint_work *work, float *image, nb_error *err);

/** Write to parts[pixels] the fraction of each pixel's light that a list of reflections
 * counts: light that reaches pixels of the scene, times their factors[pixels] (0 for
 * masked pixels), and light that pixels of the scene lose at the panel's edges. *off:
 * photons lost at the edges. NB_ERR_NOMEM. */
nb_status nb_footprint_count(const nb_footprint_work *work, const float *factors,
                             const float *image, float *parts, double *off, nb_error *err);

/** Spread `from` into to[pixels] by a plain sum in double, the reference. taps: one for
 * each tile (NULL skips the tile), or NULL for those of the plan. With `back` it is the
 * adjoint, which converts slopes of a loss by pixels after the footprint into slopes by
 * pixels before it. */
void nb_footprint_pass(const nb_footprint_plan *plan, const nb_scene *scene,
                       double *const *taps, int back, int threads, const double *from,
                       double *to);

#endif
