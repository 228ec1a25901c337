/* SPDX-License-Identifier: MIT */
/** The file of -orientations: one shot a line. */
#ifndef NB_SERIES_ORIENTATIONS_H
#define NB_SERIES_ORIENTATIONS_H

#include "../nanobragg.h"

/** Read `needed` (or more) lines of three misset angles (deg, about lab x, y, z) or of the nine
 * numbers of a rotation matrix, row by row; # starts a comment.  *missets: the caller's (nb_free),
 * rounded to what can be typed.  NB_ERR_INPUT names the line. */
nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               int *count, nb_error *err);

#endif
