/* SPDX-License-Identifier: MIT */
/* Orientation matrices: the reader returns nine finite numbers, or a message. */
#include <math.h>

#include "../../src/io/table/arrays.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    double m[9], ends[2][9];
    nb_error err = {0};
    nb_status status = nb_matrix_parse((const char *)data, size, "fuzz.mat", m, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0]);
        return 0;
    }
    for (int i = 0; i < 9; i++)
        NB_FUZZ_CHECK(isfinite(m[i]));
    if (nb_matrix_two((const char *)data, size, ends) &&
        !nb_matrix_ends(ends, "fuzz.mat", 0, m, &err))
        for (int i = 0; i < 18; i++)
            NB_FUZZ_CHECK(isfinite(ends[i / 9][i % 9]));
    return 1;
}

NB_FUZZ_ENTRY
