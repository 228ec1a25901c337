/* SPDX-License-Identifier: MIT */
/* -orientations: two lines of finite angles or a message. */
#include <math.h>

#include "../../src/series/frames.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    double missets[2][3] = {{0}};
    nb_frame_crystal crystals[2] = {{.given = 0}};
    const nb_orientations out = {missets, crystals};
    nb_error err = {0};
    nb_status status =
        nb_orientations_parse((const char *)data, size, "fuzz.txt", 2, &out, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0]);
        return 0;
    }
    for (int i = 0; i < 18; i++)
        NB_FUZZ_CHECK(isfinite(crystals[i / 9].ends[i % 2][i / 2]));
    for (int i = 0; i < 6; i++)
        NB_FUZZ_CHECK(isfinite(missets[i / 3][i % 3]));
    return 1;
}

NB_FUZZ_ENTRY
