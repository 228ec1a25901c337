/* SPDX-License-Identifier: MIT */
/* Source lists: every accepted source has a direction, an intensity and a wavelength. */
#include <math.h>

#include "../../src/io/table/sources.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    const nb_source_defaults defaults = {{-10, 0, 0}, 1e-10};
    nb_source_list list;
    nb_error err = {0};
    nb_status status =
        nb_sources_parse((const char *)data, size, "fuzz.txt", &defaults, &list, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !list.rows);
        return 0;
    }
    NB_FUZZ_CHECK(list.count > 0);
    for (int i = 0; i < list.count; i++) {
        const nb_source_line *s = &list.rows[i];
        double length2 = s->x * s->x + s->y * s->y + s->z * s->z;
        NB_FUZZ_CHECK(length2 > 0 && isfinite(length2) && s->intensity >= 0 &&
                      s->lambda > 0);
    }
    nb_source_list_free(&list);
    return 1;
}

NB_FUZZ_ENTRY
