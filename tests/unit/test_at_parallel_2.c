/* SPDX-License-Identifier: MIT */
/* AT-PARALLEL-010 to 018. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/ray.h"

enum { CUBIC_PIXELS = 1024 };

/** Sum of a structureless, unpolarized image, from the solid angles. Tilted detectors are
 * small, so that one distance R is right for all pixels. */
static double bare_sum(double distance, double tilt, int point)
{
    nb_config cfg = nb_suite_config(6.2, 1, point ? 256 : 64);
    nb_picture p;
    double sum;
    cfg.distance_mm = distance;
    cfg.nopolar = 1;
    cfg.point_pixel = point;
    nb_set_rotations(&cfg, 0, tilt, 0); /* a rotation about X would not tilt it */
    p = rendered(&cfg);
    sum = nb_image_sum(p.pixels, p.n);
    nb_picture_free(&p);
    return sum;
}

/** Every pixel of a structureless image against F^2 times its own solid angle. */
static void check_pixels(double distance, double tilt, int point)
{
    nb_config cfg = nb_suite_config(6.2, 1, 64);
    nb_picture p;
    const nb_panel *panel;
    cfg.distance_mm = distance;
    cfg.nopolar = 1;
    cfg.point_pixel = point;
    nb_set_rotations(&cfg, 0, tilt, 0);
    p = rendered(&cfg);
    panel = p.sim->model.scene.panels;
    for (int s = 0; s < 64; s++)
        for (int f = 0; f < 64; f++) {
            nb_vec3 x =
                nb_add(panel->pix0, nb_add(nb_scale((f + 0.5) * 1e-4, panel->fast),
                                           nb_scale((s + 0.5) * 1e-4, panel->slow)));
            double R = nb_norm(x), cosine = nb_dot(x, panel->normal) / R;
            double omega = 1e-8 / (R * R) * (point ? 1 : cosine);
            check_ratio(p.pixels[s * 64 + f], 1e4 * omega, 1e-6);
        }
    nb_picture_free(&p);
}

static void at_parallel_010(void **state)
{
    static const double distances[] = {50, 100, 200, 400}, tilts[] = {0, 10, 20, 30};
    nb_config cfg = nb_suite_config(6.2, 5, 256);
    nb_picture p;
    (void)state;
    for (int i = 0; i < 4; i++) {
        double d = distances[i];
        check_ratio(bare_sum(d, 0, 1) * d * d, bare_sum(400, 0, 1) * 400 * 400, 0.05);
        check_pixels(d, 0, 1);
        for (int k = 0; k < 4; k++) { /* the beam's pivot keeps R; close = d cos(tilt) */
            double expected = d * cos(tilts[k] * NB_DEG) / (d * d * d);
            double unit = bare_sum(400, 0, 0) * 400 * 400;
            check_ratio(bare_sum(d, tilts[k], 0), unit * expected, 0.02);
        }
        check_pixels(d, 30, 0);
    }
    cfg.oversample = 0;
    cfg.distance_mm = 50;
    cfg.point_pixel = 1;
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-010-point50");
    nb_picture_free(&p);
    cfg.distance_mm = 100;
    cfg.point_pixel = 0;
    nb_set_rotations(&cfg, 30, 0, 0);
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-010-tilt30");
    nb_picture_free(&p);
}

/** 1 - (d.e)^2 of a dipole along e, for the two parts of a beam of Kahn factor K: an
 * independent form of the polarization factor. */
static double dipoles(double K, nb_vec3 beam, nb_vec3 electric, nb_vec3 d)
{
    nb_vec3 magnetic = nb_cross(beam, electric);
    return 1 - (1 + K) / 2 * pow(nb_dot(d, electric), 2) -
           (1 - K) / 2 * pow(nb_dot(d, magnetic), 2);
}

/** Compare polarized/unpolarized with the exact ratio over a wide detector. */
static void check_polarization(double K, double mean_limit)
{
    nb_config cfg = nb_suite_config(6.2, 1, 128), bare;
    double error = 0, x[128 * 128], y[128 * 128];
    nb_picture p, q;
    const nb_geometry *g;
    cfg.pixel_mm = 0.8;
    cfg.polarization = K;
    cfg.polar_set = 1;
    bare = cfg;
    bare.nopolar = 1;
    p = rendered(&cfg);
    q = rendered(&bare);
    g = &p.sim->model.geometry;
    for (int i = 0; i < 128 * 128; i++) {
        nb_vec3 d =
            nb_unit(nb_add(g->pix0, nb_add(nb_scale((i % 128 + 0.5) * 8e-4, g->fast),
                                           nb_scale((i / 128 + 0.5) * 8e-4, g->slow))));
        double c = nb_dot(d, g->beam);
        x[i] = K == 0 ? 0.5 * (1 + c * c) : dipoles(K, g->beam, g->polar, d);
        y[i] = p.pixels[i] / q.pixels[i];
        error += fabs(y[i] / x[i] - 1) / (128 * 128);
        check_close(y[i], x[i], 1e-6);
    }
    check_below(error, mean_limit);
    check_above(nb_fit_line(x, y, 128 * 128).r2, 0.95);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

static void at_parallel_011(void **state)
{
    nb_config cfg = nb_suite_config(6.2, 5, 256);
    nb_picture p;
    (void)state;
    check_polarization(0, 0.01);
    check_polarization(0.95, 0.02);
    cfg.oversample = 0;
    cfg.polar_set = 1;
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-011-unpolarized");
    nb_picture_free(&p);
    cfg.polarization = 0.95;
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-011-polarized");
    nb_picture_free(&p);
}

/** Of the `top` brightest golden spots at least `share` have ours within radius. */
static void check_spots(const nb_picture *p, const char *id, int top, double radius)
{
    float *image = golden(id, p->n);
    nb_peak *ours = malloc(3 * (size_t)top * sizeof *ours), *theirs = ours + 2 * top;
    int n = nb_find_peaks(p->pixels, p->fast, p->slow, 50, 3, ours, 2 * top);
    int m = nb_find_peaks(image, p->fast, p->slow, 50, 3, theirs, top);
    assert_true(m >= 1);
    assert_int_equal(nb_match_peaks(theirs, m, ours, n, radius), m);
    free(ours);
    free(image);
}

/* There is no golden image of 4096 pixels: the region must be equal to the image of a small
 * detector there. */
static void check_high_resolution(void)
{
    nb_config cfg = nb_suite_config(0.5, 5, 4096), shifted = nb_suite_config(0.5, 5, 512);
    nb_peak ours[100], theirs[50];
    float *region = malloc(512 * 512 * sizeof *region);
    nb_picture p, q;
    int n, m;
    cfg.roi_set = 1;
    cfg.roi[0] = cfg.roi[2] = 2900;
    cfg.roi[1] = cfg.roi[3] = 2900 + 511;
    nb_set_beam(&cfg, 204.8, 204.8);
    nb_set_beam(&shifted, 204.8 - 290, 204.8 - 290);
    p = rendered(&cfg);
    q = rendered(&shifted);
    for (int s = 0; s < 512; s++)
        memcpy(region + 512 * s, p.pixels + (size_t)(2900 + s) * 4096 + 2900,
               512 * sizeof *region);
    n = nb_find_peaks(region, 512, 512, 90, 3, ours, 100);
    m = nb_find_peaks(q.pixels, 512, 512, 90, 3, theirs, 50);
    assert_int_equal(m, 50);
    assert_int_equal(nb_match_peaks(theirs, m, ours, n, 1), m);
    check_below(nb_max_difference(region, q.pixels, 512 * 512), 1e-6);
    free(region);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

static nb_config triclinic_012(void)
{
    nb_config cfg = nb_suite_config(1, 5, 512);
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    nb_set_misset(&cfg, -89.968546, -31.328953, 177.753396);
    cfg.oversample = 0;
    return cfg;
}

static void at_parallel_012(void **state)
{
    nb_config cfg = nb_suite_config(6.2, 5, CUBIC_PIXELS);
    nb_picture p;
    (void)state;
    cfg.oversample = 0;
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-012-simple_cubic");
    check_spots(&p, "AT-PARALLEL-012-simple_cubic", 50, 0.5);
    nb_picture_free(&p);
    cfg = triclinic_012();
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-012-triclinic");
    check_spots(&p, "AT-PARALLEL-012-triclinic", 50, 0.5);
    nb_picture_free(&p);
    cfg = nb_suite_config(6.2, 5, 512);
    cfg.pixel_mm = 0.2;
    nb_set_beam(&cfg, 61.2, 61.2);
    nb_set_rotations(&cfg, 5, 3, 2);
    cfg.twotheta_deg = 15;
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-012-tilted");
    check_spots(&p, "AT-PARALLEL-012-tilted", 50, 1);
    nb_picture_free(&p);
    check_high_resolution();
}

/* Double: the same bytes on every instruction set.  Mixed: its own row of the golden table. */
static void at_parallel_013(void **state)
{
    static const nb_isa isas[] = {NB_ISA_SCALAR, NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512,
                                  NB_ISA_NEON};
    nb_config cfg = triclinic_012();
    nb_picture reference, p;
    int ran = 0;
    (void)state;
    nb_set_pixels(&cfg, 128, 128);
    cfg.isa = NB_ISA_SCALAR;
    reference = rendered(&cfg);
    for (int i = 0; i < 5; i++)
        for (int mixed = 0; mixed < 2; mixed++) {
            nb_error err = {0};
            nb_status st;
            cfg.isa = isas[i];
            cfg.precision = mixed ? NB_PRECISION_MIXED : NB_PRECISION_DOUBLE;
            st = nb_picture_render(&cfg, &p, &err);
            if (st == NB_ERR_UNSUPPORTED || st == NB_ERR_INPUT) {
                printf("# isa %d, precision %d: %s\n", i + 1, (int)cfg.precision,
                       err.message);
                continue;
            }
            assert_int_equal(st, NB_OK);
            if (mixed)
                check_same(p, reference, 1e-6);
            else
                check_same_bits(&p, &reference);
            nb_picture_free(&p);
            ran++;
        }
    assert_true(ran >= 2);
    nb_picture_free(&reference);
}

/** Intensity-weighted centre of the 7x7 pixels round (f, s), above the offset. */
static void centroid(const uint16_t *image, int fast, int f, int s, double c[2])
{
    double sum = 0;
    c[0] = c[1] = 0;
    for (int j = s - 3; j <= s + 3; j++)
        for (int i = f - 3; i <= f + 3; i++) {
            double v = image[j * fast + i] - 40.0;
            sum += v;
            c[0] += v * i;
            c[1] += v * j;
        }
    c[0] /= sum;
    c[1] /= sum;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A mean of about 1e3 photons a pixel, of which the brightest spots overload. */
static void at_parallel_014(void **state)
{
    static const int64_t seeds[] = {123, 456};
    nb_config cfg = nb_suite_config(2, 5, 256);
    uint16_t *noise[2];
    int64_t overloads[2] = {0};
    double mean[2] = {0}, expected = 0, distance[20];
    nb_peak peaks[200];
    nb_picture p = rendered(&cfg);
    int n, used = 0;
    (void)state;
    cfg.fluence = 125932015286227086360700780544.0 * 1000 / p.stats.mean;
    nb_picture_free(&p);
    for (int k = 0; k < 2; k++) {
        nb_error err = {0};
        cfg.seed = (nb_seed){1, seeds[k]};
        p = rendered(&cfg);
        check_ratio(p.stats.mean, 1000, 1e-5);
        noise[k] = malloc(p.n * sizeof **noise);
        if (nb_sim_noise(p.sim, p.pixels, noise[k], &overloads[k], &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < p.n; i++)
            mean[k] += noise[k][i] / (double)p.n;
        if (k == 0)
            nb_picture_free(&p);
    }
    for (size_t i = 0; i < p.n; i++)
        expected += fmin(p.pixels[i] + 40.0, 65535) / (double)p.n;
    assert_true(memcmp(noise[0], noise[1], p.n * sizeof **noise) != 0);
    for (int k = 0; k < 2; k++)
        check_ratio(mean[k], expected, 0.01);
    assert_true(overloads[0] > 20);
    check_ratio(overloads[1], overloads[0], 0.1);
    n = nb_find_peaks(p.pixels, 256, 256, 99, 3, peaks, 200);
    for (int i = 0; i < n && used < 20; i++) {
        double a[2], b[2];
        if (peaks[i].f < 4 || peaks[i].f > 251 || peaks[i].s < 4 || peaks[i].s > 251)
            continue;
        centroid(noise[0], 256, peaks[i].f, peaks[i].s, a);
        centroid(noise[1], 256, peaks[i].f, peaks[i].s, b);
        distance[used++] = hypot(a[0] - b[0], a[1] - b[1]);
    }
    assert_int_equal(used, 20);
    qsort(distance, (size_t)used, sizeof *distance, ascending);
    check_below(distance[used / 2], 0.5);
    check_below(distance[used * 9 / 10], 1);
    free(noise[0]);
    free(noise[1]);
    nb_picture_free(&p);
}

static void at_parallel_015(void **state)
{
    nb_config base = nb_suite_config(1, 5, 256), cfg;
    nb_picture a = rendered(&base), b;
    (void)state;
    cfg = base;
    cfg.lambda_A = NAN;
    cfg.energy_eV = 12398.419843320026;
    b = rendered(&cfg);
    check_same(b, a, 1e-7);
    nb_picture_free(&b);
    cfg = base;
    cfg.detpixels[0] = cfg.detpixels[1] = 0;
    cfg.detsize_mm[0] = cfg.detsize_mm[1] = 25.6;
    b = rendered(&cfg);
    check_same(b, a, 1e-7);
    nb_picture_free(&b);
    cfg = base;
    nb_set_N(&cfg, 0);
    for (int i = 0; i < 3; i++)
        cfg.xtal_size_mm[i] = 5e-5;
    b = rendered(&cfg);
    check_same(b, a, 1e-7);
    nb_picture_free(&b);
    nb_picture_free(&a);
}

static void at_parallel_016(void **state)
{
    nb_config tiny = nb_suite_config(0.1, 1, 128), large = nb_suite_config(6, 10, 512),
              far = nb_suite_config(6.2, 5, 256);
    nb_config *const cfgs[] = {&tiny, &large, &far};
    static const char *const ids[] = {"AT-PARALLEL-016-tiny", "AT-PARALLEL-016-largecell",
                                      "AT-PARALLEL-016-long"};
    (void)state;
    tiny.distance_mm = 10;
    tiny.pixel_mm = 0.05;
    nb_set_cell(&large, 300, 300, 300, 90, 90, 90);
    far.distance_mm = 10000;
    far.pixel_mm = 0.2;
    for (int i = 0; i < 3; i++) {
        nb_picture p = rendered(cfgs[i]);
        assert_true(nb_all_finite(p.pixels, p.n));
        check_parity(&p, ids[i]);
        check_spots(&p, ids[i], 25, 2);
        nb_picture_free(&p);
    }
}

/** Solid angle of a triangle seen from the origin (van Oosterom & Strackee 1983). */
static double triangle(nb_vec3 a, nb_vec3 b, nb_vec3 c)
{
    double A = nb_norm(a), B = nb_norm(b), C = nb_norm(c);
    double volume = nb_dot(a, nb_cross(b, c));
    return 2 * atan2(fabs(volume),
                     A * B * C + nb_dot(a, b) * C + nb_dot(a, c) * B + nb_dot(b, c) * A);
}

static void at_parallel_017(void **state)
{
    static const double setups[][4] = {
        {50, 45, 0, 60}, {50, 0, 0, 0}, {-60, 50, 30, 0}, {0, 0, 0, 75}, {0, 85, 0, 0}};
    (void)state;
    for (int i = 0; i < 5; i++) {
        nb_config cfg = nb_suite_config(1.5, 5, 256);
        const nb_panel *panel;
        nb_vec3 corner[4];
        nb_picture p;
        cfg.oversample = 2;
        nb_set_rotations(&cfg, setups[i][0], setups[i][1], setups[i][2]);
        cfg.twotheta_deg = setups[i][3];
        p = rendered(&cfg);
        panel = p.sim->model.scene.panels;
        assert_true(nb_all_finite(p.pixels, p.n));
        for (int k = 0; k < 4; k++)
            corner[k] =
                nb_add(panel->pix0, nb_add(nb_scale((k & 1) * 256e-4, panel->fast),
                                           nb_scale((k >> 1) * 256e-4, panel->slow)));
        check_ratio(p.stats.solid_angle,
                    triangle(corner[0], corner[1], corner[2]) +
                        triangle(corner[3], corner[1], corner[2]),
                    1e-5);
        if (i == 0)
            check_parity(&p, "AT-PARALLEL-017-grazing");
        nb_picture_free(&p);
    }
}

static void at_parallel_018(void **state)
{
    nb_config aligned = nb_suite_config(1, 5, 256), exact = nb_suite_config(1, 21, 100);
    nb_picture p, q;
    (void)state;
    nb_set_misset(&aligned, 90, 0, 0);
    aligned.oversample = 0;
    p = rendered(&aligned);
    check_parity(&p, "AT-PARALLEL-018-aligned");
    nb_set_misset(&aligned, 90 + 1e-7, 1e-7, -1e-7);
    q = rendered(&aligned);
    assert_true(nb_all_finite(p.pixels, p.n));
    check_same(q, p, 1e-5);
    nb_picture_free(&p);
    nb_picture_free(&q);

    exact.pixel_mm = 1; /* pixel (0, 0) is q = 0 exactly, and rows lie along h and k */
    exact.distance_mm = 80;
    exact.convention = NB_CONV_XDS;
    exact.orgx = exact.orgy = 1;
    p = rendered(&exact);
    assert_true(nb_all_finite(p.pixels, p.n));
    assert_int_equal(p.stats.max_fast + p.stats.max_slow, 0);
    check_ratio(p.pixels[0], 1e4 * pow(21, 6) * 1e-6 / (0.08 * 0.08), 1e-6);
    nb_set_misset(&exact, 1e-7, 1e-7, 1e-7);
    q = rendered(&exact);
    check_same(q, p, 1e-4);
    nb_picture_free(&q);
    nb_set_misset(&exact, 0, 0, 0);
    exact.distance_mm = 80 * (1 + 1e-7);
    q = rendered(&exact);
    check_same(q, p, 1e-4);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_parallel_010), TEST(at_parallel_011), TEST(at_parallel_012),
        TEST(at_parallel_013), TEST(at_parallel_014), TEST(at_parallel_015),
        TEST(at_parallel_016), TEST(at_parallel_017), TEST(at_parallel_018),
    };
    return RUN_TESTS("AT-PARALLEL 010-018", tests);
}
