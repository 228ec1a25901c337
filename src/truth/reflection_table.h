/* SPDX-License-Identifier: MIT */
/** Sums by Miller index, the division of one pixel among them, and the sums of an image that is made of spots. */
#ifndef NB_TRUTH_REFLECTION_TABLE_H
#define NB_TRUTH_REFLECTION_TABLE_H

#include "../image/mix.h"
#include "../nanobragg.h"
#include "../physics/scene.h"
#include "../plan/spots.h"
#include "../render/tile_rows.h"

enum { NB_SUM_WEIGHT = 0, NB_SUM_FAST, NB_SUM_SLOW, NB_SUM_PHI, NB_SUM_LAMBDA, NB_SUMS };

typedef struct nb_reflection_entry {
    int h, k, l, panel;
    double pixel[NB_SUMS]; /* of the current pixel: weight, weight times ... */
    double sum[NB_SUMS];   /* of the pixels before it, in photons */
    double peak;           /* photons of its brightest pixel */
    /* sums over its pixels with s photons: s^2, s times the background, s^2 divided by all
     * photons of the pixel */
    double square, under, fit;
} nb_reflection_entry;

/** A table; all zero is an empty one. */
typedef struct nb_reflection_table {
    nb_reflection_entry *list; /* owned, in the order of first appearance */
    int count, room;
    int *slots; /* owned; hash of h, k, l to 1 + place in the list */
    int n_slots;
    int *touched; /* owned; entries with samples of the current pixel */
    int n_touched;
    int panel; /* panel of the samples to come */
    int last; /* entry of the last search: the next sample is probably of the same reflection */
    double photons; /* of the pixels whose photons are their samples' own */
} nb_reflection_table;

/** Find or make the entry of h, k, l on the table's current panel; NULL: out of memory. */
nb_reflection_entry *nb_reflection_entry_of(nb_reflection_table *t, int h, int k, int l);

/** Add one sample of the current pixel. Returns 0 if memory is exhausted. */
int nb_reflection_add(nb_reflection_table *t, const int hkl[3],
                      const double sums[NB_SUMS]);

/** Sum of the weights of the current pixel. */
double nb_reflection_weight(const nb_reflection_table *t);

/** Divide the pixel's photons among the reflections that have samples in it, and begin the next
 * pixel; background: its other photons. */
void nb_reflection_end_pixel(nb_reflection_table *t, double photons, double background);

/** Add the sums of `from`. Returns 0 if memory is exhausted. */
int nb_reflection_merge(nb_reflection_table *t, const nb_reflection_table *from);
void nb_reflection_table_free(nb_reflection_table *t);

/* --- The reflections of an image that is made of spots (../plan/spots.h): the sum goes from each reflection to its pixels,
 * instead of from each pixel to all its samples --- */

typedef struct nb_spot_shares {
    const struct nb_reflection_job *job;
    const nb_spots *spots;
    const nb_spot_limits *limits;
    /** Photons of a pixel to divide; 0: none. *least: weight below which a sample is left out;
     * *background: the pixel's other photons. */
    double (*photons)(const void *user, int panel, int fast, int slow, double *least,
                      double *background);
    /** Where there is no image: photons of a pixel whose weights add to `weight`, those to divide in *divided (0: none);
     * `photons` then says which pixels there are. NULL: there is an image. */
    double (*own)(const void *user, int panel, int fast, int slow, double weight,
                  double *divided);
    const void *user;
    nb_spot_draw *draw;
    const nb_vector_plan *plans; /* of each panel */
} nb_spot_shares;

/** Add every reflection's sums to the table.  Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spot_shares_add(const nb_spot_shares *shares, nb_reflection_table *table,
                             nb_error *err);

/* The reflections of an image. Every sample of a pixel belongs to its nearest Miller index, as in
 * the lattice sum. The photons of a pixel are divided in proportion to its samples. The number of
 * photons is that of the image, which may come from any renderer. */

/** What a footprint does to the light of a scene.  The scene of the job has the pixels that light comes from, and its image
 * is that of the crystal alone, times `parts`. */
typedef struct nb_reflection_spread {
    const nb_scene *seen; /* the scene of the spread image */
    const float *parts; /* of a pixel's light that count, instead of the mix's factors */
} nb_reflection_spread;

typedef struct nb_reflection_job {
    const nb_scene *scene;
    const float *image; /* [spixels][fpixels], rendered from the scene; NULL: it is made by `render` where it is needed */
    /** Makes the image. Crystals whose spots end need none: the photons are those of their samples. */
    nb_status (*render)(void *user, float *image, nb_error *err);
    void *user;
    const nb_mix *mix;          /* of the image */
    double minimum;             /* photons of the weakest reflection that is listed */
    double phi_first, phi_step; /* rad, of the scene's phi steps */
    int by_spots; /* samples may be left out (nb_tolerance.skip): crystals whose spots end are divided by reflections */
    int threads;  /* threads, 0: all; the list does not depend on it */
    nb_isa isa; /* instruction set for spots and background; SCALAR: none, so every step is calculated */
    const nb_hooks *hooks;              /* only the calling thread calls progress */
    const nb_reflection_spread *spread; /* NULL: no footprint */
} nb_reflection_job;

/** List the reflections by h, k, l. All of nb_reflection but `excitation`, `d` and `frame`, and `off_panels`, is
 * filled. Free *out with nb_reflections_free; it is zero after an error. Errors: NB_ERR_NOMEM,
 * NB_ERR_CANCELLED. */
nb_status nb_reflections_find(const nb_reflection_job *job, nb_reflections *out,
                              nb_error *err);

#endif
