/* SPDX-License-Identifier: MIT */
/* Laws of spectra: sums, widths, the statistics of chaotic light (docs/physics.md, section 23). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/memory.h"
#include "../../src/io/table/sources.h"
#include "../../src/model/spectrum.h"
#include "../../src/model/units.h"
#include "../support/check.h"

static nb_config config_of(const char *kind, double bandwidth, int wavelengths)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    strcpy(cfg.spectrum, kind);
    cfg.bandwidth_pct = bandwidth;
    cfg.wavelengths = wavelengths;
    return cfg;
}

static nb_spectrum make(const nb_config *cfg, int64_t seed)
{
    const nb_spectrum_use use = {.centre_A = 1.3, .seed = seed};
    nb_spectrum s;
    assert_int_equal(nb_spectrum_make(NB_RESOLVED(cfg), &use, &s, NULL), NB_OK);
    return s;
}

/** The pulse that gives so many modes at 1.3 A. */
static double pulse_of(double bandwidth, double modes)
{
    const double sigma = bandwidth / 100 * NB_HC_EV_ANGSTROM / 1.3 / sqrt(8 * log(2));
    return 0.6582119569509066 * sqrt(2 * log(2)) / sigma * modes;
}

static void mean_and_width(const nb_spectrum *s, double *mean, double *sigma)
{
    double sum = 0, first = 0, second = 0;
    for (int i = 0; i < s->n; i++) {
        const double E = NB_HC_EV_ANGSTROM / s->A[i];
        sum += s->weight[i];
        first += s->weight[i] * E;
        second += s->weight[i] * E * E;
    }
    *mean = first / sum;
    *sigma = sqrt(second / sum - *mean * *mean);
}

static void kinds_have_the_mean_and_width_of_their_law(void **state)
{
    const double E0 = NB_HC_EV_ANGSTROM / 1.3;
    nb_config cfg = config_of("gauss", 0.4, 600);
    nb_spectrum s = make(&cfg, 1);
    double mean, sigma, fwhm = 0.004 * E0, low = 1.5 * sqrt(8 * log(2)), cut;
    (void)state;
    /* a normal density that is cut at +-low standard deviations */
    cut = 1 - 2 * low * exp(-0.5 * low * low) / sqrt(2 * M_PI) / erf(low / sqrt(2));
    mean_and_width(&s, &mean, &sigma);
    assert_true(fabs(mean - E0) < 1e-6 * 3 * fwhm);
    assert_true(fabs(sigma - sqrt(cut) * fwhm / sqrt(8 * log(2))) < 2e-5 * fwhm);
    nb_spectrum_free(&s);
    cfg = config_of("tophat", 2, 1000);
    s = make(&cfg, 1);
    mean_and_width(&s, &mean, &sigma);
    assert_true(fabs(mean - E0) < 1e-6 * 0.02 * E0);
    assert_true(fabs(sigma - 0.02 * E0 / sqrt(12)) < 1e-6 * 0.02 * E0);
    nb_spectrum_free(&s);
    cfg = config_of("twocolour", 0.1, 300);
    strcpy(cfg.split, "2:0.25");
    s = make(&cfg, 1);
    mean_and_width(&s, &mean, &sigma);
    assert_true(fabs(mean - E0 * (1 + 0.01 * (2 * 0.25 - 1))) < 1e-6 * E0);
    nb_spectrum_free(&s);
}

static void weights_have_the_mean_one(void **state)
{
    static const char *const kinds[] = {"gauss", "tophat", "sase"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        nb_config cfg = config_of(kinds[k], 0.3, 77);
        double sum = 0;
        nb_spectrum s;
        if (k == 2)
            cfg.pulse_fs = 10;
        s = make(&cfg, 5);
        for (int i = 0; i < s.n; i++)
            sum += s.weight[i];
        assert_true(fabs(sum / s.n - 1) < 1e-11);
        nb_spectrum_free(&s);
    }
}

/** Moments of W over shots, and of the light of two energies. */
typedef struct moments {
    double mean, variance, error; /* of W; error: of its variance */
    double together;              /* <P P'>/(<P><P'>) of neighbours */
} moments;

static moments shots_of(const nb_config *cfg, int shots)
{
    double sum[5] = {0}, pair = 0, first = 0, second = 0;
    moments m;
    for (int k = 0; k < shots; k++) {
        nb_spectrum s = make(cfg, 1000 + k);
        const int i = s.each / 2;
        const double P = s.weight[i] * s.factor, Q = s.weight[i + 1] * s.factor;
        for (int p = 1; p < 5; p++)
            sum[p] += pow(s.factor, p);
        pair += P * Q;
        first += P;
        second += Q;
        nb_spectrum_free(&s);
    }
    for (int p = 1; p < 5; p++)
        sum[p] /= shots;
    m.mean = sum[1];
    m.variance = sum[2] - sum[1] * sum[1];
    m.error = sqrt((sum[4] - 4 * sum[3] * m.mean + 6 * sum[2] * m.mean * m.mean -
                    3 * pow(m.mean, 4) - m.variance * m.variance) /
                   shots);
    m.together = pair / shots / (first / shots * second / shots);
    return m;
}

static void pulse_energies_vary_as_one_over_the_modes(void **state)
{
    const double modes[] = {1.0001, 2, 10, 100};
    const int shots[] = {4000, 4000, 2000, 400};
    (void)state;
    for (int k = 0; k < 4; k++) {
        nb_config cfg = config_of("sase", 0.2, 60);
        moments m;
        cfg.pulse_fs = pulse_of(0.2, modes[k]);
        m = shots_of(&cfg, shots[k]);
        print_message("modes %g: mean %.4f, variance x modes %.4f\n", modes[k], m.mean,
                      m.variance * modes[k]);
        assert_true(fabs(m.mean - 1) < 4 * sqrt(1 / modes[k] / shots[k]));
        assert_true(fabs(m.variance - 1 / modes[k]) < 4 * m.error);
    }
}

static void seeded_parts_vary_by_their_own_modes(void **state)
{
    nb_config cfg = config_of("seeded", 0.2, 40);
    const double x = 0.6, first = 40, line = 2; /* modes */
    moments m;
    double want;
    (void)state;
    cfg.pulse_fs = pulse_of(0.2, first);
    snprintf(cfg.line, sizeof cfg.line, "%.12g:%g", 0.2 * line / first, x);
    m = shots_of(&cfg, 2000);
    want = (1 - x) * (1 - x) / first + x * x / line;
    assert_true(fabs(m.variance - want) < 4 * m.error);
    assert_true(fabs(m.mean - 1) < 4 * sqrt(want / 2000));
}

static void neighbours_share_a_spike(void **state)
{
    nb_config cfg = config_of("sase", 0.2, 600);
    const double modes = 50, sE = 0.002 * NB_HC_EV_ANGSTROM / 1.3 / sqrt(8 * log(2));
    const double s = sE / modes, step = 3 * 0.002 * NB_HC_EV_ANGSTROM / 1.3 / 600;
    moments m;
    (void)state;
    cfg.pulse_fs = pulse_of(0.2, modes);
    m = shots_of(&cfg, 3000);
    print_message("light of two energies %.3f, law %.3f\n", m.together,
                  1 + exp(-step * step / (4 * s * s)));
    assert_true(fabs(m.together - 1 - exp(-step * step / (4 * s * s))) < 0.15);
}

static void a_pulse_shorter_than_its_bandwidth_is_refused(void **state)
{
    nb_config cfg = config_of("sase", 0.2, 20);
    const nb_spectrum_use use = {.centre_A = 1.3, .seed = 1};
    nb_error err;
    nb_spectrum s;
    (void)state;
    cfg.pulse_fs = 0.999 * pulse_of(0.2, 1);
    assert_int_equal(nb_spectrum_make(NB_RESOLVED(&cfg), &use, &s, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-pulse_length"));
    cfg.pulse_fs = pulse_of(0.2, 20001);
    assert_int_equal(nb_spectrum_make(NB_RESOLVED(&cfg), &use, &s, &err), NB_ERR_INPUT);
}

static void files_are_read_or_refused(void **state)
{
    static const char *const bad[] = {"9000 1\n9000 1\n",
                                      "9000 1\n8000 1\n",
                                      "9000\n",
                                      "9000 -1\n9100 1\n",
                                      "9000 1 1\n9100 1\n",
                                      "x y\n",
                                      "",
                                      "9000 1\n",
                                      "9000 0\n9100 0\n",
                                      "nan 1\n9100 1\n",
                                      "9000 1e999\n9100 1\n"};
    static const char good[] = "# E\r\n 9000, 1\r\n\r\n9100\t2 # end";
    nb_spectrum_point *points;
    nb_error err;
    int n;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(
            nb_spectrum_parse(bad[i], strlen(bad[i]), "s.txt", &points, &n, &err),
            NB_ERR_INPUT);
        assert_null(points);
    }
    assert_int_equal(nb_spectrum_parse(good, sizeof good - 1, "s.txt", &points, &n, NULL),
                     NB_OK);
    assert_int_equal(n, 2);
    assert_true(points[1].eV == 9100 && points[1].density == 2);
    nb_free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_the_mean_and_width_of_their_law),
        cmocka_unit_test(weights_have_the_mean_one),
        cmocka_unit_test(pulse_energies_vary_as_one_over_the_modes),
        cmocka_unit_test(seeded_parts_vary_by_their_own_modes),
        cmocka_unit_test(neighbours_share_a_spike),
        cmocka_unit_test(a_pulse_shorter_than_its_bandwidth_is_refused),
        cmocka_unit_test(files_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
