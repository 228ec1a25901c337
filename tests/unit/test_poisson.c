/* SPDX-License-Identifier: MIT */
/* Counting noise: arithmetic and distribution; it depends only on seed, frame and
 * pixel. */
#include "../support/check.h"

#include "../support/products.h"
#include "../../src/image/noise_block.h"

/* --- arithmetic --- */

UNIT_TEST(exact_exp)
{
    for (int i = -70000; i <= 70000; i++) {
        double x = i * 0.00999, want = exp(x);
        check_below(fabs(nb_exact_exp(x) / want - 1), 1e-15);
    }
    assert_true(nb_exact_exp(0) == 1.0);
}

UNIT_TEST(exact_log)
{
    for (int i = -3000; i <= 3000; i++) {
        double x = pow(10, i * 0.1), near = 1 + i * 1e-7;
        double want = (double)logl(x), want_near = (double)logl(near);
        check_below(fabs(nb_exact_log(x) - want), 1e-15 * fabs(want));
        check_below(fabs(nb_exact_log(near) - want_near), 1e-15 * fabs(want_near));
    }
    assert_true(nb_exact_log(1) == 0.0);
}

UNIT_TEST(stirling_rest)
{
    const long double half_ln_2pi = 0.91893853320467274178L;
    for (int k = 1; k < 2000; k++) {
        long double want =
            lgammal(k + 1.0L) - (k * logl(k) - k + half_ln_2pi + logl(k) / 2);
        check_close(nb_stirling_rest(k), (double)want, 5e-14);
    }
}

/* Philox4x32-10's published known answers (Random123, kat_vectors). */
UNIT_TEST(philox_answers)
{
    static const uint32_t want[2][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    nb_philox_words zero = nb_philox(0, 0, 0, 0);
    nb_philox_words pi =
        nb_philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x13198a2e, 0x03707344);
    assert_memory_equal(zero.w, want[0], sizeof zero.w);
    assert_memory_equal(pi.w, want[1], sizeof pi.w);
}

UNIT_TEST(uniform_is_open)
{
    assert_true(nb_uniform52(0, 0) == ldexp(1, -53));
    assert_true(nb_uniform52(UINT32_MAX, UINT32_MAX) == 1 - ldexp(1, -53));
    assert_true(nb_uniform52(0x80000000, 0) == 0.5 + ldexp(1, -53));
    assert_true(nb_uniform52(0, 1 << 12) == 3 * ldexp(1, -53));
}

/* --- distribution --- */

static double ln_probability(double mean, double k)
{
    return (double)(-(long double)mean + k * logl(mean) - lgammal(k + 1.0L));
}

/** Chi-square of `draws` deviates against exact probabilities, as a normal deviate (Wilson and
 * Hilferty); neighbouring k share a bin until 25 are expected there. */
static double chi_square_z(double mean, int draws, uint64_t seed)
{
    int width = (int)(mean + 12 * sqrt(mean) + 40), bins = 0, observed = 0;
    int *count = calloc((size_t)width, sizeof *count);
    double chi = 0, expected = 0, left = draws, cube;
    assert_non_null(count);
    for (int i = 0; i < draws; i++) {
        nb_poisson_key key = {seed, (uint64_t)i, 0};
        double k = nb_poisson(mean, &key);
        assert_true(k >= 0 && k < width && k == floor(k));
        count[(int)k]++;
    }
    for (int k = 0; k < width; k++) {
        expected += draws * exp(ln_probability(mean, k));
        observed += count[k];
        if ((expected >= 25 && left - expected >= 25) || k == width - 1) {
            if (k == width - 1)
                expected = left;
            if (expected > 0)
                chi += (observed - expected) * (observed - expected) / expected;
            left -= expected;
            expected = 0;
            observed = 0;
            bins++;
        }
    }
    free(count);
    if (bins < 2)
        return 0;
    cube = cbrt(chi / (bins - 1));
    return (cube - (1 - 2.0 / (9.0 * (bins - 1)))) / sqrt(2.0 / (9.0 * (bins - 1)));
}

UNIT_TEST(chi_square)
{
    static const double means[] = {0.01, 0.1,  0.5, 1,  2,  3.7, 5,   8,   11,   11.999,
                                   12,   12.5, 14,  17, 25, 50,  100, 500, 1000, 10000};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        /* more draws to find an error of a few percent in the tails */
        int draws = means[i] < NB_POISSON_SMALL ? 200000 : 1000000;
        double z = chi_square_z(means[i], draws, 1000 + i);
        if (!(fabs(z) < 4)) /* 20 tests: one of 800 choices of seeds fails by chance */
            fail_msg("mean %g: chi-square is %.2f standard deviations off", means[i], z);
    }
}

/** Compares mean and variance with the exact values, in standard errors. */
static void moments_of(double mean, int draws)
{
    double sum = 0, sum2 = 0, shift = floor(mean), m, var;
    for (int i = 0; i < draws; i++) {
        nb_poisson_key key = {77, (uint64_t)i, 3};
        double d = nb_poisson(mean, &key) - shift;
        sum += d;
        sum2 += d * d;
    }
    m = sum / draws;
    var = sum2 / draws - m * m;
    if (!(fabs(m - (mean - shift)) < 4 * sqrt(mean / draws)))
        fail_msg("mean %g: off by %g", mean, m - (mean - shift));
    if (!(fabs(var / mean - 1) < 4 * sqrt((2 + 1 / mean) / draws)))
        fail_msg("variance of mean %g: ratio %g", mean, var / mean);
}

UNIT_TEST(moments)
{
    for (double mean = 0.001; mean < 2e10; mean *= 10)
        moments_of(mean, 100000);
    moments_of(1e9, 100000);
    moments_of(1.0001e9, 100000);
}

UNIT_TEST(unusual_means)
{
    const nb_poisson_key key = {1, 2, 3};
    assert_true(nb_poisson(0, &key) == 0);
    assert_true(nb_poisson(-5, &key) == 0);
    assert_true(nb_poisson(NAN, &key) == 0);
    assert_true(isinf(nb_poisson(INFINITY, &key)));
    check_ratio(nb_poisson(1e38, &key), 1e38, 1e-15);
    assert_true(nb_poisson(5e-324, &key) == 0);
    assert_true(nb_poisson(1e-30, &key) == 0);
}

/* --- images --- */

enum { FAST = 203, SLOW = 330 };

static nb_scene scene_of(int fast, int slow)
{
    nb_scene sc;
    memset(&sc, 0, sizeof sc);
    sc.raster.columns = fast;
    sc.raster.rows = slow;
    sc.raster.roi.fmax = fast - 1;
    sc.raster.roi.smax = slow - 1;
    return sc;
}

/** Means of every kind in one image. */
static void fill_means(float *image, int pixels)
{
    static const float sizes[] = {0, 1e-3f, 1, 5, 12, 30, 1e3f, 1e5f, 3e9f, 11.9999f, 12};
    for (int i = 0; i < pixels; i++)
        image[i] = sizes[i % 11] * (i % 7 < 3 ? 1.0f : 1.0f + (float)(i % 1000) / 1000);
}

static uint16_t expected_adu(float mean, int64_t seed, uint32_t frame, int pixel,
                             double adc)
{
    nb_poisson_key key = {(uint64_t)seed, (uint64_t)pixel, frame};
    double v = floor(nb_poisson(mean, &key) + adc + 0.5);
    return (uint16_t)(v > 65535 ? 65535 : v < 0 ? 0 : v);
}

/** Tests means of 12 or more, which need the rejection method with several draws; pixels
 * with numbers on both sides of 2^32; and means above every limit. */
static void bright_block_equals_single(const nb_image_kernels *kernels)
{
    float mean[64];
    for (int trial = 0; trial < 300; trial++) {
        nb_poisson_key first = {
            7, 4294967296u - 32 + (trial % 3 ? (uint64_t)trial << 7 : 0), (uint32_t)trial};
        uint16_t adu[64];
        for (int i = 0; i < 64; i++)
            mean[i] = 12 * powf(2500, (float)((i * 37 + trial) % 64) / 64);
        mean[trial % 64] = trial % 2 ? 2e9f : INFINITY;
        kernels->noise(mean, &first, 0, adu);
        for (int i = 0; i < 64; i++) {
            nb_poisson_key key = {7, first.pixel + (uint64_t)i, (uint32_t)trial};
            double want = nb_poisson(mean[i], &key);
            assert_int_equal(adu[i], want < 65535 ? want : 65535);
        }
    }
}

static void block_equals_single(const nb_image_kernels *kernels)
{
    float mean[64];
    for (int trial = 0; trial < 200; trial++) {
        nb_poisson_key first = {5, ((uint64_t)trial << 31) + 17, 9};
        uint16_t adu[64];
        for (int i = 0; i < 64; i++)
            mean[i] = trial % 4 == 0 ? 0 : (float)(trial % 13) + (float)i / 64;
        mean[trial % 64] = trial % 3 ? 1e4f : NAN;
        kernels->noise(mean, &first, 0, adu);
        for (int i = 0; i < 64; i++) {
            nb_poisson_key key = {5, first.pixel + (uint64_t)i, 9};
            assert_int_equal(adu[i], nb_poisson(mean[i], &key));
        }
    }
    bright_block_equals_single(kernels);
}

UNIT_TEST(block_base)
{
    block_equals_single(&nb_image_kernels_base);
}

#ifdef __x86_64__
UNIT_TEST(block_avx2)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip_because("this processor has no AVX2");
    block_equals_single(&nb_image_kernels_avx2);
}

UNIT_TEST(block_avx512)
{
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
        skip_because("this processor has no AVX-512");
    block_equals_single(&nb_image_kernels_avx512);
}
#endif

UNIT_TEST(keyed_by_seed_frame_pixel)
{
    nb_scene sc = scene_of(FAST, SLOW);
    const noise_options options = {-12345, 6, 40, 1};
    static float image[FAST * SLOW];
    static uint16_t out[FAST * SLOW];
    int64_t overloads, want = 0;
    fill_means(image, FAST * SLOW);
    assert_int_equal(make_noise(image, &sc, &options, out, &overloads, NULL), NB_OK);
    for (int i = 0; i < FAST * SLOW; i++) {
        assert_int_equal(out[i], expected_adu(image[i], -12345, 6, i, 40));
        want += out[i] == 65535; /* no mean of this image is near the limit */
    }
    assert_int_equal(overloads, want);
    assert_true(want > 1000);
}

UNIT_TEST(any_thread_count)
{
    nb_scene sc = scene_of(FAST, SLOW);
    noise_options options = {8, 0, 40, 1};
    static float image[FAST * SLOW];
    static uint16_t one[FAST * SLOW], more[FAST * SLOW];
    fill_means(image, FAST * SLOW);
    assert_int_equal(make_noise(image, &sc, &options, one, NULL, NULL), NB_OK);
    for (options.threads = 0; options.threads < 6; options.threads++) {
        memset(more, 0xff, sizeof more);
        assert_int_equal(make_noise(image, &sc, &options, more, NULL, NULL), NB_OK);
        assert_memory_equal(one, more, sizeof one);
    }
}

/* A region of interest keeps the pixels inside; outside they are 0, not the offset. */
UNIT_TEST(roi_crops)
{
    nb_scene sc = scene_of(FAST, SLOW);
    const noise_options options = {8, 0, 40, 2};
    static float image[FAST * SLOW];
    static uint16_t whole[FAST * SLOW], part[FAST * SLOW];
    fill_means(image, FAST * SLOW);
    assert_int_equal(make_noise(image, &sc, &options, whole, NULL, NULL), NB_OK);
    sc.raster.roi.fmin = 5;
    sc.raster.roi.fmax = 131;
    sc.raster.roi.smin = 9;
    sc.raster.roi.smax = 200;
    assert_int_equal(make_noise(image, &sc, &options, part, NULL, NULL), NB_OK);
    for (int i = 0; i < FAST * SLOW; i++) {
        int f = i % FAST, s = i / FAST, inside = f >= 5 && f <= 131 && s >= 9 && s <= 200;
        assert_int_equal(part[i], inside ? whole[i] : 0);
    }
}

UNIT_TEST(seeds_and_frames_differ)
{
    nb_scene sc = scene_of(100, 100);
    noise_options options = {8, 0, 0, 1};
    static float image[10000];
    static uint16_t a[10000], b[10000], c[10000];
    int same_seed = 0, same_frame = 0;
    for (int i = 0; i < 10000; i++)
        image[i] = 100;
    make_noise(image, &sc, &options, a, NULL, NULL);
    options.frame = 1;
    make_noise(image, &sc, &options, b, NULL, NULL);
    options.frame = 0;
    options.seed += (int64_t)1 << 32;
    make_noise(image, &sc, &options, c, NULL, NULL);
    for (int i = 0; i < 10000; i++) {
        same_frame += a[i] == b[i];
        same_seed += a[i] == c[i];
    }
    /* two independent deviates of mean 100 agree with probability 0.028 */
    assert_in_range(same_frame, 200, 370);
    assert_in_range(same_seed, 200, 370);
}

/* Neighbouring pixels are independent: the mean product of their deviations is near 0. */
UNIT_TEST(neighbours_uncorrelated)
{
    nb_scene sc = scene_of(300, 300);
    noise_options options = {99, 0, 0, 1};
    static float image[90000];
    static uint16_t out[90000];
    for (int step = 0; step < 2; step++) {
        int by = step ? 300 : 1, n = 90000 - by;
        double sum = 0, mean = 7;
        for (int i = 0; i < 90000; i++)
            image[i] = (float)mean;
        make_noise(image, &sc, &options, out, NULL, NULL);
        for (int i = 0; i < n; i++)
            sum += (out[i] - mean) * (out[i + by] - mean);
        check_below(fabs(sum / n) / mean, 4 / sqrt(n));
    }
}

UNIT_TEST(offset_and_limits)
{
    int overload;
    assert_int_equal(nb_noise_adu(7, 40, &overload), 47);
    assert_int_equal(nb_noise_adu(7, 40.5, &overload), 48); /* a half is rounded up */
    assert_int_equal(nb_noise_adu(7, 40.4999, &overload), 47);
    assert_int_equal(nb_noise_adu(7, -40, &overload), 0);
    assert_int_equal(nb_noise_adu(65495, 40, &overload), 65535);
    assert_int_equal(overload, 0);
    assert_int_equal(nb_noise_adu(65496, 40, &overload), 65535);
    assert_int_equal(overload, 1);
    assert_int_equal(nb_noise_adu(INFINITY, 40, &overload), 65535);
    assert_int_equal(overload, 1);
}

UNIT_TEST(clipped_tail_is_counted_once)
{
    nb_scene sc = scene_of(70, 3);
    const noise_options options = {1, 0, 70000, 1};
    static float image[210];
    static uint16_t out[210];
    int64_t overloads;
    make_noise(image, &sc, &options, out, &overloads, NULL);
    assert_int_equal(overloads, 210);
}
