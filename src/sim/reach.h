/* SPDX-License-Identifier: MIT */
/** How far in reciprocal space a detector sees, and what a table of F then needs. */
#ifndef NB_API_REACH_H
#define NB_API_REACH_H

#include "../model/crystal.h"
#include "../nanobragg.h"
#include "../physics/scene.h"

/** Largest |q| = 2 sin(theta) / lambda of the pixels that are rendered, for any source, 1/A. */
double nb_scene_reach(const nb_scene *scene);

/** The d (A) to which a table of F over `cell` must go, for an image to q (1/A) of the crystal: half
 * of the longest diagonal of a reciprocal cell beyond it. interpolated: and two diagonals more. */
double nb_table_limit(double q, const nb_crystal *crystal, const double cell[6],
                      int interpolated);

/** Largest ratio |h*| of cell b over |h*| of cell a, of any h. */
double nb_metric_ratio(const double a[6], const double b[6]);

#endif
