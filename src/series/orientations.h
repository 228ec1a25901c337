/* SPDX-License-Identifier: MIT */
/** The file of -orientations: one shot per line. */
#ifndef NB_SERIES_ORIENTATIONS_H
#define NB_SERIES_ORIENTATIONS_H

#include "../nanobragg.h"

/** A crystal that changes along a frame: A, columns a* b* c*, row by row, 1/A. */
typedef struct nb_frame_crystal {
    double A[9];       /* in the middle */
    double ends[2][9]; /* at the begin and the end: A times these */
    int given;
} nb_frame_crystal;

/** What the lines say; arrays are [needed] and the caller's. */
typedef struct nb_orientations {
    double (*missets)[3];       /* deg */
    nb_frame_crystal *crystals; /* NULL: such lines are refused */
} nb_orientations;

/** Read the first `needed` lines of the text data[bytes]. A line has three misset angles (deg, about lab x, y, z), the
 * nine numbers of a rotation matrix, or eighteen: A at the begin and at the end of the frame, without the spindle's
 * rotation; row by row, separated by blanks or one comma; # starts a comment. The angles are rounded
 * so that they can be typed. NB_ERR_INPUT names the line; `path` is for that message. */
nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, const nb_orientations *out, nb_error *err);

/** The same for data in memory, and into new arrays, as nb_orientations_load. */
nb_status nb_orientations_take(const char *data, size_t bytes, const char *path,
                               int needed, double (**missets)[3],
                               nb_frame_crystal **crystals, nb_error *err);

/** The same for the file at path. Free *missets, and *crystals (NULL: no line has eighteen numbers), with nb_free; crystals
 * NULL: such lines are refused. */
nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               nb_frame_crystal **crystals, nb_error *err);

#endif
