/* SPDX-License-Identifier: MIT */
/* AT-PARALLEL-001 to 009: the requirements of the suite besides parity, and parity if the
 * configuration has a golden image. */
#include "../support/check.h"

#include "sim/sim.h"

/** The suite's configuration with automatic oversampling, as in its golden image. */
static nb_config auto_config(double lambda_A, int N, int pixels)
{
    nb_config cfg = nb_suite_config(lambda_A, N, pixels);
    cfg.oversample = 0;
    return cfg;
}

static const nb_geometry *geometry(const nb_picture *p)
{
    return &p->sim->model.geometry;
}

static void at_parallel_001(void **state)
{
    static const int sizes[] = {64, 128, 256, 512, 1024};
    (void)state;
    for (int i = 0; i < 5; i++) {
        int n = sizes[i];
        nb_config cfg = nb_suite_config(6.2, 3, n);
        nb_picture p;
        char id[64];
        size_t top;
        nb_set_beam(&cfg, n / 2 * 0.1, n / 2 * 0.1);
        p = rendered(&cfg);
        check_close(geometry(&p)->Xbeam, n / 2 * 1e-4, 1e-12);
        check_close(geometry(&p)->Ybeam, n / 2 * 1e-4, 1e-12);
        top = nb_brightest(p.pixels, p.n);
        check_close((double)(top % (size_t)n), n / 2.0, 2);
        check_close((double)(top / (size_t)n), n / 2.0, 2);
        snprintf(id, sizeof id, "AT-PARALLEL-001-%d", n);
        if (n <= 256)
            check_parity(&p, id);
        nb_picture_free(&p);
    }
}

/* Xbeam is where the first pixel's centre would be at zero, so spots sit at index * pixel. */
static void at_parallel_002(void **state)
{
    static const double pixels[] = {0.05, 0.1, 0.2, 0.4};
    static const char *const ids[] = {"AT-PARALLEL-002-p0.05", NULL,
                                      "AT-PARALLEL-002-p0.2", "AT-PARALLEL-002-p0.4"};
    nb_peak coarse[40], fine[40];
    int n_coarse = 0, compared = 0;
    (void)state;
    for (int i = 3; i >= 0; i--) {
        nb_config cfg = nb_suite_config(6.2, 5, 256);
        nb_picture p;
        int n, inside = 0, found = 0;
        cfg.pixel_mm = pixels[i];
        nb_set_beam(&cfg, 25.6, 25.6);
        p = rendered(&cfg);
        check_close(geometry(&p)->Xbeam / geometry(&p)->pixel, 25.6 / pixels[i], 0.1);
        check_close(geometry(&p)->Fbeam / geometry(&p)->pixel - 0.5, 25.6 / pixels[i],
                    0.1);
        check_close(geometry(&p)->Sbeam / geometry(&p)->pixel - 0.5, 25.6 / pixels[i],
                    0.1);
        if (ids[i])
            check_parity(&p, ids[i]);
        n = nb_find_peaks(p.pixels, 256, 256, 90, 3, fine, 40);
        if (i == 3) {
            n_coarse = n;
            memcpy(coarse, fine, sizeof coarse);
        }
        for (int k = 0; i < 3 && k < n_coarse; k++) {
            double scale = 0.4 / pixels[i], d;
            nb_peak expected = coarse[k];
            expected.x *= scale;
            expected.y *= scale;
            if (expected.x > 250 || expected.y > 250)
                continue; /* off the smaller detector */
            inside++;
            found += nb_nearest_peak(&expected, fine, n, &d) >= 0 && d <= 0.5 * scale;
        }
        assert_int_equal(found, inside);
        compared += inside;
        nb_picture_free(&p);
    }
    assert_true(n_coarse > 5);
    assert_true(compared > 5);
}

/* MOSFLM: Xbeam goes along slow, Ybeam along fast. */
static void at_parallel_003(void **state)
{
    static const double beams[][2] = {{20, 20}, {30, 40}, {45, 25}, {60, 60}};
    static const int sizes[] = {256, 512, 1024};
    int on_detector = 0;
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            nb_config cfg = nb_suite_config(6.2, 5, sizes[j]);
            double slow = beams[i][0] / 0.1, fast = beams[i][1] / 0.1;
            nb_picture p;
            size_t top;
            nb_set_beam(&cfg, beams[i][0], beams[i][1]);
            p = rendered(&cfg);
            check_close(geometry(&p)->Fbeam / 1e-4 - 0.5, fast, 1e-6);
            check_close(geometry(&p)->Sbeam / 1e-4 - 0.5, slow, 1e-6);
            top = nb_brightest(p.pixels, p.n);
            if (fast < sizes[j] && slow < sizes[j]) {
                double f = (double)(top % (size_t)p.fast),
                       s = (double)(top / (size_t)p.fast);
                check_close(f, fast, 1);
                check_close(s, slow, 1);
                check_ratio(f, fast, 0.02);
                check_ratio(s, slow, 0.02);
                on_detector++;
            }
            if (sizes[j] == 256 && i < 2)
                check_parity(&p, i ? "AT-PARALLEL-003-30-40" : "AT-PARALLEL-003-20-20");
            nb_picture_free(&p);
        }
    assert_int_equal(on_detector, 8);
}

/** Shift of b's spots against a's along fast, px: median over the brightest spots, each a
 * centroid over the spot's spacing. */
static double spot_shift(const nb_picture *a, const nb_picture *b)
{
    nb_peak peaks[200];
    double shifts[200], c[2];
    int n = nb_find_peaks(a->pixels, a->fast, a->slow, 97, 4, peaks, 200), used = 0;
    for (int i = 0; i < n; i++) {
        int ok = peaks[i].f > 6 && peaks[i].f < a->fast - 7;
        for (int k = 0; ok && k < 2; k++) {
            const float *row = (k ? b : a)->pixels + (size_t)peaks[i].s * a->fast;
            double sum = 0, moment = 0;
            for (int f = peaks[i].f - 3; f <= peaks[i].f + 3; f++) {
                sum += row[f];
                moment += row[f] * f;
            }
            c[k] = moment / sum;
        }
        if (ok)
            shifts[used++] = c[1] - c[0];
    }
    assert_true(used > 20);
    for (int i = 1; i < used; i++) /* insertion sort */
        for (int k = i; k > 0 && shifts[k] < shifts[k - 1]; k--) {
            double t = shifts[k];
            shifts[k] = shifts[k - 1];
            shifts[k - 1] = t;
        }
    return shifts[used / 2];
}

/* With a cubic crystal the two conventions see the same pattern half a pixel apart. */
static void at_parallel_004(void **state)
{
    nb_config mosflm = auto_config(1, 5, 256), xds = mosflm, aligned = mosflm;
    nb_picture a, b, c;
    (void)state;
    nb_set_beam(&mosflm, 25.6, 25.6);
    a = rendered(&mosflm);
    check_parity(&a, "AT-PARALLEL-004-mosflm");
    xds.convention = NB_CONV_XDS;
    nb_set_beam(&xds, 25.6, 25.6); /* moves nothing in XDS */
    b = rendered(&xds);
    check_parity(&b, "AT-PARALLEL-004-xds");
    nb_picture_free(&b);
    xds.orgx = xds.orgy = 25.6 / 0.1 + 0.5;
    b = rendered(&xds);
    check_close(fabs(spot_shift(&a, &b)), 0.5, 0.1);
    assert_true(nb_correlation(a.pixels, b.pixels, a.n) < 0.9999);
    nb_set_beam(&aligned, 25.6 - 0.05, 25.6 - 0.05);
    c = rendered(&aligned);
    check_above(nb_correlation(b.pixels, c.pixels, a.n), 0.9999);
    nb_picture_free(&a);
    nb_picture_free(&b);
    nb_picture_free(&c);
}

static void check_centre(const nb_config *cfg, double fast, double slow, nb_pivot pivot)
{
    nb_sim *sim = created(cfg);
    check_close(sim->model.geometry.Fbeam / 1e-4, fast, 0.5);
    check_close(sim->model.geometry.Sbeam / 1e-4, slow, 0.5);
    assert_int_equal(sim->model.geometry.pivot, pivot);
    nb_sim_free(sim);
}

static void at_parallel_005(void **state)
{
    nb_config base = auto_config(1, 5, 256), cfg;
    nb_picture a, b;
    (void)state;
    cfg = base; /* MOSFLM: slow from X, fast from Y, half a pixel inwards */
    nb_set_beam(&cfg, 9.95, 12.95);
    check_centre(&cfg, 130, 100, NB_PIVOT_BEAM);
    cfg.convention = NB_CONV_DENZO;
    nb_set_beam(&cfg, 10, 13);
    check_centre(&cfg, 130, 100, NB_PIVOT_BEAM);
    cfg.convention = NB_CONV_ADXV; /* Y counted from the other edge */
    nb_set_beam(&cfg, 13, 15.6);
    check_centre(&cfg, 130, 100, NB_PIVOT_BEAM);
    cfg = base;
    cfg.convention = NB_CONV_XDS;
    cfg.orgx = 130.5;
    cfg.orgy = 100.5;
    check_centre(&cfg, 130, 100, NB_PIVOT_SAMPLE);
    cfg.convention = NB_CONV_DIALS;
    check_centre(&cfg, 130, 100, NB_PIVOT_SAMPLE);
    cfg = base;
    cfg.convention = NB_CONV_CUSTOM; /* close point and beam centre are one setting here */
    cfg.Xclose_mm = 13;
    cfg.Yclose_mm = 10;
    cfg.pivot_implied = NB_PIVOT_SAMPLE;
    check_centre(&cfg, 130, 100, NB_PIVOT_SAMPLE);
    cfg.Xclose_mm = cfg.Yclose_mm = NAN;
    nb_set_beam(&cfg, 13, 10);
    cfg.pivot_implied = NB_PIVOT_BEAM;
    check_centre(&cfg, 130, 100, NB_PIVOT_BEAM);
    cfg.pivot_implied = NB_PIVOT_UNSET;
    check_centre(&cfg, 130, 100, NB_PIVOT_BEAM);

    cfg = base; /* the golden set-ups */
    nb_set_beam(&cfg, 25.6, 25.6);
    cfg.distance_mm = NAN;
    cfg.close_distance_mm = 100;
    a = rendered(&cfg);
    check_parity(&a, "AT-PARALLEL-005-mosflm-close");
    cfg.close_distance_mm = NAN;
    cfg.distance_mm = 100;
    b = rendered(&cfg);
    check_same_bits(&a, &b); /* without tilts the two distances are one */
    nb_picture_free(&a);
    nb_picture_free(&b);
    cfg = base;
    cfg.convention = NB_CONV_XDS;
    cfg.orgx = 100.5;
    cfg.orgy = 130.25;
    a = rendered(&cfg);
    check_parity(&a, "AT-PARALLEL-005-xds-org");
    nb_picture_free(&a);
    cfg.orgx = cfg.orgy = cfg.distance_mm = NAN;
    nb_set_beam(&cfg, 25.6, 25.6);
    cfg.close_distance_mm = 100;
    a = rendered(&cfg);
    check_parity(&a, "AT-PARALLEL-005-xds-close");
    nb_picture_free(&a);
}

/** Distance of the first reflection along fast from the beam, px, parabola through the spot. */
static double first_reflection(double distance, double lambda, double guess)
{
    nb_config cfg = nb_suite_config(lambda, 3, 256);
    nb_peak peaks[300], expected = {0};
    nb_picture p;
    double d;
    int n, i;
    cfg.distance_mm = distance;
    cfg.oversample = 4;
    nb_set_beam(&cfg, 12.8, 12.8); /* the centre of pixel 128 */
    p = rendered(&cfg);
    n = nb_find_peaks(p.pixels, 256, 256, 50, 2, peaks, 300);
    expected.x = 128 + guess;
    expected.y = 128;
    i = nb_nearest_peak(&expected, peaks, n, &d);
    nb_picture_free(&p);
    return i < 0 ? NAN : peaks[i].x - 128;
}

static void at_parallel_006(void **state)
{
    static const double distances[] = {50, 100, 200}, lambdas[] = {1, 1.5, 2};
    static const char *const ids[] = {"AT-PARALLEL-006-50-1.0", "AT-PARALLEL-006-100-1.5",
                                      "AT-PARALLEL-006-200-2.0"};
    double r[3][3];
    (void)state;
    for (int i = 0; i < 3; i++) { /* N 1: no spots, but h = 1 is at the Bragg angle */
        nb_config cfg = nb_suite_config(lambdas[i], 1, 256);
        nb_picture p;
        cfg.distance_mm = distances[i];
        p = rendered(&cfg);
        check_parity(&p, ids[i]);
        nb_picture_free(&p);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double angle = 2 * asin(lambdas[j] / (2 * 100.0));
            double expected = distances[i] * tan(angle) / 0.1;
            r[i][j] = first_reflection(distances[i], lambdas[j], expected);
            check_close(r[i][j], expected, 0.5);
        }
    for (int j = 0; j < 3; j++) {
        check_ratio(r[1][j] / r[0][j], 2, 0.02);
        check_ratio(r[2][j] / r[0][j], 4, 0.02);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 1; j < 3; j++)
            check_ratio(r[i][j] / r[i][0],
                        tan(2 * asin(lambdas[j] / 200)) / tan(2 * asin(1 / 200.0)), 0.01);
}

/** Both images' brightest `top` spots: at least 95 % of the golden ones matched. */
static void check_spots(const nb_picture *p, const char *id, double percentile,
                        int exclusion, int top, double radius)
{
    float *image = golden(id, p->n);
    nb_peak *ours = malloc(3 * (size_t)top * sizeof *ours), *theirs = ours + 2 * top;
    int n =
        nb_find_peaks(p->pixels, p->fast, p->slow, percentile, exclusion, ours, 2 * top);
    int m = nb_find_peaks(image, p->fast, p->slow, percentile, exclusion, theirs, top);
    assert_true(m >= 3);
    check_above(nb_match_peaks(theirs, m, ours, n, radius), 0.95 * m);
    free(ours);
    free(image);
}

static void at_parallel_007(void **state)
{
    static const double turns[][4] = {{0, 0, 0, 0}, {5, 3, 2, 10}, {10, 5, 3, 0}};
    static const char *const ids[] = {
        "AT-PARALLEL-007-0-0-0", "AT-PARALLEL-007-5-3-2-tt10", "AT-PARALLEL-007-10-5-3"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        nb_config cfg = auto_config(1, 5, 256);
        nb_picture p;
        float *image;
        nb_set_rotations(&cfg, turns[i][0], turns[i][1], turns[i][2]);
        cfg.twotheta_deg = turns[i][3];
        cfg.pivot = NB_PIVOT_BEAM;
        p = rendered(&cfg);
        check_parity(&p, ids[i]);
        check_spots(&p, ids[i], 99.5, 3, 25, 1);
        image = golden(ids[i], p.n);
        check_close(nb_image_sum(p.pixels, p.n) / nb_image_sum(image, p.n), 1, 0.1);
        free(image);
        nb_picture_free(&p);
    }
}

static void at_parallel_008(void **state)
{
    nb_config cfg = auto_config(1, 5, 512);
    nb_peak ours[200], theirs[100];
    double square = 0;
    int n, m, matched = 0;
    nb_picture p;
    float *image;
    (void)state;
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-008");
    check_spots(&p, "AT-PARALLEL-008", 99, 3, 100, 1);
    image = golden("AT-PARALLEL-008", p.n);
    n = nb_find_peaks(p.pixels, 512, 512, 99, 3, ours, 200);
    m = nb_find_peaks(image, 512, 512, 99, 3, theirs, 100);
    for (int i = 0; i < m; i++) {
        double d;
        int k = nb_nearest_peak(&theirs[i], ours, n, &d);
        if (k >= 0 && d <= 1) {
            square += pow(ours[k].value / theirs[i].value - 1, 2);
            matched++;
        }
    }
    assert_int_equal(m, 100);
    check_below(sqrt(square / matched), 0.1);
    free(image);
    nb_picture_free(&p);
}

/** The direct beam's pixel, whose centre is q = 0: F^2 N^6 times the solid angle. */
static double peak_height(int N, double F)
{
    nb_config cfg = nb_suite_config(1, N, 256);
    nb_picture p;
    double top;
    nb_set_beam(&cfg, 12.8, 12.8);
    cfg.default_F = F;
    p = rendered(&cfg);
    assert_int_equal(p.stats.max_fast, 128);
    assert_int_equal(p.stats.max_slow, 128);
    top = p.stats.max;
    nb_picture_free(&p);
    return top;
}

static void at_parallel_009(void **state)
{
    static const int sizes[] = {1, 2, 3, 5, 10};
    static const double F[] = {50, 100, 200, 500};
    double x[5], y[5];
    nb_config golden_cfg = nb_suite_config(1, 10, 256);
    nb_picture p;
    nb_line line;
    (void)state;
    for (int i = 0; i < 5; i++) {
        x[i] = log(sizes[i]);
        y[i] = log(peak_height(sizes[i], 100));
    }
    line = nb_fit_line(x, y, 5);
    check_close(line.slope, 6, 0.3);
    check_above(line.r2, 0.99);
    for (int i = 0; i < 4; i++) {
        x[i] = log(F[i]);
        y[i] = log(peak_height(5, F[i]));
    }
    line = nb_fit_line(x, y, 4);
    check_close(line.slope, 2, 0.05);
    check_above(line.r2, 0.99);
    p = rendered(&golden_cfg);
    check_parity(&p, "AT-PARALLEL-009-N10");
    nb_picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_parallel_001), TEST(at_parallel_002), TEST(at_parallel_003),
        TEST(at_parallel_004), TEST(at_parallel_005), TEST(at_parallel_006),
        TEST(at_parallel_007), TEST(at_parallel_008), TEST(at_parallel_009),
    };
    return RUN_TESTS("AT-PARALLEL 001-009", tests);
}
