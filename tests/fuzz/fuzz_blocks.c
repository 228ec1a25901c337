/* SPDX-License-Identifier: MIT */
/* Files of -mosaic_blocks: an accepted file gives the requested number of rotations. */
#include <math.h>
#include <string.h>

#include "../../src/io/table/sources.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_error err = {0};
    nb_blocks blocks;
    const nb_status st =
        nb_blocks_parse((const char *)data, size, "fuzz.txt", 0, &blocks, &err);
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0] && !blocks.rotation));
    for (int i = 0; st == NB_OK && i < blocks.n; i++) {
        const double *m = blocks.rotation[i].m;
        NB_FUZZ_CHECK(fabs(m[0] * m[0] + m[1] * m[1] + m[2] * m[2] - 1) < 1e-3);
    }
    NB_FUZZ_CHECK(st != NB_OK || (blocks.n > 0 && isfinite(blocks.angle)));
    nb_blocks_free(&blocks);
    if (!nb_blocks_parse((const char *)data, size, "fuzz.txt", 7, &blocks, NULL))
        NB_FUZZ_CHECK(blocks.n == 7);
    nb_blocks_free(&blocks);
    return st == NB_OK;
}

NB_FUZZ_ENTRY
