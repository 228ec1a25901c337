/* SPDX-License-Identifier: MIT */
/** The footprint of the Bragg light on panels: an image of that light alone, before background and noise, is
 * spread (docs/physics.md, section 22).  Panels are divided into tiles, in each of which all pixels spread their
 * light alike; light that leaves its panel is lost. */
#ifndef NB_IMAGE_FOOTPRINT_H
#define NB_IMAGE_FOOTPRINT_H

#include "../nanobragg.h"
#include "../physics/footprint.h"
#include "../physics/scene.h"
#include "kernels.h"

/* What part of a pixel's light a footprint brings to its neighbours, and how that part changes with the
 * footprint (docs/physics.md, section 22). */

enum { NB_TAPS_FARTHEST = 250 /* pixels that light goes, at most */ };

/** The light of a pixel is spread evenly over it, moved by M (x, y) of nb_footprint, and counted in the pixels
 * that it meets. */
typedef struct nb_taps {
    int fast, slow; /* displacements -fast ... fast, -slow ... slow */
    double *w;      /* owned; [2 slow + 1][2 fast + 1], their sum is 1; w[-d] = w[d] */
    double *by[4];  /* in w's memory: slopes of w by M[0 ... 3]; NULL: not wanted */
} nb_taps;

/** Displacements along both edges.  0: more than NB_TAPS_FARTHEST. */
int nb_taps_reach(int box, const double M[4], int *fast, int *slow);

/** M in pixels, as nb_footprint_map has it.  Errors: NB_ERR_NOMEM. */
nb_status nb_taps_make(int box, const double M[4], int slopes, nb_taps *taps,
                       nb_error *err);
void nb_taps_free(nb_taps *taps); /* zeroed is fine */

/** The same as floats: those below 1e-9, which no float tells beside the largest ones, are 0.  to[nb_taps_count]. */
void nb_taps_floats(const nb_taps *taps, float *to);

static inline size_t nb_taps_count(const nb_taps *t)
{
    return (2 * (size_t)t->fast + 1) * (2 * (size_t)t->slow + 1);
}

/** Pixels from `from` up to before `end`; the taps are those of its middle. */
typedef struct nb_footprint_tile {
    int fast, fast_end, slow, slow_end;
    double F, S; /* its middle, m */
    int taps;    /* number in the plan */
} nb_footprint_tile;

typedef struct nb_footprint_panel {
    int across, down; /* tiles */
    int tile;         /* the first one, in rows */
    int fast, slow;   /* pixels that light goes, at most */
} nb_footprint_panel;

/** Of the panels of a scene; regions and masks do not matter. */
typedef struct nb_footprint_plan {
    int n_panels, n_tiles, n_taps;
    nb_footprint_panel *panels; /* owned, as all */
    nb_footprint_tile *tiles;
    nb_taps *taps;
} nb_footprint_plan;

/** slopes: with those of taps.  Free it after an error, too.  Errors: NB_ERR_INPUT (light would go farther than
 * NB_TAPS_FARTHEST pixels), NB_ERR_NOMEM. */
nb_status nb_footprint_plan_make(const nb_footprint *fp, const nb_scene *scene,
                                 int slopes, nb_footprint_plan *plan, nb_error *err);
void nb_footprint_plan_free(nb_footprint_plan *plan); /* zeroed is fine */

/** The region and mask whose light reaches those of the scene: *sources is the scene with these; its mask is *mask
 * (nb_free), which is NULL without one.  Errors: NB_ERR_NOMEM. */
nb_status nb_footprint_sources(const nb_footprint_plan *plan, const nb_scene *scene,
                               nb_scene *sources, uint8_t **mask, nb_error *err);

/** What spreads light: from the pixels of `sources` to those of `scene`. */
typedef struct nb_footprint_work {
    const nb_footprint_plan *plan;
    const nb_scene *scene, *sources;
    const nb_image_kernels *kernels;
    int threads;
} nb_footprint_work;

/** Spread image[pixels], rendered from `sources`, in place; then 0 outside of the scene's region and mask.  The same bytes
 * for any number of threads and any kernels.  Errors: NB_ERR_NOMEM. */
nb_status nb_footprint_spread(const nb_footprint_work *work, float *image, nb_error *err);

/** What part of the light of image[pixels], from the sources of the work's scene, counts in a list of reflections: what
 * comes to the pixels of the scene, times their factors[pixels] (0 where there is no such pixel), and from a pixel of the
 * scene also what leaves its panel.  parts[pixels] is written where there is light, *off: photons that leave the panels.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_footprint_count(const nb_footprint_work *work, const float *factors,
                             const float *image, float *parts, double *off, nb_error *err);

/** The readable truth, in double: to[pixels] gets what the pixels of `from` spread, by other taps than those of the
 * plan where `taps` is not NULL: of each tile, as many as it has, or NULL for none.  back: the adjoint instead, what the slopes of a loss
 * by the pixels behind the footprint are by those before it. */
void nb_footprint_pass(const nb_footprint_plan *plan, const nb_scene *scene,
                       double *const *taps, int back, int threads, const double *from,
                       double *to);

#endif
