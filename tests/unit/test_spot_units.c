/* SPDX-License-Identifier: MIT */
/* Sums in whole units, for images from reflections on a device. */
#include "../support/check.h"

#include "../../cuda/spots/spot_work.h"

/* Sums are rounded down to whole units. Larger sums would make the brightest pixel too
 * bright, and then too much light might be left out of pixels. */
UNIT_TEST(sums_are_rounded_down)
{
    const nb_spot_pass pass = {.unit = 0x1p-61, .per_unit = 0x1p61};
    uint64_t seed = 7;
    assert_true(nb_spot_whole(&pass, 0.999 * pass.unit, NB_LAW_DECAY) == 0);
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double sum = ldexp((double)(seed >> 32), -32 - i % 61),
                     whole = (double)nb_spot_whole(&pass, sum, NB_LAW_DECAY);
        assert_true(whole * pass.unit <= sum && sum - whole * pass.unit < pass.unit);
    }
}

UNIT_TEST(what_a_top_hat_lights_is_not_0)
{
    const nb_spot_pass pass = {.unit = 1, .per_unit = 1};
    assert_true(nb_spot_whole(&pass, 1e-9, NB_LAW_EDGE) == 1);
    assert_true(nb_spot_whole(&pass, 6.6, NB_LAW_EDGE) == 7);
}
