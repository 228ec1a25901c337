/* SPDX-License-Identifier: MIT */
/** Sums over atoms by the Fourier transform of their density, element by element. Ten Eyck, Acta Cryst.
 * A33, 486 (1977); blur: Navaza, Acta Cryst. A58, 568 (2002). */
#ifndef NB_FACTORS_DENSITY_H
#define NB_FACTORS_DENSITY_H

#include "direct.h"

/** As nb_direct_sum, to 1e-6; atoms that would cost more on a grid, and elements of few atoms, are
 * summed one by one.  FFTW must be loaded.  grid: points along a, b, c, set if a grid was used.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_density_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                         double *S, int grid[3], nb_error *err);

/** Points along an axis, at least `least`: a product of 2, 3 and 5. */
int nb_smooth_size(double least);

#endif
