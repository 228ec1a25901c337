/* SPDX-License-Identifier: MIT */
/* Compares solvent masks, stored as bits, with a test of each point. */
#include "../support/check.h"
#include "factor_groups.h"

#include "../../src/base/memory.h"
#include "../../src/factors/sums.h"

static const double cell[6] = {9, 31, 41, 84, 103, 112};
static const int n[3] = {24, 60, 72};

/** Squared distance (A^2) from point a to the nearest image of point b. Both points are
 * in units of grid points. */
static double nearest(const double a[3], const double b[3])
{
    double A[9], best = INFINITY;
    nb_cell_axes(cell, A);
    for (int i = 0; i < 125; i++) {
        const int shift[3] = {i / 25 - 2, i / 5 % 5 - 2, i % 5 - 2};
        double d[3], r[3];
        for (int j = 0; j < 3; j++) {
            d[j] = (a[j] - b[j]) / n[j];
            d[j] += shift[j] - nearbyint(d[j]);
        }
        nb_transform(A, d, r);
        best = fmin(best, r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
    return best;
}

static int at(const nb_mask *m, int u, int v, int w)
{
    return nb_mask_at(m->bits + ((size_t)u * (size_t)n[1] + (size_t)v) * m->words, w);
}

UNIT_TEST(balls_and_widening_equal_their_definition)
{
    nb_ball balls[5];
    nb_mask mask, wide;
    nb_error err;
    uint64_t seed = 9;
    size_t count = 0, words;
    for (int i = 0; i < 5; i++) {
        balls[i].radius = 1.5 + 2 * test_random(&seed);
        for (int j = 0; j < 3; j++)
            balls[i].centre[j] = n[j] * test_random(&seed);
    }
    assert_int_equal(nb_mask_new(cell, n, &mask, &err), NB_OK);
    assert_int_equal(nb_mask_set_balls(&mask, balls, 5, 2, &err), NB_OK);
    for (int p = 0; p < n[0] * n[1] * n[2]; p++) {
        const double x[3] = {p / (n[1] * n[2]), p / n[2] % n[1], p % n[2]};
        int inside = 0;
        for (int i = 0; i < 5; i++)
            inside |= nearest(x, balls[i].centre) < balls[i].radius * balls[i].radius;
        count += (size_t)inside;
        assert_int_equal(at(&mask, (int)x[0], (int)x[1], (int)x[2]), inside);
    }
    assert_int_equal(nb_mask_count(&mask), count);
    assert_int_equal(nb_mask_new(cell, n, &wide, &err), NB_OK);
    words = (size_t)n[0] * (size_t)n[1] * mask.words;
    memcpy(wide.bits, mask.bits, words * sizeof *mask.bits);
    assert_int_equal(nb_mask_widen(&wide, 0.9, 2, &err), NB_OK);
    for (int p = 0; p < n[0] * n[1] * n[2]; p += 7) {
        const double x[3] = {p / (n[1] * n[2]), p / n[2] % n[1], p % n[2]};
        int inside = 0;
        for (int i = 0; i < 9 * 9 * 9 && !inside; i++) {
            const double y[3] = {x[0] + i / 81 - 4, x[1] + i / 9 % 9 - 4,
                                 x[2] + i % 9 - 4};
            inside = at(&mask, ((int)y[0] + n[0]) % n[0], ((int)y[1] + n[1]) % n[1],
                        ((int)y[2] + n[2]) % n[2]) &&
                     nearest(x, y) <= 0.81;
        }
        assert_int_equal(at(&wide, (int)x[0], (int)x[1], (int)x[2]), inside);
    }
    count = nb_mask_count(&wide);
    nb_mask_invert(&wide);
    assert_int_equal(nb_mask_count(&wide) + count, n[0] * n[1] * n[2]);
    nb_mask_free(&mask);
    nb_mask_free(&wide);
}
