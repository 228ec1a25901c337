/* SPDX-License-Identifier: MIT */
/* Laws of spectra: sums, widths, the statistics of chaotic light (docs/physics.md, section 23). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/memory.h"
#include "../../src/io/table/sources.h"
#include "../../src/model/beam.h"
#include "../../src/model/units.h"
#include "../support/check.h"
#include "../support/laws.h"

static nb_config config_of(const char *kind, double bandwidth, int wavelengths)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    nb_put_text(&cfg.spectrum, "%s", kind);
    cfg.bandwidth_pct = bandwidth;
    cfg.wavelengths = wavelengths;
    return cfg;
}

static nb_spectrum make_from(const nb_config *cfg, const nb_spectrum_use *use)
{
    nb_spectrum s;
    nb_error err;
    if (nb_spectrum_make(NB_RESOLVED(cfg), use, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

static nb_spectrum make(const nb_config *cfg, int64_t seed)
{
    return make_from(cfg, &(nb_spectrum_use){.centre_A = 1.3, .seed = seed});
}

/** Photon energy of the centre, eV. */
static double centre(void)
{
    return NB_HC_EV_ANGSTROM / 1.3;
}

/** r.m.s. width (eV) of a normal density whose FWHM is `bandwidth` percent. */
static double sigma_of(double bandwidth)
{
    return bandwidth / 100 * centre() / sqrt(8 * log(2));
}

/** r.m.s. width (eV) of a spike in the spectrum of a pulse with this number of modes. */
static double coherence_of(double bandwidth, double modes)
{
    return sigma_of(bandwidth) / modes;
}

/** Length (fs) of a pulse with this number of modes at 1.3 A. */
static double pulse_of(double bandwidth, double modes)
{
    return 0.6582119569509066 * sqrt(2 * log(2)) / coherence_of(bandwidth, modes);
}

/** Mean photons of each wavelength over all shots. */
static const double *mean_weights(const nb_spectrum *s)
{
    return s->is_chaotic ? s->mean : s->weight;
}

/** A component of a spectrum: fraction of the photons, mean (eV), variance (eV^2). */
typedef struct part {
    double photons, mean, variance;
} part;

/** A normal density, cut at 1.5 FWHM on both sides. */
static part normal_part(double photons, double at, double bandwidth)
{
    const double sigma = sigma_of(bandwidth), end = 1.5 * sqrt(8 * log(2));
    return (part){
        photons, at,
        sigma * sigma *
            (1 - 2 * end * exp(-0.5 * end * end) / sqrt(2 * M_PI) / erf(end / sqrt(2)))};
}

/** Checks a spectrum of ten thousand wavelengths: the sum of weights of each component,
 * and the mean and r.m.s. width to 1e-6 of the range. */
static void check_closed(nb_config cfg, nb_spectrum_use use, const part *parts, int n)
{
    double mean = 0, variance = 0, got = 0, square = 0;
    nb_spectrum s;
    cfg.wavelengths = 10000;
    use.centre_A = 1.3;
    s = make_from(&cfg, &use);
    assert_int_equal(s.parts, n);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = i * s.each; k < (i + 1) * s.each; k++) {
            const double E = NB_HC_EV_ANGSTROM / s.A[k] - centre(),
                         photons = mean_weights(&s)[k] / s.n;
            sum += photons;
            got += photons * E;
            square += photons * E * E;
        }
        check_close(sum, parts[i].photons, 1e-10);
        mean += parts[i].photons * (parts[i].mean - centre());
    }
    for (int i = 0; i < n; i++)
        variance += parts[i].photons *
                    (parts[i].variance + pow(parts[i].mean - centre() - mean, 2));
    print_message("%s: mean off by %.1e of its range, r.m.s. width by %.1e\n", s.kind,
                  (got - mean) / s.part->range,
                  (sqrt(square - got * got) - sqrt(variance)) / s.part->range);
    check_close(got, mean, 1e-6 * s.part->range);
    check_close(sqrt(square - got * got), sqrt(variance), 1e-6 * s.part->range);
    nb_spectrum_free(&s);
}

UNIT_TEST(kinds_have_the_mean_and_width_of_their_law)
{
    static const nb_spectrum_point triangle[] = {{9000, 0}, {9100, 2}, {9400, 0}};
    const double E0 = centre(), flat = 0.02 * E0;
    nb_config cfg = config_of("gauss", 0.4, 0);
    check_closed(cfg, (nb_spectrum_use){0}, (part[]){normal_part(1, E0, 0.4)}, 1);
    cfg = config_of("tophat", 2, 0);
    check_closed(cfg, (nb_spectrum_use){0}, (part[]){{1, E0, flat * flat / 12}}, 1);
    cfg = config_of("twocolour", 0.1, 0);
    nb_put_text(&cfg.split, "2:0.25");
    check_closed(
        cfg, (nb_spectrum_use){0},
        (part[]){normal_part(0.75, E0 * 0.99, 0.1), normal_part(0.25, E0 * 1.01, 0.1)}, 2);
    cfg = config_of("sase", 0.3, 0);
    cfg.pulse_fs = pulse_of(0.3, 20);
    check_closed(cfg, (nb_spectrum_use){0}, (part[]){normal_part(1, E0, 0.3)}, 1);
    cfg = config_of("seeded", 0.3, 0);
    cfg.pulse_fs = pulse_of(0.3, 60);
    nb_put_text(&cfg.line, "0.03:0.7");
    check_closed(cfg, (nb_spectrum_use){0},
                 (part[]){normal_part(0.3, E0, 0.3), normal_part(0.7, E0, 0.03)}, 2);
    cfg = config_of("triangle.txt", NAN, 0);
    check_closed(cfg, (nb_spectrum_use){.points = triangle, .n_points = 3},
                 (part[]){{1, 27500 / 3.0, (16e4 - 4e4 + 1e4) / 18}}, 1);
}

UNIT_TEST(weights_have_the_mean_one)
{
    static const char *const kinds[] = {"gauss", "tophat", "sase"};
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

/** Characteristic function phi, at the middles of steps, of the factor W of shots: W is
 * the sum of (1 - r) r^n X_n, r = (M - 1)/(M + 1), with exponential X_n of mean 1. */
typedef struct modes_law {
    double step;
    int n;
    double phi[20000][2];
} modes_law;

/** phi(t) = product of 1/(1 - i t (1 - r) r^n). */
static void transform(double modes, double t, double phi[2])
{
    const double r = (modes - 1) / (modes + 1);
    phi[0] = 1;
    phi[1] = 0;
    for (double x = (1 - r) * t; x > 1e-13; x *= r) {
        const double re = phi[0], im = phi[1], square = 1 + x * x;
        phi[0] = (re - im * x) / square;
        phi[1] = (im + re * x) / square;
    }
}

static void make_modes_law(double modes, modes_law *law)
{
    double size = 1;
    law->step = 2 * M_PI / 60; /* W is below 30 */
    for (law->n = 0; law->n < 20000 && size > 1e-9; law->n++) {
        double *phi = law->phi[law->n];
        transform(modes, (law->n + 0.5) * law->step, phi);
        size = hypot(phi[0], phi[1]);
    }
}

/** The probability of W <= x (R. B. Davies, Biometrika 60, 415 (1973)). */
static double part_of_modes(double x, const void *of)
{
    const modes_law *law = of;
    const double turn[2] = {cos(law->step * x), -sin(law->step * x)};
    double at[2] = {cos(0.5 * law->step * x), -sin(0.5 * law->step * x)}, sum = 0;
    for (int k = 0; k < law->n; k++) {
        const double re = at[0];
        sum += (law->phi[k][0] * at[1] + law->phi[k][1] * re) / (k + 0.5);
        at[0] = re * turn[0] - at[1] * turn[1];
        at[1] = re * turn[1] + at[1] * turn[0];
    }
    return 0.5 - sum / M_PI;
}

/** W has an exponential distribution for one mode, a normal one for very many modes. */
UNIT_TEST(laws_of_modes_have_their_limits)
{
    static modes_law law;
    make_modes_law(1.0001, &law);
    for (double x = 0.1; x < 5; x += 0.1)
        check_close(part_of_modes(x, &law), -expm1(-x), 2e-4);
    make_modes_law(1000, &law);
    for (double x = 0.9; x < 1.1; x += 0.01)
        check_close(part_of_modes(x, &law), nb_normal_part((x - 1) * sqrt(1000)), 6e-3);
    make_modes_law(2, &law);
    /* M = 2, r = 1/3: P = 1 - sum over n of exp(-x/c_n) times the product over m != n of
     * 1/(1 - c_m/c_n), with c_n = (1 - r) r^n */
    for (double x = 0.1; x < 8; x += 0.1) {
        double all = 1;
        for (int n = 0; n < 20; n++) {
            double factor = 1;
            for (int m = 0; m < 40; m++)
                factor *= m == n ? 1 : 1 / (1 - pow(3, n - m));
            all -= factor * exp(-x * 1.5 * pow(3, n));
        }
        check_close(part_of_modes(x, &law), all, 1e-8);
    }
}

enum { LAGS = 7 };

/** Sums over shots. */
typedef struct shots {
    int count, n;
    double *W;         /* owned, [count] */
    double *first;     /* owned, [n]: sums of the photons of a wavelength */
    double *second;    /* owned, [n]: sums of squared photons */
    double *mean;      /* owned, [n]: known mean of the photons */
    double pair[LAGS]; /* [lag]: products of photons/mean, lag steps apart */
} shots;

static void add_shot(const nb_spectrum *s, int k, shots *sum)
{
    const int from = s->n / 3, to = s->n * 3 / 5; /* to + LAGS must be below n */
    sum->W[k] = s->factor;
    for (int i = 0; i < s->n; i++) {
        const double photons = s->weight[i] * s->factor;
        sum->mean[i] = s->mean[i];
        sum->first[i] += photons;
        sum->second[i] += photons * photons;
    }
    for (int lag = 0; lag < LAGS; lag++) {
        double pairs = 0;
        for (int i = from; i < to; i++)
            pairs += s->weight[i] / s->mean[i] * (s->weight[i + lag] / s->mean[i + lag]);
        sum->pair[lag] += pairs / (to - from) * s->factor * s->factor;
    }
}

/** Shots of a series: each has the seed of its frame. */
static shots take_shots(const nb_config *cfg, int count)
{
    const size_t n = (size_t)(cfg->wavelengths * (cfg->line[0] ? 2 : 1));
    shots sum = {.count = count, .n = (int)n};
    sum.W = calloc((size_t)count, sizeof(double));
    sum.first = calloc(n, sizeof(double));
    sum.second = calloc(n, sizeof(double));
    sum.mean = calloc(n, sizeof(double));
    for (int k = 0; k < count; k++) {
        nb_spectrum s = make(cfg, nb_series_seed(1, k));
        add_shot(&s, k, &sum);
        nb_spectrum_free(&s);
    }
    return sum;
}

static void free_shots(shots *sum)
{
    free(sum->W);
    free(sum->first);
    free(sum->second);
    free(sum->mean);
}

/** Checks mean and variance of W to four standard errors. Returns the values of W. */
static nb_drawn check_factors(const shots *sum, double variance)
{
    nb_drawn W = nb_drawn_of(sum->W, sum->count);
    const double error = sqrt(variance / sum->count);
    print_message(
        "%d shots: mean of W %.5f (%+.1f standard errors), variance over its law "
        "%.4f (%+.1f)\n",
        sum->count, W.mean, (W.mean - 1) / error, W.variance / variance,
        (W.variance - variance) / W.variance_error);
    check_close(W.mean, 1, 4 * error);
    check_close(W.variance, variance, 4 * W.variance_error);
    return W;
}

/** Checks the mean photons of each wavelength against the known mean. */
static void check_mean_spectrum(const shots *sum)
{
    double worst = 0, square = 0;
    for (int i = 0; i < sum->n; i++) {
        const double mean = sum->first[i] / sum->count,
                     variance = sum->second[i] / sum->count - mean * mean,
                     off = (mean - sum->mean[i]) / sqrt(variance / sum->count);
        worst = fmax(worst, fabs(off));
        square += off * off / sum->n;
    }
    print_message(
        "mean spectrum: %d wavelengths off by %.2f standard errors, r.m.s. %.2f\n",
        sum->n, worst, sqrt(square));
    check_below(worst, 5);
    check_below(sqrt(square), 1.8);
}

/** Checks the correlation at the distance dE (sE: width of a component, s: of a spike):
 * 1 + exp(-dE^2 (1/s^2 - 1/sE^2)/4), or with many modes 1 + exp(-dE^2/(4 s^2)). */
static void check_two_energies(const shots *sum, double bandwidth, double modes,
                               double tolerance)
{
    const double s = coherence_of(bandwidth, modes), sE = sigma_of(bandwidth);
    const double step = 3 * bandwidth / 100 * centre() / sum->n;
    for (int lag = 0; lag < LAGS; lag++) {
        const double far = 0.25 * pow(lag * step, 2), got = sum->pair[lag] / sum->count,
                     law = 1 + exp(-far * (1 / (s * s) - 1 / (sE * sE)));
        print_message("light of two energies %.2f spikes apart: %.4f, law %.4f, %.4f of "
                      "many modes\n",
                      lag * step / s, got, law, 1 + exp(-far / (s * s)));
        check_ratio(got, law, tolerance);
    }
}

UNIT_TEST(shots_have_the_statistics_of_their_modes)
{
    static const double modes[] = {1.0001, 2, 10, 100};
    static const int few[] = {2000, 2000, 2000, 300};
    static modes_law law;
    const int is_long = getenv("NB_BIG") != NULL;
    for (int k = 0; k < 4; k++) {
        nb_config cfg = config_of("sase", 0.2, (int)ceil(6 * sqrt(8 * log(2)) * modes[k]));
        shots sum;
        nb_drawn W;
        double distance;
        print_message("%g modes, %d wavelengths\n", modes[k], cfg.wavelengths);
        cfg.pulse_fs = pulse_of(0.2, modes[k]);
        sum = take_shots(&cfg, is_long ? 10000 : few[k]);
        W = check_factors(&sum, 1 / modes[k]);
        make_modes_law(modes[k], &law);
        distance = nb_kolmogorov(&W, part_of_modes, &law);
        print_message("law of W: distance %.2f, limit %.2f\n", distance, NB_KOLMOGOROV_1);
        check_below(distance, NB_KOLMOGOROV_1);
        check_mean_spectrum(&sum);
        check_two_energies(&sum, 0.2, modes[k], is_long || modes[k] > 2 ? 0.05 : 0.12);
        nb_drawn_free(&W);
        free_shots(&sum);
    }
}

/** Compares the mean of all chaotic shots with the smooth spectrum. */
UNIT_TEST(mean_spectra_are_the_smooth_ones)
{
    static const double modes[] = {1.5, 5, 50}, limit[] = {2e-3, 3e-4, 3e-4};
    nb_config smooth = config_of("gauss", 0.2, 60), cfg = config_of("sase", 0.2, 60);
    nb_spectrum a = make(&smooth, 1);
    for (int k = 0; k < 3; k++) {
        double off = 0, largest = 0;
        nb_spectrum b;
        cfg.pulse_fs = pulse_of(0.2, modes[k]);
        b = make(&cfg, 1);
        for (int i = 0; i < a.n; i++) {
            off = fmax(off, fabs(a.weight[i] - b.mean[i]));
            largest = fmax(largest, a.weight[i]);
        }
        print_message("%g modes: mean spectrum off by %.1e of its largest\n", modes[k],
                      off / largest);
        check_below(off / largest, limit[k]);
        nb_spectrum_free(&b);
    }
    nb_spectrum_free(&a);
}

UNIT_TEST(seeded_parts_vary_by_their_own_modes)
{
    nb_config cfg = config_of("seeded", 0.2, 40);
    /* x: fraction of the photons in the line; then the numbers of modes */
    const double x = 0.6, first = 40, line = 2;
    shots sum;
    nb_drawn W;
    cfg.pulse_fs = pulse_of(0.2, first);
    nb_put_text(&cfg.line, "%.12g:%g", 0.2 * line / first, x);
    sum = take_shots(&cfg, getenv("NB_BIG") ? 10000 : 1000);
    W = check_factors(&sum, (1 - x) * (1 - x) / first + x * x / line);
    check_mean_spectrum(&sum);
    nb_drawn_free(&W);
    free_shots(&sum);
}

UNIT_TEST(a_pulse_shorter_than_its_bandwidth_is_refused)
{
    nb_config cfg = config_of("sase", 0.2, 20);
    const nb_spectrum_use use = {.centre_A = 1.3, .seed = 1};
    nb_error err;
    nb_spectrum s;
    cfg.pulse_fs = 0.999 * pulse_of(0.2, 1);
    assert_int_equal(nb_spectrum_make(NB_RESOLVED(&cfg), &use, &s, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-pulse_length"));
    cfg.pulse_fs = pulse_of(0.2, 20001);
    assert_int_equal(nb_spectrum_make(NB_RESOLVED(&cfg), &use, &s, &err), NB_ERR_INPUT);
}

UNIT_TEST(files_are_read_or_refused)
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
