/* SPDX-License-Identifier: MIT */
/* The slopes of single terms where closed forms lose digits. */
#include "../support/check.h"

#include "physics/slopes.h"

static const long double pi = 3.14159265358979323846264338327950288L;

/** d/dd of sin(pi N d)/sin(pi d), whole N, as a sum of sines, whose terms do not
 * cancel. */
static long double slope_of_sum(double d, int N)
{
    long double sum = 0;
    for (int k = 0; k < N; k++) {
        long double m = N - 1 - 2 * k;
        sum -= pi * m * sinl(m * pi * (long double)d);
    }
    return sum;
}

static double slope_of(double d, double N)
{
    return nb_interference_slope(d, N, nb_interference(d, N));
}

static void check_fringe(double d, int N)
{
    const double exact = (double)slope_of_sum(d, N), scale = 1.2 * N * N;
    const double got = slope_of(d, N);
    if (!(fabs(got - exact) <= 1e-12 * fabs(exact) + 1e-13 * scale))
        fail_msg("N %d, d %.17g: %.15g, exactly %.15g", N, d, got, exact);
}

UNIT_TEST(fringes)
{
    static const int sizes[] = {2, 3, 5, 10, 50, 99, 300, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int N = sizes[i];
        for (double d = 1e-12; d < 2e-3; d *= 3) {
            check_fringe(d, N);
            check_fringe(-d, N);
        }
        check_fringe(0, N);
        check_fringe(0.5, N);
        check_fringe(-0.5, N);
        /* tests zeros of s, and points near them */
        for (int k = 1; k < N && 2 * k <= N; k++)
            for (int j = -1; j <= 1; j++)
                check_fringe((double)k / N * (1 + 1e-9 * j), N);
    }
}

/* The slope keeps its relative precision near the reflection. */
UNIT_TEST(the_middle_keeps_its_digits)
{
    for (double d = 1e-12; d < 1e-3; d *= 10)
        check_ratio(slope_of(d, 300), (double)slope_of_sum(d, 300), 1e-11);
}

/* For N = 1 + e the fringe function is s = 1 + e x cot(x), x = pi d. */
UNIT_TEST(almost_one_cell)
{
    const double e = 1e-9;
    for (double d = 1e-3; d <= 0.5; d *= 1.7) {
        const long double x = pi * (long double)d, s = sinl(x);
        check_ratio(slope_of(d, 1 + e), (double)(e * pi * (cosl(x) / s - x / (s * s))),
                    1e-6);
    }
    assert_true(slope_of(0, 1 + e) == 0);
}

UNIT_TEST(by_the_number_of_cells)
{
    for (double N = 1; N < 400; N *= 1.37)
        for (double d = 0; d <= 0.5; d += 0.0371) {
            const long double h = 1e-6L, x = pi * (long double)d;
            long double s = x == 0 ? 1 : sinl(x);
            long double up = x == 0 ? N + h : sinl((N + h) * x) / s;
            long double down = x == 0 ? N - h : sinl((N - h) * x) / s;
            check_close(nb_interference_by_N(d, N), (double)((up - down) / (2 * h)), 1e-8);
        }
}

UNIT_TEST(spheres)
{
    for (double x = 0; x < 8; x += 0.013) {
        long double sum = 0, term = 1, y = (long double)x * x;
        for (int k = 0; k < 40; k++) { /* term: (-1)^k x^2k 6/(2k+3)! */
            term = k == 0 ? 1 : -term * y / ((2 * k + 2) * (2 * k + 3));
            if (k > 0 && x > 0)
                sum += term * k * (k + 1) * 2 / y;
        }
        if (x > 0)
            check_close(nb_sphere_slope(x), (double)sum, 2e-14);
    }
    check_close(nb_sphere_slope(0), -0.2, 1e-16);
    check_close(nb_sphere_slope(1e-9), -0.2, 1e-16);
}

UNIT_TEST(mean_depths)
{
    for (double y = 1e-8; y < 40; y *= 1.3) {
        const long double e = expl(-(long double)y);
        long double exact = -1 / ((long double)y * y) + e / ((1 - e) * (1 - e));
        if (y > 0.02)
            check_close(nb_mean_depth_slope(y), (double)exact, 2e-14);
        else
            check_close(nb_mean_depth_slope(y), -1.0 / 12 + y * y / 240, 1e-10);
    }
}

/** Compares the slopes of a shape by d, N and fudge with differences. */
static void check_shape(int shape, double scale)
{
    nb_lattice lattice = {.shape = shape, .N = {3.7, 5, 8.25}, .fudge = 1.3};
    const double d[3] = {0.11 * scale, -0.07 * scale, 0.05 * scale}, h = 1e-5;
    nb_lattice_slope s;
    for (int i = 0; i < 3; i++)
        lattice.radius2[i] = lattice.N[i] * lattice.N[i];
    s = nb_lattice_slope_at(&lattice, d);
    assert_true(s.L == nb_lattice_factor(&lattice, d[0], d[1], d[2]));
    for (int i = 0; i < 3; i++) {
        double up[3], down[3], L[2];
        nb_lattice n[2] = {lattice, lattice};
        memcpy(up, d, sizeof up);
        memcpy(down, d, sizeof down);
        up[i] += h;
        down[i] -= h;
        check_close(s.d[i],
                    (nb_lattice_factor(&lattice, up[0], up[1], up[2]) -
                     nb_lattice_factor(&lattice, down[0], down[1], down[2])) /
                        (2 * h),
                    1e-3);
        for (int k = 0; k < 2; k++) {
            n[k].N[i] += k ? -h : h;
            n[k].radius2[i] = n[k].N[i] * n[k].N[i];
            L[k] = nb_lattice_factor(&n[k], d[0], d[1], d[2]);
        }
        check_close(s.N[i], (L[0] - L[1]) / (2 * h), 1e-5);
    }
}

UNIT_TEST(shapes)
{
    for (double scale = 1e-3; scale <= 1; scale *= 10)
        for (int shape = 0; shape < NB_SHAPE_COUNT; shape++)
            if (nb_shape_law(shape) != NB_LAW_EDGE)
                check_shape(shape, scale);
}

UNIT_TEST(cubics)
{
    double w[4], up[4], down[4];
    for (double t = 0; t < 1; t += 0.1) {
        nb_cubic_slopes(t, w);
        nb_cubic_weights(t + 1e-5, up);
        nb_cubic_weights(t - 1e-5, down);
        for (int i = 0; i < 4; i++)
            check_close(w[i], (up[i] - down[i]) / 2e-5, 1e-9);
    }
}
