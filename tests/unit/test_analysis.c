/* SPDX-License-Identifier: MIT */
/* The comparison of images: percentiles, peaks, their pairing, radial profiles, failures. */
#include "scratch.h"

#include "../../src/analysis/analysis.h"
#include "../../src/base/memory.h"

/* --- percentiles --- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

UNIT_TEST(percentiles_of_sorted)
{
    double values[101], sorted[101];
    uint32_t random = 1;
    for (size_t n = 1; n <= 101; n++)
        for (int p = 0; p <= 100; p += 10) {
            double at = p / 100.0 * (double)(n - 1);
            size_t k = (size_t)at;
            for (size_t i = 0; i < n; i++) /* many equal values */
                values[i] = sorted[i] = next_random(&random) % 20;
            qsort(sorted, n, sizeof *sorted, ascending);
            check_close(nb_percentile_of(values, n, p),
                        sorted[k] +
                            (at - (double)k) *
                                ((k + 1 < n ? sorted[k + 1] : sorted[k]) - sorted[k]),
                        1e-12);
        }
    assert_true(isnan(nb_percentile_of(values, 0, 50)));
}

UNIT_TEST(percentiles_of_ordered_values_are_fast)
{
    enum { N = 1000000 };
    double *values = malloc(N * sizeof *values);
    assert_non_null(values);
    for (int order = 0; order < 3; order++) { /* rising, falling, flat: no quadratic time */
        for (int i = 0; i < N; i++)
            values[i] = order == 0 ? i : order == 1 ? N - i : 5;
        check_close(nb_percentile_of(values, N, 25), order == 2 ? 5 : N / 4.0, 1);
    }
    free(values);
}

/* --- pairing --- */

/** Pairs the two nearest spots that have no partner, again and again. */
static void pair_slowly(const nb_spot_list *a, const nb_spot_list *b, double gate,
                        int *partner)
{
    unsigned taken = 0;
    for (int i = 0; i < a->count; i++)
        partner[i] = -1;
    for (int left = a->count; left > 0; left--) {
        double least = INFINITY;
        int best = -1, of = -1;
        for (int i = 0; i < a->count; i++)
            for (int k = 0; k < b->count && partner[i] < 0; k++) {
                double d =
                    hypot(a->spots[i].x - b->spots[k].x, a->spots[i].y - b->spots[k].y);
                if (d <= gate && d < least && !(taken >> k & 1)) {
                    least = d;
                    best = i;
                    of = k;
                }
            }
        if (best < 0)
            return;
        partner[best] = of;
        taken |= 1u << of;
    }
}

UNIT_TEST(the_nearest_peaks_pair_first)
{
    nb_spot spots[2][7];
    uint32_t random = 7;
    for (int round = 0; round < 2000; round++) {
        nb_spot_list a = {spots[0], (int)(next_random(&random) % 8)};
        nb_spot_list b = {spots[1], (int)(next_random(&random) % 8)};
        double gate = 0.5 + next_random(&random) % 4;
        int partner[7], want[7];
        nb_error err = {0};
        for (int i = 0; i < 14; i++) {
            nb_spot *s = &spots[i / 7][i % 7];
            s->x = next_random(&random) % 500000 / 1e5; /* crowded: many conflicts */
            s->y = next_random(&random) % 500000 / 1e5;
        }
        assert_int_equal(nb_spots_match(&a, &b, gate, partner, &err), NB_OK);
        pair_slowly(&a, &b, gate, want);
        assert_memory_equal(partner, want, (size_t)a.count * sizeof *want);
    }
}

UNIT_TEST(many_peaks_pair_quickly)
{
    enum { SIDE = 200, N = SIDE * SIDE };
    nb_spot *spots = calloc(2 * N, sizeof *spots);
    int *partner = calloc(N, sizeof *partner);
    nb_spot_list a = {spots, N}, b = {spots + N, N};
    nb_error err = {0};
    assert_non_null(spots);
    assert_non_null(partner);
    for (int i = 0; i < N; i++) {
        a.spots[i].x = 5 * (i % SIDE);
        a.spots[i].y = 5 * (i / SIDE);
        b.spots[N - 1 - i] = a.spots[i];
        b.spots[N - 1 - i].x += 0.5;
    }
    assert_int_equal(nb_spots_match(&a, &b, 2, partner, &err), NB_OK);
    for (int i = 0; i < N; i++)
        assert_int_equal(partner[i], N - 1 - i);
    free(spots);
    free(partner);
}

/* --- peaks --- */

UNIT_TEST(peaks_of_a_plateau)
{
    float image[9 * 9] = {0};
    const nb_pair pair = {.fast = 9, .slow = 9, .roi = {0, 8, 0, 8}};
    nb_compare_options o;
    nb_spot_list list;
    nb_error err = {0};
    nb_compare_defaults(&o);
    o.peak_percentile = 50;
    o.peak_exclusion = 2;
    image[4 * 9 + 4] = image[4 * 9 + 5] = image[5 * 9 + 4] =
        7;        /* equal: the first pixel counts */
    image[0] = 9; /* on the edge */
    image[1 * 9 + 7] = 8;
    assert_int_equal(nb_spots_find(&pair, image, &o, &list, &err), NB_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.spots[0].fast, 7);
    assert_int_equal(list.spots[0].slow, 1);
    check_close(list.spots[0].x, 7, 1e-12);
    assert_int_equal(list.spots[1].fast, 4);
    assert_int_equal(list.spots[1].slow, 4);
    check_close(list.spots[1].x, 4.5, 1e-12);
    nb_free(list.spots);
    o.peak_count = 1; /* one peak, and others of nearly the same brightness */
    assert_int_equal(nb_spots_find(&pair, image, &o, &list, &err), NB_OK);
    assert_int_equal(list.count, 1);
    nb_free(list.spots);
    image[4 * 9 + 4] = 7.9995f;
    assert_int_equal(nb_spots_find(&pair, image, &o, &list, &err), NB_OK);
    assert_int_equal(list.count, 2);
    nb_free(list.spots);
}

/* --- whole comparisons --- */

static nb_image image_of(float *pixels, int fast, int slow)
{
    return (nb_image){.fast = fast,
                      .slow = slow,
                      .pixels = pixels,
                      .format = "float",
                      .centre = {NAN, NAN}};
}

static nb_difference compared(float *a, float *b, int fast, int slow)
{
    nb_image x = image_of(a, fast, slow), y = image_of(b, fast, slow);
    nb_difference d;
    nb_error err = {0};
    if (nb_image_compare(&x, &y, NULL, &d, &err))
        fail_msg("%s", err.message);
    return d;
}

UNIT_TEST(flat_images)
{
    float a[16], b[16];
    nb_difference d;
    for (int i = 0; i < 16; i++)
        a[i] = b[i] = 0;
    d = compared(a, b, 4, 4); /* equal and dark: no correlation, no peaks */
    check_close(d.correlation, 1, 0);
    check_close(d.sum_ratio, 1, 0);
    check_close(d.peaks_fraction, 1, 0);
    check_close(d.relative[4], 0, 0);
    assert_string_equal(d.verdict, "the images are equal");
    for (int i = 0; i < 16; i++)
        a[i] = 1;
    d = compared(a, b, 4, 4);
    assert_true(isnan(d.correlation));
    assert_true(isinf(d.sum_ratio));
    assert_true(isnan(d.relative[4]));
}

UNIT_TEST(not_finite)
{
    float a[16], b[16];
    nb_difference d;
    for (int i = 0; i < 16; i++)
        a[i] = b[i] = (float)i;
    a[9] = INFINITY;
    b[9] = b[11] = NAN;
    d = compared(a, b, 4, 4);
    assert_int_equal(d.nonfinite_a, 1);
    assert_int_equal(d.nonfinite_b, 2);
    assert_int_equal(d.nonfinite_fast, 1);
    assert_int_equal(d.nonfinite_slow, 2);
    assert_true(isnan(d.correlation) && isnan(d.rmse) && isnan(d.sum_ratio));
    assert_true(isnan(d.peaks_fraction) && isnan(d.radial_difference) && isnan(d.maxrel));
    for (int i = 0; i < NB_RELATIVE_COUNT; i++)
        assert_true(isnan(d.relative[i]));
}

UNIT_TEST(refused)
{
    float a[16] = {0};
    nb_image x = image_of(a, 4, 4), y = image_of(a, 2, 8);
    nb_compare_options o;
    nb_difference d;
    nb_error err = {0};
    assert_int_equal(nb_image_compare(&x, &y, NULL, &d, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "differ in size"));
    nb_compare_defaults(&o);
    o.roi_set = 1;
    o.roi[1] = o.roi[3] = 4;
    assert_int_equal(nb_image_compare(&x, &x, &o, &d, &err), NB_ERR_INPUT);
    nb_compare_defaults(&o);
    o.gate_px = NAN;
    assert_int_equal(nb_image_compare(&x, &x, &o, &d, &err), NB_ERR_INPUT);
    nb_compare_defaults(&o);
    o.floor = 2;
    assert_int_equal(nb_image_compare(&x, &x, &o, &d, &err), NB_ERR_INPUT);
    nb_compare_defaults(&o);
    o.centre[0] = 1e12;
    assert_int_equal(nb_image_compare(&x, &x, &o, &d, &err), NB_ERR_INPUT);
}

/** Each allocation fails in turn: an error, and no leak (checked by the sanitizers). */
SCRATCH_TEST(memory_fails)
{
    float a[32 * 32], b[32 * 32];
    nb_image x = image_of(a, 32, 32), y = image_of(b, 32, 32);
    scratch *s = *state;
    const char *path = scratch_path(s, "d.png");
    nb_difference d;
    uint32_t random = 3;
    int failures = 0;
    for (int i = 0; i < 32 * 32; i++) {
        a[i] = (float)(next_random(&random) % 1000);
        b[i] = (float)(next_random(&random) % 1000);
    }
    for (long n = 1; n < 200; n++) {
        nb_error err = {0};
        nb_status st;
        nb_alloc_fail_after(n);
        st = nb_image_compare(&x, &y, NULL, &d, &err);
        if (!st)
            st = nb_difference_picture(&x, &y, NULL, NULL, path, &err);
        nb_alloc_fail_after(0);
        if (st == NB_OK || st == NB_ERR_UNSUPPORTED)
            break;
        assert_int_equal(st, NB_ERR_NOMEM);
        failures++;
    }
    check_above(failures, 10);
    check_below(failures, 100);
}

/** Smooths a parabola with noise, a spot, a point without weight and a gap. */
UNIT_TEST(smooth_curves)
{
    enum { N = 101 };
    nb_curve_point p[N];
    double smooth[N];
    nb_error err;
    for (int i = 0; i < N; i++)
        p[i] = (nb_curve_point){i, 3 + 0.1 * i - 0.01 * i * i + 0.01 * (i % 3 - 1), 0.01};
    p[50].y += 30;
    p[20] = (nb_curve_point){20, 1e6, 0};
    for (int i = 70; i < 90; i++)
        p[i].sigma = 0;
    assert_int_equal(nb_smooth_curve(p, N, 8, smooth, &err), NB_OK);
    for (int i = 0; i < N; i++)
        if (i >= 70 && i < 90) /* the gap, far from both sides */
            assert_true(isnan(smooth[i]) || fabs(i - 79.5) > 3);
        else
            check_below(fabs(smooth[i] - (3 + 0.1 * i - 0.01 * i * i)), 0.015);
    nb_alloc_fail_after(1);
    assert_int_equal(nb_smooth_curve(p, N, 8, smooth, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
}
