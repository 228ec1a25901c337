/* SPDX-License-Identifier: MIT */
/* Text structure factors: every voxel of an accepted table is readable and finite. */
#include <math.h>

#include "../../src/io/table/hkl.h"
#include "fuzz.h"
#include "../support/parse.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_factor_file table;
    nb_error err = {0};
    nb_status status = nb_hkl_parse((const char *)data, size, "fuzz.hkl", 1, &table, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !table.F);
        return 0;
    }
    for (int64_t i = 0; i < nb_factor_file_voxels(&table); i++)
        NB_FUZZ_CHECK(isfinite(table.F[i]));
    NB_FUZZ_CHECK(table.reflections > 0);
    nb_factor_file_free(&table);
    return 1;
}

NB_FUZZ_ENTRY
