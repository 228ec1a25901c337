/* SPDX-License-Identifier: MIT */
/* Reflections: MTZ, structure-factor CIF, small-molecule CIF. Every index of an accepted
 * file is bounded and every value readable. A file that can be written as MTZ and read
 * again has the same indices. */
#include <math.h>
#include <string.h>

#include "../../src/io/structure/gemmi.h"
#include "fuzz.h"

static void check_again(const nb_reflection_file *f)
{
    nb_reflection_file again;
    char *bytes;
    size_t size;
    nb_error err = {0};
    if (f->cell[0] <= 0 || nb_mtz_write(f, "fuzz", &bytes, &size, &err))
        return;
    if (!nb_reflection_file_parse(bytes, size, "again", &again, &err)) {
        NB_FUZZ_CHECK(again.count == f->count);
        NB_FUZZ_CHECK(!memcmp(again.hkl, f->hkl, f->count * sizeof *f->hkl));
        nb_reflection_file_free(&again);
    }
    nb_free(bytes);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_reflection_file f;
    nb_error err = {0};
    volatile float sum = 0;
    nb_status status =
        nb_reflection_file_parse((const char *)data, size, "fuzz.mtz", &f, &err);
    if (status) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !f.columns && !f.hkl);
        NB_FUZZ_CHECK(!strchr(err.message, '\n'));
        return 0;
    }
    NB_FUZZ_CHECK(f.is_unmerged || f.count > 0);
    for (size_t i = 0; i < f.count; i++) {
        for (int j = 0; j < 3; j++)
            NB_FUZZ_CHECK(abs(f.hkl[i][j]) <= NB_INDEX_MAX);
        for (int c = 0; c < f.n_columns; c++)
            sum = sum + f.columns[c].value[i];
    }
    check_again(&f);
    nb_reflection_file_free(&f);
    return 1;
}

NB_FUZZ_ENTRY
