/* SPDX-License-Identifier: MIT */
/* Lists of reflections for HTML pages: accepted lists have the brightest first. */
#include <stdlib.h>

#include "../../src/io/table/hkl.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_reflection *spots;
    int n;
    nb_error err = {0};
    nb_status status =
        nb_page_spots_parse((const char *)data, size, "fuzz.tsv", &spots, &n, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !spots && n == 0);
        return 0;
    }
    for (int i = 0; i < n; i++)
        NB_FUZZ_CHECK(spots[i].panel == -1 && abs(spots[i].h) <= 1000000);
    for (int i = 1; i < n; i++)
        NB_FUZZ_CHECK(!(spots[i].intensity > spots[i - 1].intensity));
    free(spots);
    return 1;
}

NB_FUZZ_ENTRY
