/* SPDX-License-Identifier: MIT */
/* Derivatives of a ray by its panel: compares reverse mode with forward mode. */
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
    double pulled[NUMBERS], largest = 0;
    at.layer = (int)draw(seed, 0, 3);
    at.ray = nb_ray_to(&panel, &sensor, at.F, at.S, at.layer);
    nb_panel_pull(&panel, &sensor, &at, &by, &to);
    memcpy(pulled, &to, sizeof pulled);
    for (int i = 0; i < NUMBERS; i++)
        largest = fmax(largest, fabs(pulled[i]));
    for (int i = 0; i < NUMBERS; i++) {
        double one[NUMBERS] = {0}, pushed;
        nb_panel_slope unit;
        nb_ray_slope s;
        one[i] = 1;
        memcpy(&unit, one, sizeof unit);
        s = nb_ray_slope_to(&panel, &sensor, &unit, at.F, at.S, at.layer, &at.ray);
        pushed = s.capture * by.capture + s.omega * by.omega +
                 nb_dot(s.direction, by.direction);
        if (!(fabs(pushed - pulled[i]) <= 1e-12 * fabs(pushed) + 1e-14 * largest))
            fail_msg("kind %d, absorb %d, number %d: %.17g, forwards %.17g", kind, absorb,
                     i, pulled[i], pushed);
    }
}

UNIT_TEST(every_number)
{
    uint64_t seed = 11;
    for (int n = 0; n < 300; n++)
        for (int kind = 0; kind < 4; kind++)
            check_ray(&seed, kind, n % 3);
}
