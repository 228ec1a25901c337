/* SPDX-License-Identifier: MIT */
/* Derivatives of a ray by its panel: compares reverse mode with difference quotients. */
#include "../support/check.h"

#include "physics/panel_pull.h"

enum { NUMBERS = sizeof(nb_panel_slope) / sizeof(double) };

static double draw(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

static nb_vec3 draw_unit(uint64_t *seed)
{
    return nb_unit(nb_v3(draw(seed, -1, 1), draw(seed, -1, 1), draw(seed, 1.5, 2)));
}

/** A random panel. Its axes are oblique, unlike those of any instrument; only a curved
 * panel has perpendicular axes. */
static nb_panel draw_panel(uint64_t *seed, int kind)
{
    nb_panel p = {.columns = 1, .rows = 1, .pixel_fast = 1e-4, .pixel_slow = 1e-4};
    p.fast = draw_unit(seed);
    p.slow = draw_unit(seed);
    p.normal = draw_unit(seed);
    p.pix0 = nb_scale(0.1, draw_unit(seed));
    p.close_distance = draw(seed, 0.05, 0.1);
    p.pixel_area = 1e-8;
    p.beam = draw_unit(seed);
    p.distance = draw(seed, 0.05, 0.1);
    p.Fbeam = draw(seed, -0.01, 0.01);
    p.Sbeam = draw(seed, -0.01, 0.01);
    p.point_pixel = kind == 1;
    p.curved = kind > 1;
    p.exact_omega = kind == 3;
    p.curved_fast = nb_unit(nb_cross(p.beam, draw_unit(seed)));
    p.curved_slow = nb_cross(p.beam, p.curved_fast);
    return p;
}

/** Adds x to number i of nb_panel_slope of a panel and its sensor. */
static void move(nb_panel *p, nb_sensor *sensor, int i, double x)
{
    double *const vectors[4] = {&p->pix0.x, &p->fast.x, &p->slow.x, &p->normal.x};
    const nb_vec3 f = p->curved_fast, s = p->curved_slow;
    double roll = 0;
    double *const numbers[7] = {&p->close_distance, &p->distance, &p->Fbeam,
                                &p->Sbeam,          &roll,        &sensor->layer_step,
                                &sensor->mu};
    *(i < 12 ? vectors[i / 3] + i % 3 : numbers[i - 12]) += x;
    p->curved_fast = nb_add(nb_scale(cos(roll), f), nb_scale(sin(roll), s));
    p->curved_slow = nb_add(nb_scale(cos(roll), s), nb_scale(-sin(roll), f));
}

/** A function of the ray with the slopes `by`, if number i of the panel moves by x. */
static double moved(const nb_panel *panel, const nb_sensor *sensor,
                    const nb_pull_point *at, const nb_ray_slope *by, int i, double x)
{
    nb_panel p = *panel;
    nb_sensor s = *sensor;
    nb_ray ray;
    move(&p, &s, i, x);
    ray = nb_ray_to(&p, &s, at->F, at->S, at->layer);
    return nb_dot(ray.direction, by->direction) + ray.omega * by->omega +
           ray.capture * by->capture;
}

static void check_ray(uint64_t *seed, int kind, int absorb)
{
    const nb_panel panel = draw_panel(seed, kind);
    const nb_sensor sensor = {.layers = 3,
                              .layer_step = draw(seed, 1e-4, 3e-4),
                              .mu = draw(seed, 10, 9000),
                              .absorb = absorb > 0,
                              .mean_depth = absorb > 1};
    const nb_ray_slope by = {draw_unit(seed), draw(seed, -1e6, 1e6), draw(seed, -9, 9)};
    nb_pull_point at = {.F = draw(seed, 0, 0.02), .S = draw(seed, 0, 0.02)};
    nb_panel_slope to = {.mu = 0};
    double pulled[NUMBERS], size;
    at.layer = (int)draw(seed, 0, 3);
    at.ray = nb_ray_to(&panel, &sensor, at.F, at.S, at.layer);
    size = 1 + fabs(at.ray.omega * by.omega) + fabs(at.ray.capture * by.capture);
    nb_panel_pull(&panel, &sensor, &at, &by, &to);
    memcpy(pulled, &to, sizeof pulled);
    for (int i = 0; i < NUMBERS; i++) {
        const double scale = i < 3    ? 0.1 /* m */
                             : i < 12 ? 1
                             : i < 16 ? 0.05 /* m */
                             : i < 17 ? 1
                             : i < 18 ? sensor.layer_step
                                      : sensor.mu;
        const double h = 2e-3 * scale, factor[3] = {45, -9, 1};
        double quotient = 0;
        for (int k = 1; k <= 3; k++)
            quotient += factor[k - 1] * (moved(&panel, &sensor, &at, &by, i, k * h) -
                                         moved(&panel, &sensor, &at, &by, i, -k * h));
        quotient /= 60 * h;
        if (!(fabs(quotient - pulled[i]) * scale <= 1e-10 * size))
            fail_msg("kind %d, absorb %d, number %d: %.17g, quotient %.17g", kind, absorb,
                     i, pulled[i], quotient);
    }
}

UNIT_TEST(every_number)
{
    uint64_t seed = 11;
    for (int n = 0; n < 300; n++)
        for (int kind = 0; kind < 4; kind++)
            check_ray(&seed, kind, n % 3);
}
