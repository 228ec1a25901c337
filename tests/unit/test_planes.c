/* SPDX-License-Identifier: MIT */
/* Bit planes: every instruction set makes the same bytes, those of the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "io/hdf5/hdf5_chunk.h"

enum { MOST = 4096, GUARD = 0x5a };

static const nb_isa sets[] = {NB_ISA_SCALAR, NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512,
                              NB_ISA_AUTO};

/** Bit j of value i is bit i % 8 of byte i / 8 of plane j. */
static void check_planes(const uint16_t *values, size_t count, const unsigned char *planes)
{
    const size_t row = count / 8;
    for (size_t j = 0; j < 16; j++)
        for (size_t i = 0; i < count; i++)
            assert_int_equal(planes[j * row + i / 8] >> (i % 8) & 1, values[i] >> j & 1);
}

static void planes_are_those_of_the_definition(void **state)
{
    static const size_t counts[] = {8, 16, 24, 40, 64, 72, 120, 1000, MOST};
    uint16_t values[MOST];
    unsigned char planes[2 * MOST + 1];
    uint32_t word = 1;
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        word = word * 1664525u + 1013904223u;
        values[i] = (uint16_t)(word >> 13);
    }
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            memset(planes, GUARD, sizeof planes);
            nb_bitshuffle(values, counts[c], 2, nb_shuffle_u16_of(sets[k]), planes);
            check_planes(values, counts[c], planes);
            assert_int_equal(planes[2 * counts[c]], GUARD);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_those_of_the_definition),
    };
    return cmocka_run_group_tests_name("planes", tests, NULL, NULL);
}
