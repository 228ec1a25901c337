/* SPDX-License-Identifier: MIT */
/* The laws of -vary: means, variances, distributions, and independence of the draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/series/frames.h"
#include "../support/check.h"
#include "../support/laws.h"

enum { DRAWS = 20000 };

static nb_config config(void)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.seed = (nb_seed){1, 12345};
    cfg.fluence = 1e24;
    cfg.distance_mm = 100;
    cfg.mosaic_spread_deg = 0.2;
    cfg.cell_count = 6;
    memcpy(cfg.cell, (double[]){70, 80, 90, 90, 80, 90}, sizeof cfg.cell);
    cfg.N[0] = cfg.N[1] = cfg.N[2] = 5;
    cfg.blocks = 10;
    cfg.polarization = 0.5;
    return cfg;
}

static nb_vary read_laws(const char *text, int stills)
{
    const nb_config cfg = config();
    nb_series series = nb_test_series();
    nb_error err;
    nb_vary v;
    series.stills = stills;
    if (nb_vary_read(text, &cfg, &series, NULL, NULL, &v, &err))
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

/** A law of -vary about a typed value: probability of values <= x, mean and variance
 * (NAN: calculated from the probability). */
typedef struct law {
    const char *text;
    nb_law_part part;
    double numbers[3];
    double mean, variance;
    double from, to; /* range of the allowed values, or of the whole law */
} law;

static double part_of_normal(double x, const void *numbers)
{
    const double *p = numbers;
    return nb_normal_part((x - p[0]) / p[1]);
}

static double part_of_lognormal(double x, const void *numbers)
{
    const double *p = numbers;
    return x > 0 ? nb_normal_part(log(x / p[0]) / p[1]) : 0;
}

static double part_of_uniform(double x, const void *numbers)
{
    const double *p = numbers;
    return fmax(0, fmin(1, (x - p[0]) / (p[1] - p[0])));
}

/** Gamma law of mean p[0] and shape p[1], a multiple of 1/2, by recurrence from shape 1
 * or 1/2. */
static double part_of_gamma(double x, const void *numbers)
{
    const double *p = numbers, y = x > 0 ? p[1] * x / p[0] : 0;
    const int half = p[1] != floor(p[1]);
    double a = half ? 0.5 : 1, part = half ? erf(sqrt(y)) : -expm1(-y);
    for (; a < p[1]; a++)
        part -= pow(y, a) * exp(-y) / tgamma(a + 1);
    return part;
}

static double part_of_poisson(double x, const void *numbers)
{
    const double mean = *(const double *)numbers;
    double term = exp(-mean), sum = 0;
    for (int k = 0; k <= x; term *= mean / ++k)
        sum += term;
    return sum;
}

/** Law of the values 0, 5 and 20 with probabilities 1/4, 1/2 and 1/4. */
static double part_of_choice(double x, const void *numbers)
{
    (void)numbers;
    return 0.25 * (x >= 0) + 0.5 * (x >= 5) + 0.25 * (x >= 20);
}

/** Law of a normal number rounded to a whole number. */
static double part_of_rounded(double x, const void *numbers)
{
    return part_of_normal(floor(x) + 0.5, numbers);
}

/** Probability of values <= x of a law that is cut at `from` and `to`. */
static double part_of_cut(double x, const void *cut)
{
    const law *of = cut;
    const double low = of->part(nextafter(of->from, -INFINITY), of->numbers),
                 high = of->part(of->to, of->numbers);
    return x < of->from ? 0
                        : (of->part(fmin(of->to, x), of->numbers) - low) / (high - low);
}

static const law laws[] = {
    {"distance:normal:3", part_of_normal, {100, 3}, 100, 9, 0, 200},
    {"distance:normal:3%", part_of_normal, {100, 3}, 100, 9, 0, 200},
    {"distance:lognormal:40%", part_of_lognormal, {100, 0.4}, 108.32871, 2036.1689, 0, 2000},
    {"distance:lognormal:0.4", part_of_lognormal, {100, 0.4}, 108.32871, 2036.1689, 0, 2000},
    {"distance:uniform:90:110", part_of_uniform, {90, 110}, 100, 400 / 12.0, 90, 110},
    {"distance:gamma:1", part_of_gamma, {100, 1}, 100, 1e4, 0, 4000},
    {"distance:gamma:2.5", part_of_gamma, {100, 2.5}, 100, 4e3, 0, 3000},
    {"distance:gamma:4", part_of_gamma, {100, 4}, 100, 2500, 0, 3000},
    {"Badd:choice:0:5:5:20", part_of_choice, {0}, 7.5, 56.25, 0, 20},
    {"water:poisson:0.6", part_of_poisson, {0.6}, 0.6, 0.6, 0, 20},
    {"water:poisson:7", part_of_poisson, {7}, 7, 7, 0, 40},
    {"water:poisson:100", part_of_poisson, {100}, 100, 100, 0, 250},
    {"crystals:poisson:0.6", part_of_poisson, {0.6}, 0.6, 0.6, 0, 20},
    /* values that the flag refuses are drawn again */
    {"distance:normal:80", part_of_normal, {100, 80}, NAN, NAN, 0, 600},
    {"distance:uniform:-50:100", part_of_uniform, {-50, 100}, 50, 1e4 / 12, 0, 100},
    {"polar:normal:0.8", part_of_normal, {0.5, 0.8}, NAN, NAN, -1, 1},
    {"polar:lognormal:1", part_of_lognormal, {0.5, 1}, NAN, NAN, 0, 1},
    {"polar:gamma:1", part_of_gamma, {0.5, 1}, NAN, NAN, 0, 1},
    {"cell_be:normal:60", part_of_normal, {80, 60}, NAN, NAN, 0, 180},
    {"N:normal:4", part_of_rounded, {5, 4}, NAN, NAN, 1, 41},
    {"Na:poisson:1.5", part_of_poisson, {1.5}, NAN, NAN, 1, 41},
};

/** Draws item i for DRAWS frames from `first` on; values: [DRAWS]. */
static void draw_all(const nb_vary *v, int i, nb_crystal_at first, double *values)
{
    for (int k = 0; k < DRAWS; k++)
        values[k] = draw_of(v, i, first.frame + k, first.crystal);
}

static void check_law(const law *of)
{
    static double values[DRAWS];
    nb_vary v = read_laws(of->text, DRAWS);
    const nb_moments whole = nb_moments_of(part_of_cut, of, of->from, of->to);
    const double mean = isnan(of->mean) ? whole.mean : of->mean,
                 variance = isnan(of->variance) ? whole.variance : of->variance;
    double distance;
    nb_drawn s;
    draw_all(&v, 0, (nb_crystal_at){0, 0}, values);
    s = nb_drawn_of(values, DRAWS);
    distance = nb_kolmogorov(&s, part_of_cut, of);
    print_message("%s: mean %.5g (%+.1f standard errors), variance %.5g (%+.1f), "
                  "distance %.2f\n",
                  of->text, s.mean, (s.mean - mean) / s.mean_error, s.variance,
                  (s.variance - variance) / s.variance_error, distance);
    check_close(whole.mean, mean, 1e-4 * mean);
    check_close(whole.variance, variance, 1e-3 * variance);
    check_close(s.mean, mean, 4 * s.mean_error);
    check_close(s.variance, variance, 4 * s.variance_error);
    check_below(distance, NB_KOLMOGOROV_1);
    nb_drawn_free(&s);
    nb_vary_free(&v);
}

UNIT_TEST(laws_have_their_moments_and_distributions)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        check_law(&laws[i]);
}

UNIT_TEST(ramps_run_through_the_middles_of_frames)
{
    nb_vary v = read_laws("distance:ramp:100:110", 5);
    for (int k = 0; k < 5; k++)
        check_close(draw(&v, 0, k), 101 + 2 * k, 1e-12);
    nb_vary_free(&v);
}

UNIT_TEST(whole_numbers_have_equal_shares)
{
    static double values[DRAWS];
    nb_vary drawn = read_laws("N:uniform:5:7", DRAWS), run = read_laws("N:ramp:5:7", 6);
    int count[3] = {0};
    draw_all(&drawn, 0, (nb_crystal_at){0, 0}, values);
    for (int k = 0; k < DRAWS; k++) {
        assert_true(values[k] == 5 || values[k] == 6 || values[k] == 7);
        count[(int)values[k] - 5]++;
    }
    for (int i = 0; i < 3; i++) /* binomial: variance n (1/3) (2/3) */
        check_close(count[i], DRAWS / 3.0, 4 * sqrt(DRAWS * 2 / 9.0));
    for (int k = 0; k < 6; k++)
        assert_true(draw(&run, 0, k) == 5 + k / 2);
    nb_vary_free(&drawn);
    nb_vary_free(&run);
}

UNIT_TEST(a_draw_depends_on_nothing_else)
{
    nb_vary alone = read_laws("mosaic:normal:50%", 10),
            many = read_laws("cell:normal:1%,fluence:gamma:2,mosaic:normal:50%", 1000);
    for (int k = 0; k < 10; k++)
        assert_true(draw(&alone, 0, k) == draw(&many, 2, k));
    nb_vary_free(&alone);
    nb_vary_free(&many);
}

enum { SERIES = 12 };

/** Draws item i of a crystal for DRAWS frames, from a frame on. */
static void draw_series(const nb_vary *v, int i, nb_crystal_at first, float *series)
{
    static double values[DRAWS];
    draw_all(v, i, first, values);
    for (int k = 0; k < DRAWS; k++)
        series[k] = (float)values[k];
}

/** Checks that no pair of series is correlated. */
static void check_independent(float (*series)[DRAWS], int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            largest = fmax(largest, fabs(nb_correlation(series[i], series[j], DRAWS)));
    print_message("correlation of %d series: up to %.4f, limit %.4f\n", n, largest,
                  4 / sqrt(DRAWS));
    check_below(largest, 4 / sqrt(DRAWS));
}

static const char many_names[] =
    "mosaic:normal:50%,cell:normal:1%,blocks:lognormal:50%,Badd:uniform:0:20,"
    "fluence:gamma:4,distance:uniform:90:110,water:poisson:2,polar:normal:0.1";

UNIT_TEST(names_draw_for_themselves)
{
    static float series[SERIES][DRAWS];
    nb_vary v = read_laws(many_names, DRAWS);
    for (int i = 0; i < v.n; i++)
        draw_series(&v, i, (nb_crystal_at){0, 0}, series[i]);
    check_independent(series, v.n);
    nb_vary_free(&v);
}

/** Numbers of a frame are independent of numbers of the next and of later frames. */
UNIT_TEST(frames_draw_for_themselves)
{
    static const int apart[] = {0, 1, 2, 10, 1000};
    static float series[SERIES][DRAWS];
    nb_vary v = read_laws(many_names, 2 * DRAWS);
    for (int i = 0; i < v.n; i++) {
        for (int k = 0; k < 5; k++)
            draw_series(&v, i, (nb_crystal_at){apart[k], 0}, series[k]);
        check_independent(series, 5);
    }
    nb_vary_free(&v);
}

/** Numbers of crystals are drawn separately for each crystal of a frame; numbers of
 * frames are the same for all crystals. */
UNIT_TEST(crystals_draw_for_themselves)
{
    static const int crystal[] = {0, 1, 2, 7, 999};
    static float series[SERIES][DRAWS];
    nb_vary v = read_laws(many_names, DRAWS);
    for (int k = 0; k < 5; k++) {
        draw_series(&v, 0, (nb_crystal_at){0, crystal[k]}, series[k]);
        draw_series(&v, 3, (nb_crystal_at){0, crystal[k]}, series[5 + k]);
    }
    check_independent(series, 10);
    for (int k = 0; k < 100; k++)
        assert_true(draw_of(&v, 4, k, 0) == draw_of(&v, 4, k, 3));
    nb_vary_free(&v);
}

UNIT_TEST(hits_and_misses)
{
    nb_vary v = read_laws("crystals:poisson:0.6", DRAWS);
    int misses = 0;
    for (int k = 0; k < DRAWS; k++)
        misses += draw(&v, 0, k) == 0;
    print_message("misses: %.2f %% of frames\n", 100.0 * misses / DRAWS);
    check_close(misses / (double)DRAWS, 0.5488, 4 * sqrt(0.5488 * 0.4512 / DRAWS));
    nb_vary_free(&v);
}

/** In a rotation all frames have the same crystals and the same number of crystals. */
UNIT_TEST(rotations_keep_their_crystals)
{
    const nb_config cfg = config();
    nb_series series = nb_test_series();
    nb_error err;
    nb_vary v;
    series.frames = 20;
    assert_int_equal(
        nb_vary_read("mosaic:normal:50%,crystals:uniform:0:1000,fluence:gamma:4", &cfg,
                     &series, NULL, NULL, &v, &err),
        NB_OK);
    for (int k = 1; k < 20; k++) {
        assert_true(draw_of(&v, 0, k, 2) == draw_of(&v, 0, 0, 2));
        assert_true(draw_of(&v, 1, k, 0) == draw_of(&v, 1, 0, 0));
        assert_true(draw_of(&v, 2, k, 0) != draw_of(&v, 2, 0, 0));
    }
    nb_vary_free(&v);
}

UNIT_TEST(bad_laws_are_refused)
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
    nb_series series = nb_test_series();
    nb_error err;
    nb_vary v;
    series.stills = 2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (nb_vary_read(bad[i], &cfg, &series, NULL, NULL, &v, &err) != NB_ERR_INPUT)
            fail_msg("%s is taken", bad[i]);
}
