/* SPDX-License-Identifier: MIT */
/** The coefficients of one form's table: every order by a lattice sum on a grid as coarse as its halos allow. */
#ifndef NB_LIGHT_DIFFUSE_FILL_H
#define NB_LIGHT_DIFFUSE_FILL_H

#include "diffuse_table.h"

/** Points from one index to the next that a halo needs which is `scale` (u of one index) narrow. */
int nb_diffuse_points(double scale);

/** A kernel that is split at near2, inside of it: poly[j] (near2 - x)^j. */
void nb_diffuse_soft(int gauss, double n, double near2,
                     double poly[NB_DIFFUSE_DEGREE + 1]);

/** Fill part->c; power: I0 of the table's box.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_diffuse_fill(const nb_diffuse_table *table, const double *power, int threads,
                          nb_diffuse_part *part, nb_error *err);

#endif
