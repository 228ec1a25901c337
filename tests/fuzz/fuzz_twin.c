/* SPDX-License-Identifier: MIT */
/* Laws of -twin. In an accepted text each part of the crystal has a fraction above 0 and
 * at most 1, and the rotation of a crystal to each part has a finite obliquity. */
#include <math.h>
#include <string.h>

#include "../../src/model/scene_build.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    const nb_crystal cell = {.a = {1, 0, 0},
                             .b = {0.2, 1.5, 0},
                             .c = {0.1, -0.3, 2},
                             .astar = {1, -0.13, -0.07},
                             .bstar = {0, 0.67, 0.1},
                             .cstar = {0, 0, 0.5}};
    nb_error err = {0};
    nb_twin twin;
    char *text = malloc(size + 1);
    nb_status st;
    NB_FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    st = nb_twin_read(text, &twin, &err);
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0]));
    for (int i = 0; st == NB_OK && i <= twin.n; i++) {
        nb_crystal x = cell;
        NB_FUZZ_CHECK(nb_twin_share(&twin, i) > 0 && nb_twin_share(&twin, i) <= 1);
        NB_FUZZ_CHECK(isfinite(nb_twin_turn(&twin, i, &x)));
    }
    free(text);
    return st == NB_OK;
}

NB_FUZZ_ENTRY
