/* SPDX-License-Identifier: MIT */
/** Divide the photons of pixels among reflections, and sum them by Miller index. */
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
    double pixel[NB_SUMS]; /* sums of the current pixel: weight, weight times fast ... */
    double sum[NB_SUMS];   /* sums of earlier pixels, in photons */
    double peak;           /* photons of the brightest pixel */
    /* Sums over pixels, where s is the number of photons of the reflection in a pixel: of
     * s^2 (square), of s times the background (under), of s^2 divided by all photons of
     * the pixel (fit). */
    double square, under, fit;
} nb_reflection_entry;

/** A table of reflections. It is empty if all members are zero. */
typedef struct nb_reflection_table {
    nb_reflection_entry *list; /* owned, in order of first appearance */
    int count, room;
    int *slots; /* owned; hash table from h, k, l to 1 + index in the list */
    int n_slots;
    int *touched; /* owned; entries with samples of the current pixel */
    int n_touched;
    int panel;      /* panel of the next samples */
    int last;       /* entry of the last search, probably also of the next sample */
    double photons; /* photons of all pixels, if samples give them, not an image */
} nb_reflection_table;

/** Find or make the entry of h, k, l on the table's panel; returns NULL if memory is
 * exhausted. */
nb_reflection_entry *nb_reflection_entry_of(nb_reflection_table *t, int h, int k, int l);

/** Add one sample of the current pixel. Returns 0 if memory is exhausted. */
int nb_reflection_add(nb_reflection_table *t, const int hkl[3],
                      const double sums[NB_SUMS]);

/** Sum of the weights of the current pixel. */
double nb_reflection_weight(const nb_reflection_table *t);

/** Divide the photons of the pixel among reflections with samples in it, and begin the
 * next pixel. background: other photons of the pixel. */
void nb_reflection_end_pixel(nb_reflection_table *t, double photons, double background);

/** Add the sums of `from`. Returns 0 if memory is exhausted. */
int nb_reflection_merge(nb_reflection_table *t, const nb_reflection_table *from);
void nb_reflection_table_free(nb_reflection_table *t);

/* --- Reflections of an image of spots (../plan/spots.h): the sums run over reflections
 * and their pixels, not over pixels and all their samples --- */

typedef struct nb_spot_shares {
    const struct nb_reflection_job *job;
    const nb_spots *spots;
    const nb_spot_limits *limits;
    /** Photons of a pixel that are to be divided, or 0. *least: least weight of a sample
     * that counts; *background: other photons of the pixel. */
    double (*photons)(const void *user, int panel, int fast, int slow, double *least,
                      double *background);
    /** NULL if there is an image. Without an image, `photons` only selects pixels, and
     * this function returns a pixel's photons from the sum of its weights. *divided: the
     * photons to divide, or 0. */
    double (*own)(const void *user, int panel, int fast, int slow, double weight,
                  double *divided);
    const void *user;
    nb_spot_draw *draw;
    const nb_vector_plan *plans; /* plan of each panel */
} nb_spot_shares;

/** Add the sums of all reflections to the table. NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spot_shares_add(const nb_spot_shares *shares, nb_reflection_table *table,
                             nb_error *err);

/* Reflections of an image. Every sample of a pixel belongs to its nearest Miller index,
 * as in the lattice sum. The photons of a pixel are divided in proportion to the weights
 * of its samples. The photons are those of the image, which may come from any
 * renderer. */

/** A footprint. The job's scene has the pixels before the spread. The job's image has the
 * light of the crystal alone, times `parts`. */
typedef struct nb_reflection_spread {
    const nb_scene *seen; /* scene of the spread image */
    const float *parts;   /* factor on the light of each pixel, in place of the mix */
} nb_reflection_spread;

typedef struct nb_reflection_job {
    const nb_scene *scene;
    const float *image; /* [spixels][fpixels] of the scene, or NULL: `render` makes it */
    /** Make the image. Not used for spots of limited size: samples give their photons. */
    nb_status (*render)(void *user, float *image, nb_error *err);
    void *user;
    const nb_mix *mix; /* factors and other light of the image */
    double minimum;    /* photons of the weakest listed reflection */
    /* phi of the first step; difference of phi between steps; rad */
    double phi_first, phi_step;
    /* 1: leave out weak samples (nb_tolerance.skip), and go through the spots */
    int by_spots;
    int threads; /* 0: all; the list does not depend on the number of threads */
    /* instruction set for spots and background; SCALAR: calculate all samples */
    nb_isa isa;
    const nb_hooks *hooks;              /* the calling thread calls progress */
    const nb_reflection_spread *spread; /* spread by -footprint, or NULL */
} nb_reflection_job;

/** List the reflections in order of h, k, l. Sets all of nb_reflection except excitation,
 * d and frame, and all of *out except off_panels. Free *out with nb_reflections_free; it
 * is zero after an error. Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_reflections_find(const nb_reflection_job *job, nb_reflections *out,
                              nb_error *err);

#endif
