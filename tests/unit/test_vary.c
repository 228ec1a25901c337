/* SPDX-License-Identifier: MIT */
/* The laws of -vary: means, variances, distributions, and what a draw depends on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/series/vary.h"
#include "../support/check.h"

enum { DRAWS = 20000 };

static nb_config config(void)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.seed = (nb_seed){1, 12345};
    cfg.fluence = 1e24;
    cfg.distance_mm = 100;
    cfg.mosaic_spread_deg = 0.2;
    cfg.cell_count = 1;
    cfg.cell[0] = 70;
    return cfg;
}

static nb_vary read_laws(const char *text, int stills)
{
    const nb_config cfg = config();
    const nb_series series = {.stills = stills};
    nb_error err;
    nb_vary v;
    if (nb_vary_read(text, &cfg, &series, NULL, &v, &err))
        fail_msg("%s", err.message);
    return v;
}

static double draw_of(const nb_vary *v, int i, int k, int crystal)
{
    double value;
    assert_int_equal(nb_vary_draw(v, i, (nb_crystal_at){k, crystal}, &value, NULL), NB_OK);
    return value;
}

static double draw(const nb_vary *v, int i, int k)
{
    return draw_of(v, i, k, 0);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Draws of one law: mean, variance, its standard error, and the values in order. */
typedef struct sample {
    double mean, variance, error, *x;
} sample;

static sample take(const char *law)
{
    const nb_vary v = read_laws(law, DRAWS);
    sample s = {0, 0, 0, malloc(DRAWS * sizeof(double))};
    double fourth = 0;
    nb_vary own = v;
    for (int k = 0; k < DRAWS; k++)
        s.mean += (s.x[k] = draw(&v, 0, k)) / DRAWS;
    for (int k = 0; k < DRAWS; k++) {
        const double d = (s.x[k] - s.mean) * (s.x[k] - s.mean);
        s.variance += d / DRAWS;
        fourth += d * d / DRAWS;
    }
    s.error = sqrt((fourth - s.variance * s.variance) / DRAWS);
    qsort(s.x, DRAWS, sizeof *s.x, ascending);
    nb_vary_free(&own);
    return s;
}

static double normal_part(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double of_normal(double x)
{
    return normal_part((x - 100) / 3);
}
static double of_lognormal(double x)
{
    return x > 0 ? normal_part(log(x / 100) / 0.4) : 0;
}
static double of_uniform(double x)
{
    return fmax(0, fmin(1, (x - 90) / 20));
}
/** Gamma of 4 about 100. */
static double of_gamma(double x)
{
    const double y = x / 25;
    return 1 - exp(-y) * (1 + y + y * y / 2 + y * y * y / 6);
}
/** Normal about 100 with 80, cut at 0. */
static double of_cut(double x)
{
    const double low = normal_part(-100 / 80.0);
    return fmax(0, (normal_part((x - 100) / 80) - low) / (1 - low));
}

/** Kolmogorov's distance at the level of 1 %. */
static void check_law(const char *law, double mean, double variance,
                      double (*part)(double))
{
    const sample s = take(law);
    double most = 0;
    for (int k = 0; k < DRAWS; k++)
        most = fmax(most, fmax(fabs(part(s.x[k]) - (double)k / DRAWS),
                               fabs(part(s.x[k]) - (k + 1.0) / DRAWS)));
    print_message("%s: mean %g, variance %g, distance %g\n", law, s.mean, s.variance,
                  most);
    if (!isnan(mean)) {
        assert_true(fabs(s.mean - mean) < 4 * sqrt(s.variance / DRAWS));
        assert_true(fabs(s.variance - variance) < 4 * s.error);
    }
    assert_true(most < 1.63 / sqrt(DRAWS));
    free(s.x);
}

static void laws_have_their_moments_and_distributions(void **state)
{
    (void)state;
    check_law("distance:normal:3", 100, 9, of_normal);
    check_law("distance:normal:3%", 100, 9, of_normal);
    check_law("distance:lognormal:40%", 100 * exp(0.08),
              1e4 * exp(0.16) * (exp(0.16) - 1), of_lognormal);
    check_law("distance:uniform:90:110", 100, 400 / 12.0, of_uniform);
    check_law("distance:gamma:4", 100, 2500, of_gamma);
    check_law("distance:normal:80", NAN, NAN, of_cut); /* distances are above 0 */
}

static void choices_and_counts_have_their_parts(void **state)
{
    const nb_vary v = read_laws("Badd:choice:0:5:5:20,water:poisson:0.6", DRAWS);
    nb_vary own = v;
    int five = 0, none = 0;
    double sum = 0;
    (void)state;
    for (int k = 0; k < DRAWS; k++) {
        const double n = draw(&v, 1, k);
        five += draw(&v, 0, k) == 5;
        none += n == 0;
        sum += n;
    }
    assert_true(fabs(five / (double)DRAWS - 0.5) < 4 * sqrt(0.25 / DRAWS));
    assert_true(fabs(none / (double)DRAWS - exp(-0.6)) < 4 * sqrt(0.25 / DRAWS));
    assert_true(fabs(sum / DRAWS - 0.6) < 4 * sqrt(0.6 / DRAWS));
    nb_vary_free(&own);
}

static void ramps_run_through_the_middles_of_frames(void **state)
{
    nb_vary v = read_laws("distance:ramp:100:110", 5);
    (void)state;
    for (int k = 0; k < 5; k++)
        check_close(draw(&v, 0, k), 101 + 2 * k, 1e-12);
    nb_vary_free(&v);
}

static void a_draw_depends_on_nothing_else(void **state)
{
    nb_vary alone = read_laws("mosaic:normal:50%", 10),
            many = read_laws("cell:normal:1%,fluence:gamma:2,mosaic:normal:50%", 1000);
    double together = 0;
    (void)state;
    for (int k = 0; k < 10; k++)
        assert_true(draw(&alone, 0, k) == draw(&many, 2, k));
    for (int k = 0; k < 1000; k++)
        together += (draw(&many, 0, k) / 70 - 1) / 0.01 * (draw(&many, 1, k) / 1e24 - 1);
    assert_true(fabs(together / 1000) < 4 / sqrt(1000));
    nb_vary_free(&alone);
    nb_vary_free(&many);
}

/** Crystals of a frame have their own numbers, the frame's are the same for all. */
static void crystals_draw_for_themselves(void **state)
{
    nb_vary v = read_laws("mosaic:normal:50%,fluence:gamma:4,crystals:poisson:0.6", DRAWS);
    double products[3] = {0};
    int misses = 0;
    (void)state;
    for (int k = 0; k < DRAWS; k++) {
        const double a = draw_of(&v, 0, k, 0) - 0.2, b = draw_of(&v, 0, k, 1) - 0.2,
                     c = draw_of(&v, 0, k, 7) - 0.2;
        products[0] += a * b / 0.01 / DRAWS;
        products[1] += b * c / 0.01 / DRAWS;
        products[2] += a * c / 0.01 / DRAWS;
        assert_true(draw_of(&v, 1, k, 0) == draw_of(&v, 1, k, 3));
        misses += draw_of(&v, 2, k, 0) == 0;
    }
    for (int i = 0; i < 3; i++)
        assert_true(fabs(products[i]) < 4 / sqrt(DRAWS));
    print_message("misses: %.2f %% of frames\n", 100.0 * misses / DRAWS);
    assert_true(fabs(misses / (double)DRAWS - exp(-0.6)) < 4 * sqrt(0.25 / DRAWS));
    nb_vary_free(&v);
}

/** In a rotation the crystals are those of all frames, and so is their number. */
static void rotations_keep_their_crystals(void **state)
{
    const nb_config cfg = config();
    const nb_series series = {.frames = 20};
    nb_error err;
    nb_vary v;
    (void)state;
    assert_int_equal(
        nb_vary_read("mosaic:normal:50%,crystals:uniform:0:1000,fluence:gamma:4", &cfg,
                     &series, NULL, &v, &err),
        NB_OK);
    for (int k = 1; k < 20; k++) {
        assert_true(draw_of(&v, 0, k, 2) == draw_of(&v, 0, 0, 2));
        assert_true(draw_of(&v, 1, k, 0) == draw_of(&v, 1, 0, 0));
        assert_true(draw_of(&v, 2, k, 0) != draw_of(&v, 2, 0, 0));
    }
    nb_vary_free(&v);
}

static void bad_laws_are_refused(void **state)
{
    static const char *const bad[] = {"N",
                                      "N:",
                                      "N:normal",
                                      "N:normal:",
                                      "N:normal:1:2",
                                      "N:normal:x",
                                      "N:normal:%",
                                      "N:normal:1%%",
                                      "N:gamma:0.5",
                                      "N:poisson:101",
                                      "N:uniform:1",
                                      "foo:normal:1",
                                      "N :ramp:1:2",
                                      ",",
                                      "N:choice",
                                      "N:normal:-1",
                                      "N:ramp:1:2,N:ramp:1:2",
                                      "N:normal:1;",
                                      "Badd:normal:5%",
                                      "N:normal:nan",
                                      "N:normal:1e999"};
    const nb_config cfg = config();
    const nb_series series = {.stills = 2};
    nb_error err;
    nb_vary v;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (nb_vary_read(bad[i], &cfg, &series, NULL, &v, &err) != NB_ERR_INPUT)
            fail_msg("%s is taken", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_have_their_moments_and_distributions),
        cmocka_unit_test(choices_and_counts_have_their_parts),
        cmocka_unit_test(ramps_run_through_the_middles_of_frames),
        cmocka_unit_test(a_draw_depends_on_nothing_else),
        cmocka_unit_test(crystals_draw_for_themselves),
        cmocka_unit_test(rotations_keep_their_crystals),
        cmocka_unit_test(bad_laws_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
