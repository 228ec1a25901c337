/* SPDX-License-Identifier: MIT */
/** File of -orientations: one shot per line. */
#ifndef NB_IO_ORIENTATIONS_H
#define NB_IO_ORIENTATIONS_H

#include "../../nanobragg.h"

/** A crystal that changes along a frame. A: columns a* b* c*, row by row, 1/A. */
typedef struct nb_frame_crystal {
    double A[9]; /* A in the middle of the frame */
    /* the product A ends[0] is the matrix at the begin, A ends[1] at the end of the
     * frame */
    double ends[2][9];
    int given; /* 1: the line has eighteen numbers */
} nb_frame_crystal;

/** Values of the lines. */
typedef struct nb_orientations {
    double (*missets)[3];       /* owned, [n], deg */
    nb_frame_crystal *crystals; /* owned, [n]; NULL if no line has eighteen numbers */
    int n;
} nb_orientations;

/** Read `needed` lines. A line has 3 misset angles (deg, about lab x, y, z), a rotation
 * matrix (9 numbers), or A at the begin and the end of the frame without the rotation of
 * the spindle (18). Matrices are written row by row. Blanks or a comma separate numbers;
 * # starts a comment. Angles are rounded to twelve digits. Free *out (zero on error) with
 * nb_orientations_free. Errors: NB_ERR_NOMEM, NB_ERR_INPUT with path and line. */
nb_status nb_orientations_parse(const char *data, size_t bytes, const char *path,
                                int needed, nb_orientations *out, nb_error *err);
void nb_orientations_free(nb_orientations *all); /* Free the members; all may be zero. */

/** Read missets from a file; free *missets with nb_free. 18 numbers are an error. */
nb_status nb_orientations_load(const char *path, int needed, double (**missets)[3],
                               nb_error *err);

#endif
