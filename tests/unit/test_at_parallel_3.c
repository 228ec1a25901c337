/* SPDX-License-Identifier: MIT */
/* AT-PARALLEL-020 to 029. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/pixel.h"

#define DEGREES(radians) ((radians) / NB_DEG)

/** All of the golden image's `top` brightest spots within radius, and the sums. */
static void check_golden(const nb_picture *p, const char *id, int top, double radius,
                         double sum_tolerance)
{
    float *image = golden(id, p->n);
    nb_peak *ours = malloc(3 * (size_t)top * sizeof *ours), *theirs = ours + 2 * top;
    int n = nb_find_peaks(p->pixels, p->fast, p->slow, 50, 3, ours, 2 * top);
    int m = nb_find_peaks(image, p->fast, p->slow, 50, 3, theirs, top);
    check_parity(p, id);
    assert_true(m >= 1);
    assert_int_equal(nb_match_peaks(theirs, m, ours, n, radius), m);
    check_ratio(nb_image_sum(p->pixels, p->n), nb_image_sum(image, p->n), sum_tolerance);
    free(ours);
    free(image);
}

static void at_parallel_020(void **state)
{
    nb_config cfg = nb_suite_config(6.2, 5, 256);
    nb_picture p;
    (void)state;
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    nb_set_misset(&cfg, 15, 25, 35);
    nb_set_rotations(&cfg, 5, 3, 2);
    cfg.twotheta_deg = 10;
    cfg.mosaic_spread_deg = 0.5;
    cfg.mosaic_domains = 5;
    cfg.mosaic_seed = (nb_seed){1, 12345};
    cfg.phi_deg = 0;
    cfg.osc_deg = 90;
    cfg.phi_steps = 9;
    cfg.abs_um = 500;
    cfg.thick_um = 450;
    cfg.thick_steps = 5;
    cfg.layer_depth = NB_LAYER_FRONT;
    cfg.polar_set = 1;
    cfg.polarization = 0.95;
    cfg.pixel_mm = 0.2;
    p = rendered(&cfg);
    check_golden(&p, "AT-PARALLEL-020", 50, 1, 1e-6);
    nb_picture_free(&p);
}

static nb_config sweep(int steps, int tilted)
{
    nb_config cfg = nb_suite_config(6.2, 5, 256);
    cfg.phi_deg = 0;
    cfg.osc_deg = 90;
    cfg.phi_steps = steps;
    if (tilted) {
        nb_set_rotations(&cfg, 5, 3, 2);
        cfg.twotheta_deg = 10;
    }
    return cfg;
}

/* A still at phi is the same crystal mis-set by phi about the spindle (lab z in MOSFLM). */
static void check_phi_turns_spots(int tilted)
{
    nb_config still = sweep(0, tilted), turned = sweep(0, tilted), other;
    nb_picture p, q, r;
    still.osc_deg = turned.osc_deg = NAN;
    nb_set_cell(&still, 70, 80, 90, 75, 85, 95);
    nb_set_cell(&turned, 70, 80, 90, 75, 85, 95);
    other = still;
    still.phi_deg = 33;
    nb_set_misset(&turned, 0, 0, 33);
    p = rendered(&still);
    q = rendered(&turned);
    r = rendered(&other);
    check_same(p, q, 1e-6);
    assert_true(nb_correlation(p.pixels, r.pixels, p.n) < 0.9);
    nb_picture_free(&p);
    nb_picture_free(&q);
    nb_picture_free(&r);
}

static void compare_sweeps(int tilted)
{
    nb_config one = sweep(1, tilted), nine = sweep(9, tilted);
    nb_picture p = rendered(&one), q = rendered(&nine);
    if (!tilted)
        check_golden(&p, "AT-PARALLEL-021-1", 25, 1, 1e-6);
    check_golden(&q, tilted ? "AT-PARALLEL-022-9" : "AT-PARALLEL-021-9", 25, 1, 1e-6);
    if (!tilted)
        check_ratio(nb_image_sum(q.pixels, q.n), nb_image_sum(p.pixels, p.n), 0.15);
    nb_picture_free(&p);
    nb_picture_free(&q);
    check_phi_turns_spots(tilted);
}

static void at_parallel_021(void **state)
{
    (void)state;
    compare_sweeps(0);
}

static void at_parallel_022(void **state)
{
    (void)state;
    compare_sweeps(1);
}

/* The sums of the two sweeps agree within 16 %; the reference program has 15.15 %, and
 * nanobragg has the same to 1e-6. */
static void at_parallel_022_sum(void **state)
{
    nb_config one = sweep(1, 1), nine = sweep(9, 1);
    nb_picture p = rendered(&one), q = rendered(&nine);
    double ratio = nb_image_sum(q.pixels, q.n) / nb_image_sum(p.pixels, p.n);
    (void)state;
    nb_picture_free(&p);
    nb_picture_free(&q);
    check_close(ratio, 1, 0.16);
    check_ratio(ratio, 128272.228 / 151181.732, 1e-6);
}

static void at_parallel_023(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 256);
    nb_picture p;
    (void)state;
    nb_set_misset(&cfg, 15, 20.5, 30.25);
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-023-cubic");
    nb_picture_free(&p);
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-023-triclinic");
    nb_picture_free(&p);
}

static nb_picture random_misset(int64_t seed, int compat, double angles_deg[3])
{
    nb_config cfg = nb_suite_config(1, 5, 256);
    nb_picture p;
    cfg.misset_mode = NB_MISSET_RANDOM;
    cfg.misset_seed = (nb_seed){1, seed};
    cfg.compat = compat;
    p = rendered(&cfg);
    for (int i = 0; i < 3; i++)
        angles_deg[i] = DEGREES(p.sim->model.crystal.misset[i]);
    return p;
}

static void at_parallel_024(void **state)
{
    (void)state;
    for (int compat = 1; compat >= 0; compat--) {
        double a_deg[3], b_deg[3], again[3];
        nb_picture a = random_misset(12345, compat, a_deg),
                   b = random_misset(54321, compat, b_deg),
                   c = random_misset(12345, compat, again);
        nb_config cfg = nb_suite_config(1, 5, 256);
        nb_picture d;
        if (compat) {
            check_parity(&a, "AT-PARALLEL-024-12345");
            check_parity(&b, "AT-PARALLEL-024-54321");
        }
        check_same_bits(&a, &c);
        check_below(nb_correlation(a.pixels, b.pixels, a.n), 0.7);
        cfg.compat = compat;
        nb_set_misset(&cfg, a_deg[0], a_deg[1], a_deg[2]);
        d = rendered(&cfg);
        check_same(d, a, 1e-6);
        nb_picture_free(&a);
        nb_picture_free(&b);
        nb_picture_free(&c);
        nb_picture_free(&d);
    }
}

/** The brightest pixel at its position in the golden image. */
static void check_brightest(const nb_config *cfg, const char *id, double radius)
{
    nb_picture p = rendered(cfg);
    float *image = golden(id, p.n);
    size_t ours = nb_brightest(p.pixels, p.n), theirs = nb_brightest(image, p.n);
    size_t w = (size_t)p.fast;
    check_below(hypot((double)(ours % w) - (double)(theirs % w),
                      (double)(ours / w) - (double)(theirs / w)),
                radius);
    assert_int_equal(p.stats.max_fast, ours % w);
    assert_int_equal(p.stats.max_slow, ours / w);
    free(image);
    nb_picture_free(&p);
}

static void at_parallel_025(void **state)
{
    nb_config cfg = nb_suite_config(6.2, 5, 256);
    (void)state;
    nb_set_beam(&cfg, 20, 20);
    check_brightest(&cfg, "AT-PARALLEL-003-20-20", 0.5);
    nb_set_beam(&cfg, 30, 40);
    check_brightest(&cfg, "AT-PARALLEL-003-30-40", 0.5);
    cfg = nb_suite_config(1, 5, 256);
    nb_set_misset(&cfg, 15, 20.5, 30.25);
    check_brightest(&cfg, "AT-PARALLEL-023-cubic", 0.5);
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    check_brightest(&cfg, "AT-PARALLEL-023-triclinic", 0.5);
}

static void at_parallel_026(void **state)
{
    nb_config cfg = nb_suite_config(1.5, 1, 256);
    nb_picture p;
    (void)state;
    nb_set_cell(&cfg, 70, 80, 90, 85, 95, 105);
    cfg.distance_mm = 150;
    cfg.oversample = 0;
    check_brightest(&cfg, "AT-PARALLEL-026", 1);
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-026");
    nb_picture_free(&p);
}

/* Against an image with F = 1 everywhere, each pixel shows its own reflection's F^2. */
static void at_parallel_027(void **state)
{
    static const double F[3][3] = {{100, 25, 150}, {50, 12.5, 0}, {200, 0, 0}};
    nb_config cfg = nb_suite_config(6.2, 5, 64), flat;
    int seen[3][3] = {{0}};
    nb_picture p, q;
    (void)state;
    cfg.oversample = 0;
    cfg.default_F = NAN;
    nb_golden_path(cfg.hkl_file, "pattern.hkl");
    p = rendered(&cfg);
    check_parity(&p, "AT-PARALLEL-027");
    nb_picture_free(&p);

    /* wider, with h and k in the plane of the detector */
    cfg = nb_suite_config(6.2, 5, 320);
    cfg.convention = NB_CONV_XDS;
    cfg.default_F = NAN;
    nb_golden_path(cfg.hkl_file, "pattern.hkl");
    flat = cfg;
    flat.hkl_file[0] = 0;
    flat.default_F = 1;
    p = rendered(&cfg);
    q = rendered(&flat);
    for (int i = 0; i < (int)p.n; i++) {
        const nb_scene *sc = &p.sim->model.scene;
        nb_ray ray = nb_ray_to(sc->panels, sc->sensors, (i % 320 + 0.5) * 1e-4,
                               (i / 320 + 0.5) * 1e-4, 0);
        nb_vec3 v = nb_scattering_vector(&sc->beam.sources[0], ray.direction);
        nb_sample m = nb_sample_at(&sc->lattice, &sc->factors.table, 0,
                                   &sc->lattice.orientations[0], v);
        int listed = m.h0 >= 0 && m.h0 <= 2 && m.k0 >= 0 && m.k0 <= 2 && m.l0 == 0;
        double expected = listed ? pow(F[(int)m.h0][(int)m.k0], 2) : 0;
        check_close(p.pixels[i], expected * q.pixels[i], 0.01 * expected * q.pixels[i]);
        if (listed)
            seen[(int)m.h0][(int)m.k0]++;
    }
    for (int h = 0; h < 3; h++)
        for (int k = 0; k < 3; k++)
            assert_true(seen[h][k] > 0);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

static void at_parallel_028(void **state)
{
    (void)state;
    skip_because("speed is measured by the benchmark, not by a unit test");
}

/** In-place Fourier transform of n = 2^k complex numbers, `stride` apart (Cooley & Tukey). */
static void transform(double *re, double *im, int n, int stride)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double r = re[i * stride], m = im[i * stride];
            re[i * stride] = re[j * stride];
            im[i * stride] = im[j * stride];
            re[j * stride] = r;
            im[j * stride] = m;
        }
    }
    for (int size = 2; size <= n; size *= 2)
        for (int i = 0; i < n; i += size)
            for (int k = 0; k < size / 2; k++) {
                double angle = -2 * NB_PI * k / size, c = cos(angle), s = sin(angle);
                int a = (i + k) * stride, b = (i + k + size / 2) * stride;
                double r = re[b] * c - im[b] * s, m = re[b] * s + im[b] * c;
                re[b] = re[a] - r;
                im[b] = im[a] - m;
                re[a] += r;
                im[a] += m;
            }
}

/** Power of a 256 x 256 image at spatial frequencies above `floor` cycles a pixel. */
static double high_power(const float *image, double floor)
{
    enum { N = 256 };
    double *re = calloc(2 * N * N, sizeof *re), *im = re + N * N, power = 0;
    for (int i = 0; i < N * N; i++)
        re[i] = image[i];
    for (int i = 0; i < N; i++)
        transform(re + i * N, im + i * N, N, 1);
    for (int i = 0; i < N; i++)
        transform(re + i, im + i, N, N);
    for (int i = 0; i < N * N; i++) {
        int f = i % N, s = i / N;
        f = f < N / 2 ? f : N - f;
        s = s < N / 2 ? s : N - s;
        if (hypot(f, s) > floor * N)
            power += re[i] * re[i] + im[i] * im[i];
    }
    free(re);
    return power;
}

/** Full width at half maximum along fast, px, by straight lines between the pixels. */
static double width(const nb_picture *p, const nb_peak *peak)
{
    const float *row = p->pixels + (size_t)peak->s * p->fast;
    double half = peak->value / 2, edge[2];
    for (int side = 0; side < 2; side++) {
        int step = side ? 1 : -1, f = peak->f;
        while (f > 0 && f < p->fast - 1 && row[f] > half)
            f += step;
        edge[side] = f - step * (half - row[f]) / (row[f - step] - row[f]);
    }
    return edge[1] - edge[0];
}

static void at_parallel_029(void **state)
{
    static const int oversample[] = {1, 2, 4, 8};
    nb_picture p[4];
    nb_peak peaks[4][10], near[200];
    double d, converged;
    int n, stable = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        nb_config cfg = nb_suite_config(1, 5, 256);
        cfg.distance_mm = 50;
        cfg.oversample = oversample[i];
        p[i] = rendered(&cfg);
    }
    check_parity(&p[0], "AT-PARALLEL-029-os1");
    check_parity(&p[2], "AT-PARALLEL-029-os4");
    /* Spots 5 px apart have harmonics at 0.2, 0.4, 0.6 and 0.8 cycles a pixel. The last two
     * are aliased, the stronger one onto 0.4, which also has its own power. So the power of
     * the whole band must halve, and so must the power above half of Nyquist's frequency
     * that the converged image does not have. */
    check_below(high_power(p[1].pixels, 0.375), 0.5 * high_power(p[0].pixels, 0.375));
    converged = high_power(p[3].pixels, 0.25);
    check_above(high_power(p[0].pixels, 0.25), 1.5 * converged); /* it does alias */
    check_below(high_power(p[1].pixels, 0.25) - converged,
                0.5 * (high_power(p[0].pixels, 0.25) - converged));
    check_same(p[2], p[3], 0.02); /* it converges */
    assert_int_equal(nb_find_peaks(p[3].pixels, 256, 256, 95, 2, peaks[3], 10), 10);
    for (int i = 0; i < 3; i++) {
        n = nb_find_peaks(p[i].pixels, 256, 256, 50, 1, near, 200);
        for (int k = 0; i == 2 && k < 10; k++) {
            int at = nb_nearest_peak(&peaks[3][k], near, n, &d);
            check_below(d, 0.5);
            stable +=
                fabs(width(&p[2], &near[at]) / width(&p[3], &peaks[3][k]) - 1) <= 0.05;
        }
    }
    assert_int_equal(stable, 10);
    for (int i = 0; i < 4; i++)
        nb_picture_free(&p[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_parallel_020),     TEST(at_parallel_021), TEST(at_parallel_022),
        TEST(at_parallel_022_sum), TEST(at_parallel_023), TEST(at_parallel_024),
        TEST(at_parallel_025),     TEST(at_parallel_026), TEST(at_parallel_027),
        TEST(at_parallel_028),     TEST(at_parallel_029),
    };
    return RUN_TESTS("AT-PARALLEL 020-029", tests);
}
