/* SPDX-License-Identifier: MIT */
/* Files of -orientations: the reader returns two lines of finite angles, or a message. */
#include <math.h>

#include "../../src/io/table/orientations.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_orientations out;
    nb_error err = {0};
    nb_status status =
        nb_orientations_parse((const char *)data, size, "fuzz.txt", 2, &out, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0]);
        return 0;
    }
    for (int i = 0; out.crystals && i < 18; i++)
        NB_FUZZ_CHECK(isfinite(out.crystals[i / 9].ends[i % 2][i / 2]));
    for (int i = 0; i < 6; i++)
        NB_FUZZ_CHECK(isfinite(out.missets[i / 3][i % 3]));
    nb_orientations_free(&out);
    return 1;
}

NB_FUZZ_ENTRY
