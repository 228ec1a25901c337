/* SPDX-License-Identifier: MIT */
/* Compares passes over rows, for every instruction set, with their definitions. */
#include "../support/check.h"

#include "image_truth.h"

enum { MAX_LENGTH = 71 };

typedef struct row_case {
    float row[MAX_LENGTH];
    uint8_t mask[MAX_LENGTH];
    int n;
} row_case;

static uint32_t next_random(uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    return *x >> 8;
}

/** Makes a row whose length may end anywhere in a vector, with values from 1e-6 to 1e6
 * and some special values. */
static row_case make_case(int trial)
{
    uint32_t x = (uint32_t)trial * 2654435761u + 1;
    row_case c;
    c.n = 1 + trial % MAX_LENGTH;
    for (int i = 0; i < MAX_LENGTH; i++) {
        double magnitude = pow(10, (double)(next_random(&x) % 1200) / 100 - 6);
        c.row[i] = (float)(next_random(&x) % 5 ? magnitude : -magnitude);
        c.mask[i] = next_random(&x) % 4 != 0;
    }
    if (trial % 3 == 0)
        c.row[trial % c.n] = INFINITY;
    if (trial % 7 == 0)
        c.row[(trial * 5) % c.n] = NAN;
    return c;
}

static uint16_t plain_u16(float value, double scale, double offset)
{
    double v = value * scale + offset;
    if (!(v > 0))
        return 0;
    return (uint16_t)floorf((float)((v > 65535 ? 65535.0 : v) + 0.5));
}

static uint8_t plain_u8(float value, double scale)
{
    double v = value * scale;
    return !(v > 0) ? 0 : v > 255 ? 255 : (uint8_t)v;
}

static void check_integers(const nb_image_kernels *kernels)
{
    for (int trial = 0; trial < 500; trial++) {
        row_case c = make_case(trial);
        const uint8_t *mask = trial % 2 ? c.mask : NULL;
        double scale = trial % 5 ? 0.37 * trial : 1;
        uint16_t wide[MAX_LENGTH + 1];
        uint8_t narrow[MAX_LENGTH + 1];
        wide[c.n] = 0x5a5a;
        narrow[c.n] = 0x5a;
        int told = kernels->u16(c.row, mask, c.n, scale, 39.7, wide), above = 0;
        kernels->u8(c.row, c.n, scale, narrow);
        for (int i = 0; i < c.n; i++) {
            float lit = mask && !mask[i] ? 0.0f : c.row[i];
            assert_int_equal(wide[i], plain_u16(lit, scale, 39.7));
            assert_int_equal(narrow[i], plain_u8(c.row[i], scale));
            above |= lit * scale + 39.7 > 65535;
        }
        assert_int_equal(told, above);
        assert_int_equal(wide[c.n], 0x5a5a); /* no byte after the row changes */
        assert_int_equal(narrow[c.n], 0x5a);
    }
}

static void check_sums(const nb_image_kernels *kernels)
{
    for (int trial = 1; trial < 500; trial++) {
        row_case c = make_case(trial);
        const uint8_t *mask = trial % 2 ? c.mask : NULL;
        long double all = 0, sum = 0, sum2 = 0, squares = 0, size = 0;
        double max = -INFINITY;
        int rendered = 0;
        nb_row_sums s, same;
        if (trial % 3 == 0 || trial % 7 == 0)
            continue; /* the sum of infinity and NaN is undefined */
        for (int i = 0; i < c.n; i++)
            all += c.row[i];
        for (int i = 0; i < c.n; i++) {
            long double d = c.row[i] - all / c.n, x = c.row[i];
            squares += d * d;
            size += fabsl(x);
            if (mask && !mask[i])
                continue;
            sum += x;
            sum2 += x * x;
            rendered++;
            max = fmax(max, (double)x);
        }
        kernels->sums(c.row, mask, c.n, &s);
        check_close(s.all, (double)all, 1e-14 * (double)size);
        check_close(s.sum, (double)sum, 1e-14 * (double)size);
        check_close(s.sum2, (double)sum2, 1e-14 * (double)sum2);
        check_close(s.squares, (double)squares, 1e-13 * (double)squares);
        assert_int_equal(s.rendered, rendered);
        assert_true(s.max == max);
        nb_image_kernels_scalar.sums(c.row, mask, c.n, &same);
        assert_memory_equal(&s, &same, sizeof s); /* the order of additions is the same */
    }
}

/* A large mean with small deviations, where sum2 - n mean^2 would lose all digits. */
static void check_flat(const nb_image_kernels *kernels)
{
    float row[MAX_LENGTH];
    nb_row_sums s;
    for (int i = 0; i < MAX_LENGTH; i++)
        row[i] = 1e6f + (float)(i % 2) * 0.0625f;
    kernels->sums(row, NULL, MAX_LENGTH, &s);
    check_ratio(s.squares, 0.0625 * 0.0625 * (36.0 * 35.0 / 71.0), 1e-9);
}

static void check_kernels(const nb_image_kernels *kernels)
{
    check_integers(kernels);
    check_sums(kernels);
    check_flat(kernels);
}

UNIT_TEST(scalar)
{
    check_kernels(&nb_image_kernels_scalar);
}

UNIT_TEST(base)
{
    check_kernels(&nb_image_kernels_base);
}

#ifdef __x86_64__
UNIT_TEST(avx2)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip_because("this processor has no AVX2");
    check_kernels(&nb_image_kernels_avx2);
}

UNIT_TEST(avx512)
{
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
        skip_because("this processor has no AVX-512");
    check_kernels(&nb_image_kernels_avx512);
}
#endif
