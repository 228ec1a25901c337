/* SPDX-License-Identifier: MIT */
/* Blocks of bit planes: every instruction set makes the same bytes, of the format LZ4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "io/hdf5_chunk.h"

enum { GUARD = 0x5a, ROOM = NB_PLANES_BYTES + NB_PLANES_BYTES / 255 + 64 };

static uint64_t state_of = 88172645463325252u;

static uint32_t random_word(void)
{
    state_of ^= state_of << 13;
    state_of ^= state_of >> 7;
    state_of ^= state_of << 17;
    return (uint32_t)(state_of >> 16);
}

/** A length of the format: what its four bits say, and the bytes behind them. */
static size_t length_at(const unsigned char **p, unsigned four)
{
    size_t n = four;
    if (four < 15)
        return n;
    do
        n += **p;
    while (*(*p)++ == 255);
    return n;
}

/** Decode by lz4_Block_format.md, with its rules about the end; returns the bytes of out. */
static size_t decode(const unsigned char *p, size_t bytes, unsigned char *out, size_t room)
{
    const unsigned char *end = p + bytes;
    size_t n = 0, last_match = 0, matches = 0;
    for (;;) {
        const unsigned token = *p++;
        size_t length = length_at(&p, token >> 4), back;
        assert_true((size_t)(end - p) >= length && room - n >= length);
        memcpy(out + n, p, length);
        n += length;
        p += length;
        if (p == end) {
            assert_true(!matches || (length >= 5 && n - last_match >= 12));
            return n;
        }
        assert_true(end - p > 2);
        back = p[0] | (size_t)p[1] << 8;
        p += 2;
        assert_true(back > 0 && back <= n);
        last_match = n;
        matches++;
        length = length_at(&p, token & 15) + 4;
        assert_true(room - n >= length);
        for (; length > 0; length--, n++)
            out[n] = out[n - back];
    }
}

/** Values as detectors have them: dark, few photons, many, negative ones, spots, anything, constant. */
static void fill(unsigned char *values, size_t bytes, size_t size, int kind)
{
    for (size_t i = 0; i + size <= bytes; i += size) {
        const uint32_t r = random_word();
        int64_t x[] = {0,
                       r % 50 == 0,
                       r % 7 * (r >> 8) % (1u << (i * 12 / bytes)),
                       (int64_t)(r % 9) - 4,
                       r % 400 == 0 ? r >> 12 : 0,
                       r,
                       0x1234567};
        memcpy(values + i, &x[kind], size < 8 ? size : 8);
    }
}

/** Of every instruction set; the planes come back. */
static void check_block(const unsigned char *planes, size_t n, size_t row)
{
    static const nb_isa sets[] = {NB_ISA_SCALAR, NB_ISA_SSE2, NB_ISA_AVX2,
                                  NB_ISA_AVX512, NB_ISA_NEON, NB_ISA_AUTO};
    static unsigned char first[ROOM + 1], other[ROOM + 1], back[NB_PLANES_BYTES];
    const size_t room = nb_planes_lz4_bound(n);
    size_t bytes = 0;
    assert_true(room <= ROOM);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        unsigned char *out = i ? other : first;
        size_t now;
        if (sets[i] != NB_ISA_AUTO && !nb_cpu_runs(sets[i]))
            continue;
        memset(out, GUARD, sizeof first);
        now = nb_planes_lz4(planes, n, row, nb_plane_kernels_of(sets[i]), out);
        assert_int_equal(out[room], GUARD);
        bytes = i ? bytes : now;
        assert_int_equal(now, bytes);
        assert_memory_equal(out, first, bytes);
    }
    assert_int_equal(decode(first, bytes, back, sizeof back), n);
    assert_memory_equal(back, planes, n);
}

static void blocks_come_back(void **state)
{
    static unsigned char values[NB_PLANES_BYTES], planes[NB_PLANES_BYTES],
        again[NB_PLANES_BYTES];
    (void)state;
    for (int try = 0; try < 3000; try++) {
        const size_t size = (size_t)1 << try % 4;
        const size_t most = nb_bitshuffle_block(size);
        size_t count = try % 3 ? most : random_word() % (most / 8) * 8 + 8;
        fill(values, count * size, size, try / 4 % 7);
        if (try % 5 == 0) /* two kinds in a block */
            fill(values, count * size / 2, size, try / 20 % 7);
        nb_bitshuffle(values, count, size, nb_plane_kernels_of(NB_ISA_AUTO), planes);
        nb_bitshuffle(values, count, size, nb_plane_kernels_of(NB_ISA_SCALAR), again);
        assert_memory_equal(planes, again, count * size);
        nb_bitshuffle(values, count, size, nb_plane_kernels_of(NB_ISA_AVX2), again);
        assert_memory_equal(planes, again, count * size);
        nb_bitshuffle(values, count, size, nb_plane_kernels_of(NB_ISA_SSE2), again);
        assert_memory_equal(planes, again, count * size);
        check_block(planes, count * size, count / 8);
    }
}

/** Runs and repeats that end anywhere near the end of a block, and long literals. */
static void ends_keep_to_the_format(void **state)
{
    static unsigned char planes[NB_PLANES_BYTES];
    (void)state;
    for (size_t n = 8; n <= 1024; n += 8)
        for (int kind = 0; kind < 6; kind++) {
            const size_t from = random_word() % n, to = from + random_word() % (n - from);
            for (size_t i = 0; i < n; i++)
                planes[i] = kind == 0 ? 0 : (unsigned char)random_word();
            memset(planes + from, kind, kind < 3 ? to - from : n - from);
            if (kind > 3 && n >= 64)
                memcpy(planes + n / 2, planes, n / 2);
            check_block(planes, n, n / 2);
        }
    for (size_t n = 8; n <= NB_PLANES_BYTES; n += 504) {
        for (size_t i = 0; i < n; i++)
            planes[i] = (unsigned char)(i * i >> 3 ^ i * 77);
        check_block(planes, n, n / 8);
    }
}

/** Where noise fills the low planes, the dark planes take next to nothing. */
static void dark_planes_are_short(void **state)
{
    static unsigned char values[NB_PLANES_BYTES], planes[NB_PLANES_BYTES], out[ROOM];
    const nb_plane_kernels *kernels = nb_plane_kernels_of(NB_ISA_AUTO);
    (void)state;
    for (size_t i = 0; i < NB_PLANES_BYTES; i += 2) {
        values[i] = (unsigned char)(random_word() & 7);
        values[i + 1] = 0;
    }
    nb_bitshuffle(values, NB_PLANES_BYTES / 2, 2, kernels, planes);
    assert_in_range(nb_planes_lz4(planes, NB_PLANES_BYTES, 512, kernels, out), 3 * 512,
                    3 * 512 + 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_back),
        cmocka_unit_test(ends_keep_to_the_format),
        cmocka_unit_test(dark_planes_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
