/* SPDX-License-Identifier: MIT */
/** Pixels as short text, for pages that a browser reads (src/tools/page.html, function read). */
#ifndef NB_PICTURE_PACKED_H
#define NB_PICTURE_PACKED_H

#include "../nanobragg.h"

/** Whole numbers are exact, where their text is short enough.  Others are unit sinh(step q) with whole q: to half a step of
 * their value, or of the unit. */
typedef struct nb_packed {
    int planes;        /* of bytes, the lowest first, 1 to 4 */
    int delta;         /* q is the sum of all numbers so far */
    double step, unit; /* 0: whole numbers */
    char *pixels;      /* base64 of zlib; owned */
    char *mask;        /* of bits, 1: no value; owned; NULL: all pixels have one */
} nb_packed;

/** Pixels [n]; NaN has no value.  Whole numbers whose text is longer than `most` bytes are kept to 1 % of their value or
 * less well, until it is not.  nb_packed_free, after an error too.  Errors: NB_ERR_NOMEM. */
nb_status nb_pack_pixels(const float *pixels, size_t n, size_t most, nb_packed *out,
                         nb_error *err);
void nb_packed_free(nb_packed *packed);

#endif
