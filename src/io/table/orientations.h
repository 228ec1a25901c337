/* SPDX-License-Identifier: MIT */
/** The file of -orientations: one shot per line. */
#ifndef NB_IO_ORIENTATIONS_H
#define NB_IO_ORIENTATIONS_H

#include "../../nanobragg.h"

/** A crystal that changes along a frame: A, columns a* b* c*, row by row, 1/A. */
typedef struct nb_frame_crystal {
    double A[9];       /* in the middle */
    double ends[2][9]; /* at the begin and the end: A times these */
    int given;
} nb_frame_crystal;

/** What the lines say. */
typedef struct nb_orientations {
    double (*missets)[3];       /* owned, [n], deg */
    nb_frame_crystal *crystals; /* owned, [n]; NULL: no line has eighteen numbers */
    int n;
} nb_orientations;

/** Read the first `needed` lines of the text data[bytes]. A line has three misset angles (deg, about lab x, y, z), the
 * nine numbers of a rotation matrix, or eighteen: A at the begin and at the end of the frame, without the spindle's
 * rotation; row by row, separated by blanks or one comma; # starts a comment. The angles are rounded
 * so that they can be typed.  Free *out with nb_orientations_free; it is zero after an error.  Errors: NB_ERR_NOMEM,
 * NB_ERR_INPUT, which names the line; `path` is for that message. */
nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, nb_orientations *out, nb_error *err);
void nb_orientations_free(nb_orientations *all); /* zero or read */

/** The missets of the file at path, the caller's (nb_free); a line of eighteen numbers is refused. */
nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               nb_error *err);

#endif
