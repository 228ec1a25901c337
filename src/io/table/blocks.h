/* SPDX-License-Identifier: MIT */
/** Text files of mosaic blocks (-mosaic_blocks): a rotation and a weight each. */
#ifndef NB_IO_BLOCKS_H
#define NB_IO_BLOCKS_H

#include "../../nanobragg.h"
#include "../../physics/vec3.h"

/** Blocks of equal weight: those of a file, repeated by their weights. */
typedef struct nb_blocks {
    nb_mat3 *rotation; /* owned, [n]; of the axes a*, c x a*, c of the crystal */
    int n;
    double angle; /* rad; root of the mean square of their angles */
} nb_blocks;

/** Parse text: a line has the three numbers of a rotation vector (deg) or the nine of a rotation matrix, row by row, and
 * then a weight if all lines have one; # starts a comment.  wanted: how many blocks there shall be, each line as often as its
 * weight says, to one; 0: the least number, up to 10000, that does it exactly.  Free *out with nb_blocks_free; it is zero after an
 * error.  Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM. */
nb_status nb_blocks_parse(const char *data, size_t bytes, const char *path, int wanted,
                          nb_blocks *out, nb_error *err);
void nb_blocks_free(nb_blocks *blocks);
/** To 1e-4? */
int nb_is_rotation(const double m[9]);

#endif
