/* SPDX-License-Identifier: MIT */
/** Lists of the objects that meet each plane of a periodic grid. */
#ifndef NB_FACTORS_DENSITY_H
#define NB_FACTORS_DENSITY_H

#include <stddef.h>

#include "../nanobragg.h"
#include "direct.h"

/** Object `which` meets plane u, before reduction into the cell. */
typedef struct nb_visit {
    int which, u;
} nb_visit;

/** The visits of plane p are first[p]..first[p + 1] - 1, in the order of the objects. */
typedef struct nb_visits {
    size_t *first;   /* owned; [planes + 1] */
    nb_visit *visit; /* owned */
} nb_visits;

/** The planes that an object meets: from[0]..from[1], any whole numbers. */
typedef void nb_extent_fn(const void *things, size_t which, int from[2]);

/** Errors: NB_ERR_NOMEM. */
nb_status nb_visits_make(const void *things, size_t count, nb_extent_fn *extent,
                         int planes, nb_visits *out, nb_error *err);
void nb_visits_free(nb_visits *visits);

/** a modulo n, 0..n-1. */
static inline int nb_modulo(int a, int n)
{
    a %= n;
    return a < 0 ? a + n : a;
}

/* --- Sums over atoms by the Fourier transform of their density, element by element ---
 * Ten Eyck, Acta Cryst. A33, 486 (1977); blur: Navaza, Acta Cryst. A58, 568 (2002). */

/** As nb_direct_sum, to 1e-6; atoms for which the grid is slower, and elements of few atoms, are
 * summed one by one. FFTW must be loaded. grid: points along a, b, c, set if a grid was used.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_density_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                         double *S, int grid[3], nb_error *err);

/** Points along an axis, at least `least`: a product of 2, 3 and 5. */
int nb_smooth_size(double least);

#endif
