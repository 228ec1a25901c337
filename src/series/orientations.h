/* SPDX-License-Identifier: MIT */
/** The file of -orientations: one shot per line. */
#ifndef NB_SERIES_ORIENTATIONS_H
#define NB_SERIES_ORIENTATIONS_H

#include "../nanobragg.h"

/** Read the first `needed` lines of the text data[bytes] into missets[needed]. A line has
 * three misset angles (deg, about lab x, y, z) or the nine numbers of a rotation matrix,
 * row by row, separated by blanks or one comma; # starts a comment. The angles are rounded
 * so that they can be typed. NB_ERR_INPUT names the line; `path` is for that message. */
nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, double (*missets)[3], nb_error *err);

/** The same for the file at path. Free *missets with nb_free; *count == needed. */
nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               int *count, nb_error *err);

#endif
