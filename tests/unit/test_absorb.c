/* SPDX-License-Identifier: MIT */
/* Absorption by spheres and boxes: closed forms, limits, bounds (docs/physics.md, section 24). */
#include <math.h>
#include <string.h>

#include "../../src/image/light.h"
#include "../../src/physics/hostdevice.h"
#include "../../src/physics/panels.h"
#include "../../src/sim/sim.h"
#include "../support/check.h"
#include "../support/scenes.h"

static double forwards(double z)
{
    return 3 / (2 * z * z * z) * (0.5 - exp(-2 * z) * (0.5 + z + z * z));
}

static double backwards(double z)
{
    return 3 / (4 * z) * (0.5 - (1 - (1 + 4 * z) * exp(-4 * z)) / (16 * z * z));
}

UNIT_TEST(spheres_have_closed_forms_at_both_ends)
{
    static const double z[] = {0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 100};
    for (size_t i = 0; i < sizeof z / sizeof *z; i++) {
        print_message("# z %g: %.3g %.3g\n", z[i],
                      nb_sphere_transmission(z[i], 0) / forwards(z[i]) - 1,
                      nb_sphere_transmission(z[i], NB_PI) / backwards(z[i]) - 1);
        assert_true(fabs(nb_sphere_transmission(z[i], 0) / forwards(z[i]) - 1) < 1e-5);
        assert_true(fabs(nb_sphere_transmission(z[i], NB_PI) / backwards(z[i]) - 1) < 1e-5);
    }
    assert_true(fabs(nb_sphere_transmission(0, 1) - 1) < 1e-9);
    for (double thick = 1e3; thick < 6e6; thick *= 17) /* dark at any angle */
        for (int i = 0; i < 5; i++) {
            const double left = nb_sphere_transmission(thick, NB_PI * i / 4);
            assert_true(left >= 0 && left < 1 / thick);
        }
}

static nb_vec3 direction(double theta, double phi)
{
    return nb_v3(cos(theta), sin(theta) * cos(phi), sin(theta) * sin(phi));
}

/** Exchanging edges turns a box. A cube transmits less than the sphere inside it, and
 * more than the sphere around it. */
UNIT_TEST(boxes_turn_and_lie_between_spheres)
{
    const double half[3] = {1e-4, 2e-4, 3e-4}, other[3] = {2e-4, 1e-4, 3e-4},
                 cube[3] = {1e-4, 1e-4, 1e-4};
    for (int i = 0; i < 40; i++) {
        const nb_vec3 in = direction(0.3 * i, 0.7 * i), out = direction(0.45 * i, 0.2 * i);
        const double a = nb_box_transmission(4e3, half, in, out, 1);
        const double b = nb_box_transmission(4e3, other, nb_v3(in.y, in.x, in.z),
                                             nb_v3(out.y, out.x, out.z), 1);
        const double two_theta = acos(fmin(1, nb_dot(in, out)));
        const double t = nb_box_transmission(4e3, cube, in, out, 1);
        assert_true(fabs(a / b - 1) < 1e-9);
        assert_true(t < nb_sphere_transmission(0.4, two_theta));
        assert_true(t > nb_sphere_transmission(0.4 * sqrt(3), two_theta));
        assert_true(fabs(nb_box_transmission(1e-6, half, in, out, 1) - 1) < 1e-6);
    }
    /* light that goes straight through */
    assert_true(fabs(nb_box_transmission(4e3, cube, nb_v3(1, 0, 0), nb_v3(1, 0, 0), 1) -
                     exp(-0.8)) < 1e-9);
    /* light that returns: (1 - exp(-2 mu L))/(2 mu L) */
    assert_true(fabs(nb_box_transmission(4e3, cube, nb_v3(1, 0, 0), nb_v3(-1, 0, 0), 1) -
                     (1 - exp(-1.6)) / 1.6) < 1e-9);
}

/** Transmission by its definition: mean over the middles of 100 x 100 x 100 parts. */
static double summed(double mu, const double half[3], nb_vec3 beam, nb_vec3 to)
{
    enum { N = 100 };
    const double in[3] = {beam.x, beam.y, beam.z}, out[3] = {to.x, to.y, to.z};
    double sum = 0;
    for (int i = 0; i < N * N * N; i++) {
        const int at[3] = {i % N, i / N % N, i / N / N};
        double way_in = INFINITY, way_out = INFINITY;
        for (int j = 0; j < 3; j++) {
            const double x = half[j] * ((2 * at[j] + 1.0) / N - 1);
            way_in = fmin(way_in, (x + copysign(half[j], in[j])) / in[j]);
            way_out = fmin(way_out, (copysign(half[j], out[j]) - x) / out[j]);
        }
        sum += exp(-mu * (way_in + way_out));
    }
    return sum / N / N / N;
}

/** Boxes agree with the direct sum. Light that goes the other way is absorbed equally. */
UNIT_TEST(boxes_are_their_sums)
{
    const double half[3] = {1e-4, 2e-4, 0.5e-4};
    for (int i = 1; i < 5; i++) {
        const nb_vec3 in = direction(0.8 * i, 0.7 * i), out = direction(1.45 * i, 2.2 * i);
        const double mu = 1e3 * (1 << 2 * i) / 4;
        const double t = nb_box_transmission(mu, half, in, out, 1);
        const double back =
            nb_box_transmission(mu, half, nb_scale(-1, out), nb_scale(-1, in), 1);
        assert_true(fabs(t / summed(mu, half, in, out) - 1) < 6e-4 * (1 + mu * half[1]));
        assert_true(fabs(t / back - 1) < 1e-9);
        assert_true(fabs(nb_box_transmission(mu, half, in, out, 0) / t - 1) < 1e-5);
    }
}

static double transmission(const nb_absorber *body, nb_vec3 d)
{
    const nb_vec3 *e = body->axis[0], in = body->beam;
    if (!body->box)
        return nb_sphere_transmission(body->mu * body->half[0],
                                      acos(fmin(nb_dot(d, in), 1)));
    return nb_box_transmission(
        body->mu, body->half, nb_v3(nb_dot(in, e[0]), nb_dot(in, e[1]), nb_dot(in, e[2])),
        nb_v3(nb_dot(d, e[0]), nb_dot(d, e[1]), nb_dot(d, e[2])), 1);
}

/** Largest error of a plane, as a fraction of the transmission; tries one pixel in 61. */
static double worst_of_plane(const nb_scene *sc, const nb_absorber *body)
{
    const nb_panel *panel = sc->panels;
    float *plane = malloc(sc->raster.pixels * sizeof *plane);
    double range[2], worst = 0;
    nb_error err;
    assert_int_equal(nb_absorb_plane(body, sc, 1, plane, range, &err), NB_OK);
    for (int i = 0; i < (int)sc->raster.pixels; i += 61) {
        const double f = i % panel->columns + 0.5, s = i / panel->columns + 0.5;
        const nb_vec3 d = nb_unit(
            nb_panel_point(panel, f * panel->pixel_fast, s * panel->pixel_slow, 0));
        worst = fmax(worst, fabs(plane[i] / transmission(body, d) - 1));
    }
    free(plane);
    return worst;
}

/** Planes are interpolated, on a finer grid near the beam, where a thick body transmits
 * little. */
UNIT_TEST(planes_are_what_each_pixel_has)
{
    static const double z[] = {0.3, 3, 10, 50};
    nb_config cfg;
    nb_error err;
    nb_sim *sim = NULL;
    const nb_scene *sc;
    nb_config_defaults(&cfg);
    nb_words(&cfg,
             "-cell 50 50 50 90 90 90 -default_F 1 -lambda 1 -distance 100 -detpixels 60 "
             "-pixel 2 -Xbeam 40 -Ybeam 50 -device cpu");
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    sc = &sim->model.scene;
    for (size_t i = 0; i < 2 * sizeof z / sizeof *z; i++) {
        nb_absorber body = {
            .mu = z[i / 2] / 1e-4, .half = {1e-4, 2e-4, 0.5e-4}, .turns = 1};
        const nb_vec3 a = direction(0.4 + (double)i, 2.0 * (double)i),
                      b = nb_unit(nb_cross(a, direction(2, 1)));
        body.beam = nb_unit(sc->beam.sources->incident);
        body.box = i % 2;
        memcpy(body.axis[0], (const nb_vec3[]){a, b, nb_cross(a, b)}, sizeof body.axis[0]);
        const double worst = worst_of_plane(sc, &body);
        print_message("# z %g, box %d: %.2g\n", z[i / 2], body.box, worst);
        check_below(worst, body.box ? 1e-3 : 1e-4);
    }
    nb_sim_free(sim);
}
