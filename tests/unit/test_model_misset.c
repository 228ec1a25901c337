/* SPDX-License-Identifier: MIT */
/* Random numbers, and random rotations. */
#include "../support/check.h"
#include "../support/laws.h"

#include "base/philox.h"
#include "model/crystal.h"

/** Checks that R R^T = 1 and det R = 1. */
static void check_rotation(const nb_mat3 *R)
{
    const double *m = R->m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            check_close(m[3 * i] * m[3 * j] + m[3 * i + 1] * m[3 * j + 1] +
                            m[3 * i + 2] * m[3 * j + 2],
                        i == j, 1e-13);
    check_close(nb_dot(nb_v3(m[0], m[1], m[2]),
                       nb_cross(nb_v3(m[3], m[4], m[5]), nb_v3(m[6], m[7], m[8]))),
                1, 1e-13);
}

static double rotation_angle(const nb_mat3 *R)
{
    double c = (R->m[0] + R->m[4] + R->m[8] - 1) / 2;
    return acos(c > 1 ? 1 : c < -1 ? -1 : c);
}

/** The rotation about x, then y, then z. */
static nb_mat3 from_angles(const double a[3])
{
    nb_vec3 x = nb_rotate_xyz(nb_v3(1, 0, 0), a[0], a[1], a[2]);
    nb_vec3 y = nb_rotate_xyz(nb_v3(0, 1, 0), a[0], a[1], a[2]);
    nb_vec3 z = nb_rotate_xyz(nb_v3(0, 0, 1), a[0], a[1], a[2]);
    return (nb_mat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

/* The published check of Park and Miller: from seed 1 the 10000th number is 1043618065.
 * The shuffle of ran1 delays each number by some calls, so the test uses the state of the
 * generator. */
UNIT_TEST(minimal_standard)
{
    nb_ran1 rng;
    nb_ran1_seed(&rng, 1); /* draws 8 + 32 numbers */
    for (int i = 40; i < 10000; i++)
        nb_ran1_next(&rng);
    assert_int_equal(rng.seed, 1043618065);
}

/* Compares many numbers, from many seeds, with a second version of the shuffle that uses
 * plain arrays. */
UNIT_TEST(ran1_sequence)
{
    static const int64_t seeds[] = {1, 0, -5, 2, 12345, 12345678, 2147483646};
    for (int k = 0; k < 7; k++) {
        int64_t x = seeds[k] > 0 ? seeds[k] : 1, table[32], y;
        nb_ran1 rng;
        nb_ran1_seed(&rng, seeds[k]);
        for (int i = 39; i >= 0; i--) {
            x = x * 16807 % 2147483647;
            if (i < 32)
                table[i] = x;
        }
        y = table[0];
        for (int i = 0; i < 500; i++) {
            float expected, got = nb_ran1_next(&rng);
            int j;
            x = x * 16807 % 2147483647;
            j = (int)(y / 67108864); /* 1 + (2^31 - 2)/32 */
            y = table[j];
            table[j] = x;
            expected = (float)((double)y * (1.0 / 2147483647));
            expected = expected > 1 - 1.2e-7f ? 1 - 1.2e-7f : expected;
            check_close(got, expected, 0);
            assert_true(got > 0 && got < 1);
        }
    }
}

UNIT_TEST(ran1_is_uniform)
{
    enum { BINS = 50, DRAWS = 50000 };
    int counts[BINS] = {0};
    double chi2 = 0;
    nb_ran1 rng;
    nb_ran1_seed(&rng, 42);
    for (int i = 0; i < DRAWS; i++)
        counts[(int)(nb_ran1_next(&rng) * BINS)]++;
    for (int i = 0; i < BINS; i++)
        chi2 += pow(counts[i] - DRAWS / BINS, 2) / (DRAWS / BINS);
    check_below(chi2, nb_chi2_limit(BINS - 1));
}

UNIT_TEST(mosaic_domains)
{
    enum { COUNT = 5000 };
    static nb_mat3 U[COUNT], again[COUNT];
    const double spread = 2 * NB_DEG;
    double cube = 0;
    nb_vec3 mean = {0, 0, 0};
    nb_mosaic_rotations(spread, 12345678, COUNT, U);
    for (int i = 0; i < COUNT; i++) {
        double angle = rotation_angle(&U[i]);
        nb_vec3 axis = nb_unit(
            nb_v3(U[i].m[7] - U[i].m[5], U[i].m[2] - U[i].m[6], U[i].m[3] - U[i].m[1]));
        check_rotation(&U[i]);
        check_below(angle, spread * (1 + 1e-6));
        /* if r is uniform, 1 - r^2 has the mean 2/3 */
        cube += pow(angle / spread, 3) / COUNT;
        mean = nb_add(mean, nb_scale(1.0 / COUNT, axis));
    }
    for (int i = 0; i < 9; i++)
        check_close(U[0].m[i], i % 4 == 0, 0);
    check_close(cube, 2.0 / 3, 4 * 0.298 / sqrt(COUNT));
    check_below(nb_norm(mean), 4 / sqrt(COUNT));
    /* the sequence depends on the seed alone; fewer domains are the first domains */
    nb_mosaic_rotations(spread, 12345678, 7, again);
    assert_memory_equal(again, U, 7 * sizeof *U);
    nb_mosaic_rotations(spread, 99, 7, again);
    assert_memory_not_equal(again + 1, U + 1, 6 * sizeof *U);
    nb_mosaic_rotations(spread, 1, 1, again);
    assert_memory_equal(again, U, sizeof *U);
}

/* Domain 1 is made from numbers 4, 5 and 6 of ran1, in single precision as in
 * nanoBragg. */
UNIT_TEST(first_domain_by_hand)
{
    nb_ran1 rng;
    nb_mat3 U[2], expected;
    double r[6], s;
    float angle;
    nb_ran1_seed(&rng, 12345);
    for (int i = 0; i < 6; i++)
        r[i] = 2.0 * nb_ran1_next(&rng) - 1.0;
    s = sqrt(1 - r[4] * r[4]);
    angle = (float)(0.5 * NB_DEG) * powf((float)(1 - r[5] * r[5]), (float)(1.0 / 3));
    expected = nb_axis_rotation(nb_v3(s * sin(NB_PI * r[3]), s * cos(NB_PI * r[3]), r[4]),
                                angle);
    nb_mosaic_rotations(0.5 * NB_DEG, 12345, 2, U);
    for (int i = 0; i < 9; i++)
        check_close(U[1].m[i], expected.m[i], 1e-16);
}

UNIT_TEST(angles_there_and_back)
{
    for (int i = 0; i < 500; i++) {
        double a[3] = {fmod(i * 0.7, 6.2) - 3.1, fmod(i * 0.31, 3.0) - 1.5,
                       fmod(i * 1.3, 6.2) - 3.1};
        double b[3];
        nb_mat3 U = from_angles(a);
        check_rotation(&U);
        nb_rotation_angles(&U, b);
        for (int k = 0; k < 3; k++)
            check_close(b[k], a[k], 1e-12);
    }
}

UNIT_TEST(axis_rotation)
{
    nb_mat3 R = nb_axis_rotation(nb_v3(0, 0, 1), NB_PI / 2);
    nb_vec3 v = nb_apply(&R, nb_v3(1, 0, 0)), axis = nb_unit(nb_v3(1, 2, 3)), w;
    check_vector(v, 0, 1, 0, 1e-15); /* right-handed */
    R = nb_axis_rotation(axis, 0.7);
    check_rotation(&R);
    check_close(rotation_angle(&R), 0.7, 1e-14);
    v = nb_apply(&R, axis);
    check_vector(v, axis.x, axis.y, axis.z, 1e-15);
    v = nb_apply(&R, nb_v3(0.3, -1, 2));
    w = nb_rotate_about(nb_v3(0.3, -1, 2), axis, 0.7);
    check_vector(v, w.x, w.y, w.z, 1e-15);
    v = nb_rotate_xyz(nb_v3(0, 0, 1), NB_PI / 2, 0, 0);
    check_vector(v, 0, -1, 0, 1e-15);
    v = nb_rotate_xyz(nb_v3(0, 0, 1), 0, NB_PI / 2, 0);
    check_vector(v, 1, 0, 0, 1e-15);
    v = nb_rotate_xyz(nb_v3(1, 0, 0), 0, 0, NB_PI / 2);
    check_vector(v, 0, 1, 0, 1e-15);
}

enum { SEEDS = 20000, CELLS = 20, SIDE = 8, CRYSTALS = 10 };

static double chi2_of(const int *counts, int cells, int all)
{
    double chi2 = 0, expected = (double)all / cells;
    for (int i = 0; i < cells; i++)
        chi2 += pow(counts[i] - expected, 2) / expected;
    return chi2;
}

static int cell_of(double u, int cells)
{
    return u >= 1 ? cells - 1 : u <= 0 ? 0 : (int)(u * cells);
}

/** Numbers of rotations in cells (bins) of equal probability. For rotations uniform over
 * SO(3) the angle has the density (1 - cos t)/pi, and the axis and each turned axis of
 * the crystal are uniform on the sphere. */
typedef struct tally {
    int all, angle[CELLS], axis[CELLS], height[3][CELLS], azimuth[3][CELLS];
    /* bins by the z component of the turned axis c and by the turn of the crystal about
     * c */
    int joint[SIDE * SIDE];
} tally;

static void count(const nb_mat3 *U, tally *to)
{
    const double *m = U->m, t = rotation_angle(U);
    to->all++;
    to->angle[cell_of((t - sin(t)) / NB_PI, CELLS)]++;
    to->axis[cell_of((m[3] - m[1]) / (2 * sin(t)) / 2 + 0.5, CELLS)]++;
    for (int k = 0; k < 3; k++) { /* column k: the turned axis k */
        to->height[k][cell_of((m[6 + k] + 1) / 2, CELLS)]++;
        to->azimuth[k][cell_of(atan2(m[3 + k], m[k]) / (2 * NB_PI) + 0.5, CELLS)]++;
    }
    to->joint[SIDE * cell_of((m[8] + 1) / 2, SIDE) +
              cell_of(atan2(m[7], m[6]) / (2 * NB_PI) + 0.5, SIDE)]++;
}

static void check_uniform(const tally *of)
{
    const double limit = nb_chi2_limit(CELLS - 1);
    check_below(chi2_of(of->angle, CELLS, of->all), limit);
    check_below(chi2_of(of->axis, CELLS, of->all), limit);
    check_below(chi2_of(of->joint, SIDE * SIDE, of->all), nb_chi2_limit(SIDE * SIDE - 1));
    for (int k = 0; k < 3; k++) {
        check_below(chi2_of(of->height[k], CELLS, of->all), limit);
        check_below(chi2_of(of->azimuth[k], CELLS, of->all), limit);
    }
}

/** Rotation from one orientation to the other, in axes of the crystal. */
static nb_mat3 between(const nb_mat3 *from, const nb_mat3 *to)
{
    nb_mat3 out;
    for (int i = 0; i < 9; i++)
        out.m[i] = from->m[i / 3] * to->m[i % 3] + from->m[3 + i / 3] * to->m[3 + i % 3] +
                   from->m[6 + i / 3] * to->m[6 + i % 3];
    return out;
}

/** The orientation of each of ten crystals is uniform over many frames. So are the
 * rotations from crystal to crystal, and from frame to frame. */
UNIT_TEST(random_misset_is_uniform)
{
    static tally each[CRYSTALS], pairs, frames;
    nb_mat3 U[CRYSTALS], before = {{0}}, apart;
    for (int k = 0; k < SEEDS; k++) {
        for (int i = 0; i < CRYSTALS; i++) {
            double a[3];
            assert_int_equal(nb_misset_random(nb_series_seed(1, k), i, a, NULL), NB_OK);
            U[i] = from_angles(a);
            check_rotation(&U[i]);
            count(&U[i], &each[i]);
        }
        for (int i = 1; i < CRYSTALS; i++) {
            apart = between(&U[i - 1], &U[i]);
            count(&apart, &pairs);
        }
        apart = between(&before, &U[0]);
        if (k > 0)
            count(&apart, &frames);
        before = U[0];
    }
    for (int i = 0; i < CRYSTALS; i++)
        check_uniform(&each[i]);
    check_uniform(&pairs);
    check_uniform(&frames);
}

/** Crystal 0 has the orientation of the crystal of an image with one crystal. The
 * expected angles come from a separate calculation. */
UNIT_TEST(first_crystal_is_the_only_one)
{
    static const struct {
        int64_t seed;
        double angles[3];
    } known[] = {{0, {2.8491372743559236, 0.034951024097785624, 1.560988101241129}},
                 {1, {-2.6624898480719597, -0.7446175244008703, 2.8698921626207285}},
                 {12345, {-1.7469782930017443, -0.056866337901584914, 1.3865561890396843}},
                 {9007199254740991,
                  {-1.9884198155824668, -0.769499693777031, -1.1781082437275026}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double a[3];
        assert_int_equal(nb_misset_random(known[i].seed, 0, a, NULL), NB_OK);
        for (int k = 0; k < 3; k++)
            check_close(a[k], known[i].angles[k], 2e-15);
    }
}

/* With -compat the seed also determines the rotation, but the rotations are not uniform
 * (AT-PARALLEL-024 tests images). */
UNIT_TEST(compat_misset)
{
    int angle[CELLS] = {0};
    double a[3], b[3];
    for (int seed = 1; seed <= SEEDS; seed++) {
        double t;
        nb_mat3 U;
        nb_misset_random_compat(seed, a);
        U = from_angles(a);
        t = rotation_angle(&U);
        angle[cell_of((t - sin(t)) / NB_PI, CELLS)]++;
    }
    assert_true(chi2_of(angle, CELLS, SEEDS) > nb_chi2_limit(CELLS - 1));
    nb_misset_random_compat(12345, a);
    nb_misset_random_compat(12345, b);
    assert_memory_equal(a, b, sizeof a);
}
