/* SPDX-License-Identifier: MIT */
/** Statistics of a float image. */
#ifndef NB_IMAGE_STATISTICS_H
#define NB_IMAGE_STATISTICS_H

#include "photons.h"

/** Fill stats of the photons over the scene's region of interest, in memory or on the device, if
 * that keeps them; solid_angle is set to 0, for the caller to fill.  The sums are taken in one fixed
 * order, so every thread count and the device give the same bits.  Errors: NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_statistics(const nb_photons *photons, nb_stats *stats, nb_error *err);

/** The same from the sums of the region's rows, rows[0] that of roi_smin, made with max_at: equal
 * sums give equal statistics. */
void nb_statistics_of_rows(const nb_row_sums *rows, const nb_scene *scene,
                           nb_stats *stats);

#endif
