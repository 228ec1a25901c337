/* SPDX-License-Identifier: MIT */
/* AT-SAM, AT-ABS, AT-STR, AT-POL and AT-BKG, with exact values that do not use the
 * library's formulas. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/pixel.h"

/** A structureless crystal: every orientation scatters equally. */
static nb_config flat_config(int pixels)
{
    nb_config cfg = nb_suite_config(1, 1, pixels);
    cfg.pixel_mm = 1;
    return cfg;
}

static void at_sam_001(void **state)
{
    nb_config base = flat_config(32), cfg = base;
    nb_picture p, q;
    (void)state;
    p = rendered(&base);
    cfg.osc_deg = 10;
    cfg.phi_steps = 7;
    cfg.mosaic_spread_deg = 3;
    cfg.mosaic_domains = 5;
    cfg.nopolar = base.nopolar = 0;
    q = rendered(&cfg);
    assert_int_equal(q.sim->model.scene.samples, 35);
    check_same(q, p, 1e-6);
    nb_picture_free(&q);
    cfg.hdiv_range_mrad = 1e-6;
    cfg.hdiv_steps = 3;
    cfg.dispersion_pct = 1;
    cfg.dispersion_steps = 2;
    cfg.thick_um = 0;
    q = rendered(&cfg);
    assert_int_equal(q.sim->model.scene.samples, 210);
    check_same(q, p, 1e-6);
    nb_picture_free(&q);
    cfg.oversample = 3;
    cfg.oversample_omega = cfg.oversample_polar = 1;
    q = rendered(&cfg);
    assert_int_equal(q.sim->model.scene.samples, 1890);
    check_same(q, p, 2e-4); /* omega and polarization averaged over 1 mm pixels */
    nb_picture_free(&p);
    nb_picture_free(&q);
}

/** Sum of each 3x3 block of a finer image. */
static float *binned(const nb_picture *fine)
{
    int n = fine->fast / 3;
    float *out = calloc((size_t)n * n, sizeof *out);
    double *sum = calloc((size_t)n * n, sizeof *sum);
    for (int i = 0; i < (int)fine->n; i++)
        sum[i / fine->fast / 3 * n + i % fine->fast / 3] += fine->pixels[i];
    for (int i = 0; i < n * n; i++)
        out[i] = (float)sum[i];
    free(sum);
    return out;
}

static void at_sam_002(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 32), fine;
    nb_picture cached, exact, truth;
    float *sums;
    (void)state;
    cfg.pixel_mm = 3;
    cfg.convention = NB_CONV_XDS;
    cfg.polarization = 0.9;
    cfg.polar_set = 1;
    cached = rendered(&cfg);
    cfg.oversample_omega = cfg.oversample_polar = cfg.oversample_thick = 1;
    exact = rendered(&cfg);
    check_same(exact, cached, 1e-6); /* one sub-pixel, one source: the same thing */
    nb_picture_free(&cached);
    nb_picture_free(&exact);
    cfg.oversample = 3;
    exact = rendered(&cfg);
    fine = cfg;
    fine.oversample = 1;
    fine.pixel_mm = 1;
    nb_set_pixels(&fine, 96, 96);
    truth = rendered(&fine);
    sums = binned(&truth);
    check_below(nb_max_difference(exact.pixels, sums, exact.n), 1e-6);
    nb_picture_free(&exact);
    /* cached: the same sum with the factors of the first sub-pixel */
    cfg.oversample_omega = cfg.oversample_polar = 0;
    cached = rendered(&cfg);
    check_same(cached, ((nb_picture){.n = cached.n, .pixels = sums}), 0.05);
    assert_true(nb_max_difference(cached.pixels, sums, cached.n) > 1e-3);
    nb_picture_free(&truth);
    free(sums);
    nb_picture_free(&cached);
}

static void at_sam_003(void **state)
{
    nb_config cfg = flat_config(64), all;
    nb_picture p, q;
    int inside = 0, outside = 0;
    (void)state;
    all = cfg;
    cfg.dmin_A = 4;
    p = rendered(&cfg);
    q = rendered(&all);
    for (int i = 0; i < 64 * 64; i++) { /* d = lambda / (2 sin theta) */
        double r = hypot((i % 64 + 0.5) * 1e-3 - p.sim->model.geometry.Fbeam,
                         (i / 64 + 0.5) * 1e-3 - p.sim->model.geometry.Sbeam);
        double d = 1 / (2 * sin(atan2(r, 0.1) / 2));
        if (d >= 4) {
            assert_true(p.pixels[i] == q.pixels[i]);
            inside++;
        } else {
            assert_true(p.pixels[i] == 0);
            outside++;
        }
    }
    assert_true(inside > 500 && outside > 500);
    nb_picture_free(&p);
    nb_picture_free(&q);
    /* water is not culled */
    cfg.water_um = all.water_um = 0.05;
    all.default_F = 0;
    p = rendered(&cfg);
    q = rendered(&all);
    check_ratio(p.pixels[0], q.pixels[0], 1e-6);
    check_above(q.pixels[0], 1e-9);
    assert_true(p.pixels[32 * 64 + 32] > q.pixels[32 * 64 + 32]);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

static void at_abs_001(void **state)
{
    static const int layers[] = {0, 1, 2, 3, 10, 57};
    (void)state;
    for (int i = 0; i < 6; i++)
        for (int tilt = 0; tilt < 2; tilt++) {
            nb_config cfg = flat_config(32), bare;
            nb_picture p, q;
            nb_set_rotations(&cfg, 0, tilt ? 35 : 0, 0);
            bare = cfg;
            cfg.thick_um = 450;
            cfg.abs_um = 300;
            cfg.thick_steps = layers[i];
            cfg.layer_depth = NB_LAYER_FRONT;
            p = rendered(&cfg);
            q = rendered(&bare);
            assert_int_equal(p.sim->model.scene.sensors->layers,
                             layers[i] ? layers[i] : 2);
            for (int k = 0; k < 32 * 32; k++) {
                const nb_geometry *g = &p.sim->model.geometry;
                nb_vec3 x =
                    nb_add(g->pix0, nb_add(nb_scale((k % 32 + 0.5) * 1e-3, g->fast),
                                           nb_scale((k / 32 + 0.5) * 1e-3, g->slow)));
                double cosine = nb_dot(x, g->normal) / nb_norm(x);
                double worst = layers[i] == 1 ? 1e-6 : 3e-4;
                /* deeper layers see the pixel under a slightly other angle */
                check_ratio(p.pixels[k] / q.pixels[k], 1 - exp(-450.0 / 300 / cosine),
                            worst);
            }
            nb_picture_free(&p);
            nb_picture_free(&q);
        }
}

/* The layers of one ray alone telescope exactly. */
static void at_abs_001_telescopes(void **state)
{
    nb_sensor sensor = {.layers = 9, .layer_step = 50e-6, .mu = 1 / 320e-6, .absorb = 1};
    nb_panel panel = {.normal = {1, 0, 0}};
    (void)state;
    for (double angle = 0; angle < 1.5; angle += 0.3) {
        nb_vec3 d = nb_v3(cos(angle), sin(angle), 0);
        double sum = 0;
        for (int layer = 0; layer < 9; layer++)
            sum += nb_capture(&panel, &sensor, layer, d);
        check_close(sum, 1 - exp(-450.0 / 320 / cos(angle)), 1e-14);
    }
}

static void no_sensor_captures_all(void **state)
{
    nb_config cfg = flat_config(16), bare = cfg;
    static const double abs_um[] = {NAN, 0, INFINITY, 300};
    nb_picture p = rendered(&bare), q;
    (void)state;
    for (int i = 0; i < 4; i++) {
        cfg = bare;
        cfg.abs_um = abs_um[i];
        cfg.thick_um = i == 3 || i == 0 ? 0 : 500;
        cfg.oversample_thick = 1;
        q = rendered(&cfg);
        check_same_bits(&p, &q);
        nb_picture_free(&q);
    }
    cfg = bare; /* thickness alone: one attenuation length */
    cfg.thick_um = 320;
    cfg.thick_steps = 1;
    q = rendered(&cfg);
    check_close(q.sim->model.scene.sensors->mu, 1 / 320e-6, 1e-9);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

static void at_pol_001(void **state)
{
    static const double K[] = {-1, -0.5, 0, 0.3, 0.95, 1};
    const nb_vec3 beam = nb_unit(nb_v3(1, 0.2, -0.3));
    nb_vec3 axis = nb_v3(0.1, 0.3, 1), electric, magnetic;
    (void)state;
    electric = nb_unit(nb_sub(axis, nb_scale(nb_dot(axis, beam), beam)));
    magnetic = nb_cross(beam, electric);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 200; k++) {
            double z = 1 - 2 * (k + 0.5) / 200, turn = 2.399963 * k, r = sqrt(1 - z * z);
            nb_vec3 d = nb_v3(r * cos(turn), r * sin(turn), z);
            /* a dipole along e radiates 1 - (d.e)^2 */
            double truth = 1 - (1 + K[i]) / 2 * pow(nb_dot(d, electric), 2) -
                           (1 - K[i]) / 2 * pow(nb_dot(d, magnetic), 2);
            /* Kahn's form, written out with the angles */
            double c = nb_dot(d, beam),
                   psi = atan2(nb_dot(d, magnetic), nb_dot(d, electric));
            double kahn = 0.5 * (1 + c * c - K[i] * cos(2 * psi) * (1 - c * c));
            check_close(nb_polarization(K[i], beam, d, axis), truth, 1e-14);
            check_close(kahn, truth, 1e-14);
        }
    check_close(nb_polarization(0.9, beam, beam, axis), 1, 1e-15);
    check_close(nb_polarization(0.9, beam, nb_scale(-1, beam), axis), 1, 1e-15);
}

static void nopolar_wins(void **state)
{
    nb_config cfg = flat_config(16), bare = cfg;
    nb_picture p, q;
    (void)state;
    bare.nopolar = 1;
    p = rendered(&bare);
    cfg.polarization = 0.9;
    cfg.polar_set = cfg.nopolar = cfg.oversample_polar = 1;
    q = rendered(&cfg);
    check_same_bits(&p, &q);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

/** Water alone, with the given fluence (relative to 1/r_e^2) and oversampling. */
static nb_picture water(double fluence, int oversample)
{
    nb_config cfg = flat_config(16);
    cfg.default_F = 0;
    cfg.water_um = 1;
    cfg.nopolar = 1;
    cfg.oversample = oversample;
    cfg.oversample_omega = 1;
    cfg.fluence = fluence / 7.94079248018965e-30;
    return rendered(&cfg);
}

static void at_bkg_001(void **state)
{
    nb_picture p = water(1, 1), q = water(1e-3, 1), r = water(1, 4);
    const double molecules = 1e-18 * 1e6 * 6.02214179e23 / 18; /* 1 um^3 of 1 g/cm^3 */
    (void)state;
    for (int i = 0; i < 256; i++) {
        double omega = nb_ray_to(p.sim->model.scene.panels, p.sim->model.scene.sensors,
                                 (i % 16 + 0.5) * 1e-3, (i / 16 + 0.5) * 1e-3, 0)
                           .omega;
        check_ratio(p.pixels[i], 2.57 * 2.57 * molecules * omega, 1e-6);
        check_ratio(q.pixels[i], 1e-3 * p.pixels[i], 1e-6);
        check_ratio(r.pixels[i], p.pixels[i], 1e-4);
    }
    nb_picture_free(&p);
    nb_picture_free(&q);
    nb_picture_free(&r);
    { /* added to the crystal, and independent of the sampling */
        nb_config cfg = nb_suite_config(1, 5, 16), dry;
        cfg.mosaic_spread_deg = 0.5;
        cfg.mosaic_domains = 3;
        cfg.osc_deg = 1;
        cfg.phi_steps = 2;
        cfg.nopolar = 1;
        cfg.pixel_mm = 1;
        dry = cfg;
        cfg.water_um = 1;
        p = rendered(&cfg);
        q = rendered(&dry);
        r = water(1, 1);
        for (int i = 0; i < 256; i++)
            check_ratio(p.pixels[i], q.pixels[i] + r.pixels[i], 1e-5);
        nb_picture_free(&p);
        nb_picture_free(&q);
        nb_picture_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_sam_001),
        TEST(at_sam_002),
        TEST(at_sam_003),
        TEST(at_abs_001),
        TEST(at_abs_001_telescopes),
        TEST(no_sensor_captures_all),
        TEST(at_pol_001),
        TEST(nopolar_wins),
        TEST(at_bkg_001),
    };
    return RUN_TESTS("sampling, absorption, polarization, water", tests);
}
