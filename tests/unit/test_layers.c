/* SPDX-License-Identifier: MIT */
/* The depth of the layers of a sensor, compared with Lambert and Beer; the solid angle of a
 * curved detector, compared with the sphere. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/ray.h"

typedef struct plate {
    nb_panel panel;
    nb_sensor sensor;
} plate;

/** A flat detector with a sensor, tilted by a degrees about fast and b about slow. */
static plate tilted(double distance, double a, double b, double T, double mu, int n)
{
    plate det = {.panel = {.pixel_fast = 1e-4, .pixel_slow = 1e-4, .pixel_area = 1e-8},
                 .sensor = {n, T / n, mu, 1, 1}};
    nb_panel *panel = &det.panel;
    const nb_vec3 x = nb_v3(1, 0, 0), y = nb_v3(0, 1, 0), z = nb_v3(0, 0, 1);
    nb_vec3 slow = nb_rotate_about(y, x, a * M_PI / 180);
    nb_vec3 normal = nb_rotate_about(z, x, a * M_PI / 180);
    panel->slow = slow;
    panel->fast = nb_rotate_about(x, slow, b * M_PI / 180);
    panel->normal = nb_rotate_about(normal, slow, b * M_PI / 180);
    panel->beam = z;
    panel->pix0 = nb_scale(distance, z);
    panel->distance = distance;
    panel->close_distance = nb_dot(panel->pix0, panel->normal);
    return det;
}

/** Mean depth over thickness of the photons that stop in a sensor of mu T = y along the
 * ray; by the midpoint rule, independent of the formula. */
static double lambert_beer_depth(double y)
{
    const int n = 200000;
    double sum = 0, weight = 0;
    for (int i = 0; i < n; i++) {
        double x = (i + 0.5) / n, w = exp(-y * x);
        sum += w * x;
        weight += w;
    }
    return sum / weight;
}

/** Point where direction d meets the plane at this depth: metres along fast and slow. */
static void meet(const nb_panel *panel, nb_vec3 d, double depth, double at[2])
{
    double along = (nb_dot(panel->pix0, panel->normal) + depth) / nb_dot(d, panel->normal);
    nb_vec3 x = nb_sub(nb_scale(along, d), panel->pix0);
    at[0] = nb_dot(x, panel->fast);
    at[1] = nb_dot(x, panel->slow);
}

/** Position at which a layer records the spot of direction d: the ray to this position
 * has direction d. */
static nb_ray record(const plate *det, nb_vec3 d, int layer, double at[2])
{
    nb_ray ray = {0};
    meet(&det->panel, d, layer * det->sensor.layer_step, at);
    for (int i = 0; i < 20; i++) {
        ray = nb_ray_to(&det->panel, &det->sensor, at[0], at[1], layer);
        meet(&det->panel, d,
             nb_dot(nb_sub(ray.position, det->panel.pix0), det->panel.normal), at);
    }
    return ray;
}

/** Distance, in pixels, between the photon-weighted position of a spot and the position
 * by Lambert and Beer. */
static double misplaced(const plate *det, nb_vec3 d)
{
    const nb_panel *panel = &det->panel;
    const nb_sensor *sensor = &det->sensor;
    double sum[2] = {0}, weight = 0, at[2];
    double y = sensor->layers * sensor->layer_step * sensor->mu / nb_dot(d, panel->normal);
    for (int layer = 0; layer < sensor->layers; layer++) {
        double capture = record(det, d, layer, at).capture;
        sum[0] += capture * at[0];
        sum[1] += capture * at[1];
        weight += capture;
    }
    check_ratio(weight, 1 - exp(-y), 1e-8 + 5e-4 / panel->distance);
    meet(panel, d, lambert_beer_depth(y) * sensor->layers * sensor->layer_step, at);
    return hypot(sum[0] / weight - at[0], sum[1] / weight - at[1]) / panel->pixel_fast;
}

static const int counts[] = {1, 2, 5};
static const double tilts[][2] = {{0, 0}, {35, 0}, {-20, 50}, {10, -65}};
/* thickness and attenuation depth, um */
static const double sensors[][2] = {{500, 200}, {320, 2000}, {1000, 30}, {100, 1e7}};

/** The largest error over directions, tilts, sensors and numbers of layers. */
static double worst_place(double distance, int mean_depth)
{
    double worst = 0;
    for (int i = 0; i < 3 * 4 * 4 * 5; i++) {
        const double *tilt = tilts[i / 3 % 4], *s = sensors[i / 12 % 4];
        double angle = (i / 48 - 2) * 0.35;
        plate det =
            tilted(distance, tilt[0], tilt[1], s[0] * 1e-6, 1e6 / s[1], counts[i % 3]);
        nb_vec3 d = nb_v3(sin(angle) * 0.8, sin(angle) * 0.6, cos(angle));
        det.sensor.mean_depth = mean_depth;
        if (nb_dot(d, det.panel.normal) > 0.2)
            worst = fmax(worst, misplaced(&det, d));
    }
    return worst;
}

/* One direction through every layer: mean depth and position of the spot are exact for
 * any number of layers. The detector is far away, because a layer uses the parallax of
 * its front face, whose error is proportional to thickness over distance. */
UNIT_TEST(spots_stand_where_photons_stop)
{
    check_below(worst_place(1e4, 1), 1e-6);
    check_below(worst_place(0.1, 1), 5e-3); /* at 100 mm, oblique to 78 degrees */
    check_above(worst_place(1e4, 0), 1);    /* wrong by whole pixels */
}

static double mean_depth(double path)
{
    return nb_mean_depth(path, nb_stopped(path));
}

UNIT_TEST(mean_depth_of_any_path)
{
    for (double y = 1e-8; y < 40; y *= 1.9)
        check_close(mean_depth(y), lambert_beer_depth(y), 1e-8);
    for (double y = 0.99e-3; y < 1.01e-3;
         y += 1e-7) { /* below y = 1e-3 the function uses a series */
        double exact = 0.5 - y / 12 + y * y * y / 720;
        check_close(mean_depth(y), exact, 2e-12);
    }
    assert_true(mean_depth(0) == 0.5);
    check_ratio(mean_depth(1e4), 1e-4, 1e-15);
    check_ratio(mean_depth(1e300), 1e-300, 1e-15);
}

/* -layer_depth, -compat and the sensor decide if layers have their mean depth. */
UNIT_TEST(who_decides)
{
    static const struct {
        int compat;
        nb_layer_depth typed;
        int mean;
    } rows[] = {{0, NB_LAYER_UNSET, 1}, {0, NB_LAYER_MEAN, 1}, {0, NB_LAYER_FRONT, 0},
                {1, NB_LAYER_UNSET, 0}, {1, NB_LAYER_MEAN, 1}, {1, NB_LAYER_FRONT, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int thick = 0; thick < 2; thick++) {
            nb_config cfg = nb_suite_config(1, 5, 8);
            nb_sim *sim;
            cfg.compat = rows[i].compat;
            cfg.layer_depth = rows[i].typed;
            cfg.thick_um = thick ? 300 : NAN;
            sim = created(&cfg);
            assert_int_equal(sim->model.scene.sensors->mean_depth, thick && rows[i].mean);
            nb_sim_free(sim);
        }
}

/* A curved detector: all rays are along the normal, so the depth is the same everywhere. */
UNIT_TEST(curved_layers)
{
    nb_config cfg = nb_suite_config(1, 5, 64);
    nb_sim *sim;
    cfg.curved = 1;
    cfg.pixel_mm = 1;
    cfg.abs_um = 300;
    cfg.thick_um = 400;
    cfg.thick_steps = 5;
    sim = created(&cfg);
    for (int i = 0; i < 64; i++) {
        nb_ray ray = nb_ray_to(sim->model.scene.panels, sim->model.scene.sensors,
                               i * 1e-3, (63 - i) * 5e-4, 3);
        check_close(ray.airpath, 0.1 + (3 + lambert_beer_depth(80.0 / 300)) * 80e-6,
                    1e-12);
    }
    nb_sim_free(sim);
}

/** Sum of the solid angles of all pixels in a layer, divided by the solid angle of the
 * same part of a sphere. */
static double covered(const nb_sim *sim, int layer)
{
    const nb_panel *panel = sim->model.scene.panels;
    double sum = 0, u0 = -panel->Fbeam / panel->distance,
           u1 = (panel->columns * panel->pixel_fast - panel->Fbeam) / panel->distance,
           v = panel->rows * panel->pixel_fast / panel->distance;
    for (int i = 0; i < panel->columns * panel->rows; i++)
        sum += nb_ray_to(panel, sim->model.scene.sensors,
                         (i % panel->columns + 0.5) * panel->pixel_fast,
                         (i / panel->columns + 0.5) * panel->pixel_fast, layer)
                   .omega;
    return sum / ((sin(u1) - sin(u0)) * v);
}

/* Half-widths 0.16 and 0.64 rad: the default is 0.4 % and 7 % too large, `exact` is right
 * at any depth. */
UNIT_TEST(solid_angle_of_the_sphere)
{
    static const double pixel_mm[] = {0.25, 1}, excess[] = {1.0043, 1.0718};
    for (int i = 0; i < 2; i++) {
        nb_config cfg = nb_suite_config(1, 5, 128);
        nb_sim *sim;
        cfg.curved = 1;
        cfg.pixel_mm = pixel_mm[i];
        cfg.thick_um = 500;
        cfg.thick_steps = 2;
        cfg.layer_depth = NB_LAYER_FRONT;
        sim = created(&cfg);
        check_close(covered(sim, 0), excess[i], 2e-4);
        nb_sim_free(sim);
        cfg.curved_omega = NB_OMEGA_SQUARE;
        sim = created(&cfg);
        check_close(covered(sim, 0), excess[i], 2e-4);
        nb_sim_free(sim);
        cfg.curved_omega = NB_OMEGA_EXACT;
        cfg.layer_depth = NB_LAYER_UNSET;
        sim = created(&cfg);
        check_close(covered(sim, 0), 1, 1e-5);
        check_close(covered(sim, 1), 1, 1e-5);
        nb_sim_free(sim);
    }
}
