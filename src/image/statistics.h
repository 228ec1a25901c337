/* SPDX-License-Identifier: MIT */
/** Statistics of a float image. */
#ifndef NB_IMAGE_STATISTICS_H
#define NB_IMAGE_STATISTICS_H

#include "../nanobragg.h"
#include "../base/row_sums.h"
#include "../physics/scene.h"

/** Fill stats from image[spixels][fpixels] over the scene's region of interest; solid_angle is
 * set to 0, for the caller to fill.  The sums are taken in one fixed order, so every thread
 * count gives the same bits.  threads: 0 takes all. */
void nb_statistics_threads(const float *image, const nb_scene *scene, int threads,
                           nb_stats *stats);

/** The same with all threads. */
void nb_statistics(const float *image, const nb_scene *scene, nb_stats *stats);

/** The same from the sums of the region's rows, rows[0] that of roi_smin, which a device made
 * of the image with max_at: equal sums give equal statistics. */
void nb_statistics_of_rows(const nb_row_sums *rows, const nb_scene *scene,
                           nb_stats *stats);

#endif
