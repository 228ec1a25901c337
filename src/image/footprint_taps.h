/* SPDX-License-Identifier: MIT */
/** What part of a pixel's light a footprint brings to its neighbours, and how that part changes with the
 * footprint (docs/physics.md, section 22). */
#ifndef NB_IMAGE_FOOTPRINT_TAPS_H
#define NB_IMAGE_FOOTPRINT_TAPS_H

#include "../nanobragg.h"

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

#endif
