/* SPDX-License-Identifier: MIT */
/* Tables of f' and f'': every accepted row can be looked up. */
#include <math.h>
#include <string.h>

#include "../../src/io/structure/fprime.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_fprime_list list;
    nb_error err = {0};
    nb_status status = nb_fprime_parse((const char *)data, size, "fuzz.txt", &list, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !list.rows);
        return 0;
    }
    NB_FUZZ_CHECK(list.count > 0);
    for (size_t i = 0; i < list.count; i++) {
        const nb_fprime_row *row = &list.rows[i];
        double f1 = NAN, f2 = NAN;
        NB_FUZZ_CHECK(strlen(row->element) < 3 && row->energy_eV > 0);
        NB_FUZZ_CHECK(nb_fprime_at(row, 1, row->energy_eV, &f1, &f2));
        NB_FUZZ_CHECK(f1 == row->f1 && f2 == row->f2);
    }
    nb_fprime_free(&list);
    return 1;
}

NB_FUZZ_ENTRY
