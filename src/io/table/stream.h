/* SPDX-License-Identifier: MIT */
/** CrystFEL streams: the crystals of each image. */
#ifndef NB_IO_STREAM_H
#define NB_IO_STREAM_H

#include <stddef.h>

#include "../../nanobragg.h"

enum { NB_STREAM_NAME = 256 };

/** A crystal: its reciprocal axes in columns a* b* c*, row by row, 1/A; x, y, z as in CrystFEL and NeXus: z along the beam, y
 * up. */
typedef struct nb_stream_crystal {
    double A[9];
} nb_stream_crystal;

/** Images that have a crystal, in the order of the stream. */
typedef struct nb_stream {
    nb_stream_crystal *crystal; /* owned, [n] */
    int *first;                 /* owned, [images + 1]: of each image in `crystal` */
    char (*image)[NB_STREAM_NAME]; /* owned, [images]: file, and event behind a blank; cut if it is too long */
    int n, images;
} nb_stream;

/** Does the text begin as a stream? */
int nb_stream_is(const char *data, size_t bytes);

/** Read the first `needed` images with crystals.  Free *out with nb_stream_free; it is zero after an error.  Errors:
 * NB_ERR_INPUT with the line (axes that are missing, in one plane or left-handed; fewer images), NB_ERR_NOMEM. */
nb_status nb_stream_parse(const char *data, size_t bytes, const char *path, int needed,
                          nb_stream *out, nb_error *err);
void nb_stream_free(nb_stream *stream);

#endif
