/* SPDX-License-Identifier: MIT */
/* AT-GEO-001 to 006, and the parts of the detector geometry that no golden image tests. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/ray.h"

static nb_geometry geometry_of(const nb_config *cfg)
{
    nb_geometry g;
    nb_error err = {0};
    if (nb_geometry_build(NB_RESOLVED(cfg), &g, &err))
        fail_msg("geometry: %s", err.message);
    return g;
}

static void at_geo_001(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 1024);
    nb_geometry g;
    (void)state;
    nb_set_beam(&cfg, 51.2, 51.2);
    g = geometry_of(&cfg);
    check_vector(g.pix0, 0.1, 0.05125, -0.05125, 1e-15);
    check_vector(g.fast, 0, 0, 1, 0);
    check_vector(g.slow, 0, -1, 0, 0);
    check_vector(g.normal, 1, 0, 0, 0);
    check_close(g.orgx, 513, 1e-9);
    check_close(g.orgy, 513, 1e-9);
}

/* BEAM keeps the point where the beam hits the detector; SAMPLE keeps the nearest point. */
static void at_geo_002(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 200);
    nb_geometry straight, g;
    (void)state;
    cfg.pivot = NB_PIVOT_BEAM;
    straight = geometry_of(&cfg);
    nb_set_rotations(&cfg, 4, 8, 12);
    cfg.twotheta_deg = 20;
    g = geometry_of(&cfg);
    assert_int_equal(g.pivot, NB_PIVOT_BEAM);
    check_close(g.Fbeam, straight.Fbeam, 1e-12);
    check_close(g.Sbeam, straight.Sbeam, 1e-12);
    check_close(g.distance, 0.1, 1e-12);
    assert_true(fabs(g.Fclose - straight.Fclose) > 1e-3);
    cfg.pivot = NB_PIVOT_SAMPLE;
    g = geometry_of(&cfg);
    assert_int_equal(g.pivot, NB_PIVOT_SAMPLE);
    check_close(g.Fclose, 0.01, 1e-12); /* half of 200 pixels */
    check_close(g.Sclose, 0.01, 1e-12);
    check_close(g.close_distance, 0.1 * cos(8 * NB_DEG) * cos(12 * NB_DEG), 1e-12);
    assert_true(fabs(g.Fbeam - straight.Fbeam) > 1e-3);
}

static void at_geo_003(void **state)
{
    static const double turns[][4] = {{0, 0, 0, 0},  {10, 0, 0, 0}, {0, 20, 0, 0},
                                      {0, 0, 30, 0}, {0, 0, 0, 25}, {5, 10, 15, 20}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        nb_config cfg = nb_suite_config(6.2, 5, 128);
        nb_picture p;
        nb_set_beam(&cfg, 6.4, 7.4); /* the centres of pixels 64 (slow) and 74 (fast) */
        nb_set_rotations(&cfg, turns[i][0], turns[i][1], turns[i][2]);
        cfg.twotheta_deg = turns[i][3];
        p = rendered(&cfg);
        assert_int_equal(p.stats.max_fast, 74);
        assert_int_equal(p.stats.max_slow, 64);
        nb_picture_free(&p);
    }
}

/* With the SAMPLE pivot the swing moves the detector's nearest point like the beam. */
static void at_geo_004(void **state)
{
    const double t = 20 * NB_DEG, c = cos(t), s = sin(t);
    const struct {
        nb_convention convention;
        nb_vec3 normal;
    } rows[] = {
        {NB_CONV_MOSFLM, {c, -s, 0}}, {NB_CONV_DENZO, {c, -s, 0}},
        {NB_CONV_XDS, {0, -s, c}},    {NB_CONV_ADXV, {0, s, c}},
        {NB_CONV_DIALS, {s, 0, c}},   {NB_CONV_CUSTOM, {c, 0, -s}},
    };
    (void)state;
    for (int i = 0; i < 6; i++) {
        nb_config cfg = nb_suite_config(1, 5, 128);
        nb_geometry g;
        cfg.convention = rows[i].convention;
        cfg.pivot = NB_PIVOT_SAMPLE;
        cfg.twotheta_deg = 20;
        g = geometry_of(&cfg);
        check_vector(g.normal, rows[i].normal.x, rows[i].normal.y, rows[i].normal.z,
                     1e-15);
        check_close(g.close_distance, 0.1, 1e-12);
        check_close(nb_dot(g.pix0, g.normal), 0.1, 1e-12);
        check_close(nb_dot(g.fast, g.slow), 0, 1e-15);
        check_vector(nb_cross(g.fast, g.slow), (i == 3 ? -1 : 1) * g.normal.x,
                     (i == 3 ? -1 : 1) * g.normal.y, (i == 3 ? -1 : 1) * g.normal.z,
                     1e-15); /* ADXV is left-handed */
    }
}

static void check_curved_pixels(const nb_config *cfg, double distance)
{
    nb_picture p = rendered(cfg);
    const nb_panel *panel = p.sim->model.scene.panels;
    for (int i = 0; i < (int)p.n; i++) {
        nb_ray ray = nb_ray_to(panel, p.sim->model.scene.sensors,
                               (i % p.fast + 0.5) * panel->pixel_fast,
                               (i / p.fast + 0.5) * panel->pixel_fast, 0);
        check_ratio(ray.airpath, distance, 1e-12);
        check_ratio(ray.omega,
                    panel->pixel_fast * panel->pixel_fast / (distance * distance), 1e-12);
    }
    nb_picture_free(&p);
}

static void at_geo_005(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 64), flat;
    nb_picture p, q;
    nb_sim *sim;
    (void)state;
    cfg.curved = 1;
    cfg.pixel_mm = 1;
    check_curved_pixels(&cfg, 0.1);
    cfg.convention = NB_CONV_XDS;
    cfg.orgx = 20;
    cfg.twotheta_deg = 15;
    sim = created(
        &cfg); /* the typed 100 mm are along the normal; the path of the beam is longer */
    check_curved_pixels(&cfg, sim->model.geometry.distance);
    nb_sim_free(sim);

    cfg = nb_suite_config(6.2, 5, 64); /* 1.8 degrees from edge to centre */
    cfg.curved = 1;
    flat = cfg;
    flat.curved = 0;
    p = rendered(&cfg);
    q = rendered(&flat);
    check_same(p, q, 2e-3);
    check_above(nb_correlation(p.pixels, q.pixels, p.n), 0.99999);
    nb_picture_free(&p);
    nb_picture_free(&q);
    /* the angles themselves: a spot 40 mm from the centre of a 100 mm cylinder is at 0.4 rad */
    cfg = nb_suite_config(1, 1, 100);
    cfg.curved = 1;
    cfg.convention = NB_CONV_XDS;
    cfg.pixel_mm = 1;
    sim = created(&cfg);
    check_vector(nb_panel_point(sim->model.scene.panels, 0.09, 0.05, 0), 0.1 * sin(0.4),
                 0, 0.1 * cos(0.4), 1e-12);
    check_vector(nb_panel_point(sim->model.scene.panels, 0.05, 0.09, 0), 0,
                 0.1 * sin(0.4), 0.1 * cos(0.4), 1e-12);
    check_vector(nb_panel_point(sim->model.scene.panels, 0.07, 0.02, 0.001),
                 0.101 * sin(0.2), -0.101 * cos(0.2) * sin(0.3),
                 0.101 * cos(0.2) * cos(0.3), 1e-12);
    nb_sim_free(sim);
}

/** Solid angle of pixel (f, s) by the midpoint rule: cos(angle)/R^2 over n x n patches. */
static double integrate(const nb_panel *panel, int f, int s, int n)
{
    double sum = 0, edge = panel->pixel_fast / n;
    for (int i = 0; i < n * n; i++) {
        nb_vec3 x = nb_add(
            panel->pix0,
            nb_add(nb_scale(f * panel->pixel_fast + (i % n + 0.5) * edge, panel->fast),
                   nb_scale(s * panel->pixel_fast + (i / n + 0.5) * edge, panel->slow)));
        double R = nb_norm(x);
        sum += edge * edge * fabs(nb_dot(x, nb_cross(panel->fast, panel->slow))) /
               (R * R * R);
    }
    return sum;
}

static void at_geo_006(void **state)
{
    static const double tilts[] = {0, 20, 45, 70};
    (void)state;
    for (int i = 0; i < 4; i++) {
        nb_config cfg = nb_suite_config(1, 1, 64);
        nb_picture p;
        double total = 0;
        cfg.nopolar = 1;
        cfg.pixel_mm = 0.5;
        nb_set_rotations(&cfg, 0, tilts[i], tilts[i] / 2);
        p = rendered(&cfg);
        for (int k = 0; k < 64 * 64; k++) {
            double truth = integrate(p.sim->model.scene.panels, k % 64, k / 64, 8);
            check_ratio(p.pixels[k], 1e4 * truth,
                        3e-5); /* the pixel's centre for its area */
            total += truth;
        }
        check_ratio(p.stats.solid_angle, total, 1e-5);
        nb_picture_free(&p);
    }
}

/* -pix0_vector: the origin of another run gives the image of that run, for any geometry flags. */
static void pix0_vector(void **state)
{
    static const nb_convention all[] = {NB_CONV_MOSFLM, NB_CONV_XDS,   NB_CONV_ADXV,
                                        NB_CONV_DENZO,  NB_CONV_DIALS, NB_CONV_CUSTOM};
    (void)state;
    for (int i = 0; i < 6; i++) {
        nb_config cfg = nb_suite_config(1, 5, 96);
        nb_geometry g, h;
        nb_picture p, q;
        cfg.convention = all[i];
        nb_set_rotations(&cfg, 3, -5, 7);
        cfg.twotheta_deg = 9;
        nb_set_beam(&cfg, 4, 5.5);
        p = rendered(&cfg);
        g = p.sim->model.geometry;
        cfg.distance_mm = 250; /* not used now, like the beam centre */
        nb_set_beam(&cfg, 1, 2);
        nb_set_vector(&cfg.pix0_m, g.pix0.x, g.pix0.y, g.pix0.z);
        q = rendered(&cfg);
        check_same_bits(&p, &q);
        h = q.sim->model.geometry;
        check_close(h.distance, g.distance, 1e-14);
        check_close(h.close_distance, g.close_distance, 1e-14);
        check_close(h.Fbeam, g.Fbeam, 1e-14);
        check_close(h.Sbeam, g.Sbeam, 1e-14);
        nb_picture_free(&p);
        nb_picture_free(&q);
    }
}

static nb_config custom_config(void)
{
    nb_config cfg = nb_suite_config(1, 5, 96);
    cfg.convention = NB_CONV_CUSTOM;
    nb_set_vector(&cfg.fdet_vector, 0, 0, 1);
    nb_set_vector(&cfg.sdet_vector, 0, -1, 0);
    nb_set_vector(&cfg.odet_vector, 1, 0, 0);
    nb_set_vector(&cfg.beam_vector, 1, 0, 0);
    nb_set_vector(&cfg.twotheta_axis, 0, 0, -1);
    cfg.twotheta_deg = 12;
    return cfg;
}

static void vectors_of_any_length(void **state)
{
    nb_config unit = custom_config(), cfg;
    nb_opt3 *const vectors[] = {&cfg.fdet_vector, &cfg.sdet_vector, &cfg.beam_vector,
                                &cfg.twotheta_axis};
    nb_picture p = rendered(&unit), q;
    (void)state;
    for (int i = 0; i < 4; i++) {
        cfg = unit;
        for (int k = 0; k < 3; k++)
            vectors[i]->v[k] *= 2.5;
        q = rendered(&cfg);
        check_same(q, p, 1e-6);
        nb_picture_free(&q);
    }
    cfg = unit;
    nb_set_vector(&cfg.odet_vector, 2, 0, 0);
    q = rendered(&cfg);
    check_same_bits(&q, &p);
    nb_picture_free(&q);
    nb_picture_free(&p);
    cfg = unit;
    nb_set_vector(&cfg.twotheta_axis, 0, 0, 0);
    check_refused(&cfg, NB_ERR_INPUT, "-twotheta_axis");
    cfg = unit;
    nb_set_vector(&cfg.beam_vector, NAN, 0, 1);
    check_refused(&cfg, NB_ERR_INPUT, "-beam_vector");
}

static void count_upstream(void *user, const char *line)
{
    if (strstr(line, "upstream"))
        ++*(int *)user;
}

/* A normal that is not at right angles to the axes is kept as typed, for any length. */
static void normal_of_any_length(void **state)
{
    nb_config cfg = custom_config();
    int said = 0;
    const nb_hooks hooks = {&said, count_upstream, NULL};
    (void)state;
    cfg.twotheta_deg = 0;
    for (int i = 0; i < 3; i++) {
        static const double lengths[] = {1.0, 0.3, 7.5};
        double k = lengths[i] / sqrt(0.81 + 0.04 + 0.01);
        nb_vec3 n = nb_unit(nb_v3(0.9, 0.2, -0.1));
        nb_geometry g;
        nb_set_vector(&cfg.odet_vector, 0.9 * k, 0.2 * k, -0.1 * k);
        g = geometry_of(&cfg);
        check_vector(g.normal, n.x, n.y, n.z, 1e-15);
        check_close(g.close_distance, nb_dot(g.pix0, n), 1e-15);
    }
    for (int upstream = 0; upstream < 2; upstream++) {
        nb_sim *sim;
        nb_error err;
        nb_set_vector(&cfg.odet_vector, upstream ? -3 : 3, 0, 0);
        assert_int_equal(nb_sim_create(&cfg, &hooks, &sim, &err), NB_OK);
        assert_int_equal(said, upstream);
        check_close(sim->model.geometry.pix0.x, upstream ? -0.1 : 0.1, 1e-15);
        nb_sim_free(sim);
    }
}

static void impossible_detectors(void **state)
{
    nb_config cfg = custom_config();
    (void)state;
    nb_set_vector(&cfg.sdet_vector, 0, 0, -3);
    check_refused(&cfg, NB_ERR_INPUT, "parallel");
    cfg = custom_config();
    nb_set_vector(&cfg.polar_vector, -2, 0, 0);
    check_refused(&cfg, NB_ERR_INPUT, "-polar_vector");
    cfg = custom_config();
    nb_set_vector(&cfg.pix0_m, 0, 0.01, 0.02); /* the plane through the sample */
    cfg.twotheta_deg = 0;
    check_refused(&cfg, NB_ERR_INPUT, "through the sample");
    for (int axis = 0; axis < 2; axis++) { /* curved, with f or s along the beam */
        cfg = custom_config();
        cfg.twotheta_deg = 0;
        cfg.curved = 1;
        nb_set_vector(&cfg.pix0_m, -0.05, 0.1, 0.05);
        nb_set_vector(axis ? &cfg.sdet_vector : &cfg.fdet_vector, 1, 0, 0);
        nb_set_vector(axis ? &cfg.fdet_vector : &cfg.sdet_vector, 0, 0, 1);
        nb_set_vector(&cfg.odet_vector, 0, axis ? -1 : 1, 0);
        check_refused(&cfg, NB_ERR_INPUT, axis ? "slow" : "fast");
        cfg.curved = 0; /* a flat detector may have this position */
        nb_sim_free(created(&cfg));
    }
}

/* Curved with point_pixel: the same solid angle; with layers: every ray straight through. */
static void curved_with_point_pixel_and_layers(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 64), point, thick;
    nb_picture p, q, r;
    const double mu_T = 400.0 / 300.0;
    (void)state;
    cfg.pixel_mm = 1;
    cfg.curved = 1;
    p = rendered(&cfg);
    point = cfg;
    point.point_pixel = 1;
    q = rendered(&point);
    check_same_bits(&p, &q);
    nb_picture_free(&q);
    point.compat = 1; /* -compat does not change a curved detector */
    q = rendered(&point);
    check_same_bits(&p, &q);
    nb_picture_free(&q);

    thick = cfg;
    nb_set_N(&thick, 1);
    thick.nopolar = 1;
    q = rendered(&thick);
    thick.abs_um = 300;
    thick.thick_um = 400;
    thick.thick_steps = 5;
    thick.layer_depth =
        NB_LAYER_FRONT; /* the pixel's cached omega is that of its first layer */
    r = rendered(&thick);
    for (int i = 0; i < (int)r.n; i++) /* no parallax anywhere */
        check_ratio(r.pixels[i], q.pixels[i] * (1 - exp(-mu_T)), 1e-6);
    check_close(
        nb_ray_to(r.sim->model.scene.panels, r.sim->model.scene.sensors, 0.001, 0.002, 3)
            .airpath,
        0.1 + 3 * 80e-6, 1e-12);
    nb_picture_free(&p);
    nb_picture_free(&q);
    nb_picture_free(&r);
}

/* Point pixels: area over R^2; in -compat the area is left out. */
static void compat_point_pixels(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 32);
    nb_picture p, q;
    (void)state;
    cfg.point_pixel = 1;
    p = rendered(&cfg);
    cfg.compat = 1;
    q = rendered(&cfg);
    for (size_t i = 0; i < p.n; i++)
        check_ratio(q.pixels[i], p.pixels[i] / 1e-8, 2e-7);
    nb_picture_free(&p);
    nb_picture_free(&q);
}

/* A detector behind the sample, seen from its other face. */
static void normal_turned_to_the_sample(void **state)
{
    nb_config cfg = custom_config();
    nb_geometry g;
    (void)state;
    cfg.twotheta_deg = 0;
    nb_set_vector(&cfg.odet_vector, -1, 0, 0);
    nb_set_vector(&cfg.pix0_m, 0.1, 0.005, -0.005);
    g = geometry_of(&cfg);
    check_vector(g.normal, 1, 0, 0, 0);
    check_close(g.close_distance, 0.1, 1e-15);
    check_close(g.distance, 0.1, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_geo_001),
        TEST(at_geo_002),
        TEST(at_geo_003),
        TEST(at_geo_004),
        TEST(at_geo_005),
        TEST(at_geo_006),
        TEST(pix0_vector),
        TEST(vectors_of_any_length),
        TEST(normal_of_any_length),
        TEST(impossible_detectors),
        TEST(curved_with_point_pixel_and_layers),
        TEST(compat_point_pixels),
        TEST(normal_turned_to_the_sample),
    };
    return RUN_TESTS("detector geometry", tests);
}
