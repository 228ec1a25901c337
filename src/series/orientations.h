/* SPDX-License-Identifier: MIT */
/** The file of -orientations: one shot a line. */
#ifndef NB_SERIES_ORIENTATIONS_H
#define NB_SERIES_ORIENTATIONS_H

#include "../nanobragg.h"

/** Read the first `needed` lines of the text data[bytes] into missets[needed].  A line has three misset
 * angles (deg, about lab x, y, z) or the nine numbers of a rotation matrix, row by row, with blanks or
 * one comma between; # starts a comment.  The angles are rounded to what can be typed.  NB_ERR_INPUT
 * names the line; `path` is for that message. */
nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, double (*missets)[3], nb_error *err);

/** Likewise of the file at path.  *missets: the caller's (nb_free), *count == needed. */
nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               int *count, nb_error *err);

#endif
