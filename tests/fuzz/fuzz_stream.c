/* SPDX-License-Identifier: MIT */
/* CrystFEL streams: an accepted stream has crystals with finite matrices, and the
 * requested number of images. */
#include <math.h>
#include <string.h>

#include "../../src/io/table/stream.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_error err = {0};
    nb_stream stream;
    const nb_status st =
        nb_stream_parse((const char *)data, size, "fuzz.stream", 1, &stream, &err);
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0] && !stream.crystal));
    if (st == NB_OK) {
        NB_FUZZ_CHECK(stream.images == 1 && stream.first[0] == 0 &&
                      stream.first[1] == stream.n && stream.n > 0);
        for (int i = 0; i < stream.n; i++)
            NB_FUZZ_CHECK(isfinite(stream.crystal[i].A[0]));
        NB_FUZZ_CHECK(strlen(stream.image[0]) < NB_STREAM_NAME);
    }
    nb_stream_free(&stream);
    return st == NB_OK;
}

NB_FUZZ_ENTRY
