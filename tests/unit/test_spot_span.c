/* SPDX-License-Identifier: MIT */
/* Sums over sources, and rays in crystal coordinates, as devices calculate them for
 * images from reflections. */
#include "../support/check.h"

#include "../../cuda/spots/spot_work.h"

static double uniform(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

UNIT_TEST(powers_are_right_to_a_float)
{
    uint64_t seed = 3;
    double mean = 0;
    for (int i = 0; i < 200000; i++) {
        const double x = uniform(&seed, NB_SPOT_LEAST_POWER, 0),
                     got = nb_spot_power(x + NB_SPOT_FIXED), error = got / exp2(x) - 1;
        assert_true(fabs(error) <= 1.5e-7);
        mean += error / 200000;
    }
    assert_true(fabs(mean) < 2e-8);
    for (int n = NB_SPOT_LEAST_POWER; n <= 0; n++)
        assert_true(fabs(nb_spot_power(n + NB_SPOT_FIXED) / exp2(n) - 1) <= 1.5e-7);
}

enum { SOURCES = 37 };

/** Makes a run of sources with random offsets and weights, padded as in nb_spots. */
static nb_spots sources_of(uint64_t *seed, nb_spot_run *run, double *offset,
                           double *weight)
{
    nb_spots sp = {.offset = offset, .weight = weight, .law = NB_LAW_DECAY};
    sp.width = nb_shape_row_of(NB_SHAPE_GAUSS).width;
    sp.fall = nb_spot_fall(sp.width);
    sp.fall_root = sqrt(-sp.fall);
    *run = (nb_spot_run){.n = SOURCES, .middle = 1e10};
    for (int i = 0; i < SOURCES + NB_SPOT_PAD; i++) {
        offset[i] = i < SOURCES ? 4e5 * (i - 18 + uniform(seed, -0.4, 0.4)) : 1e150;
        weight[i] = i < SOURCES ? uniform(seed, 0.5, 2) : 0;
    }
    run->per = (SOURCES - 1) / (offset[SOURCES - 1] - offset[0]);
    return sp;
}

/** Sum over the sources on a line of the spot, by exp(). */
static double reference(const nb_spots *sp, const nb_spot *spot, const nb_spot_lines *line)
{
    const double reach = sqrt(fmax(0, spot->reach2 - line->across2)) * line->by_slope2;
    double sum = 0;
    for (int i = 0; i < SOURCES; i++) {
        const double k = sp->offset[i] + line->shift;
        if (fabs(k) <= reach && sp->offset[i] <= line->last)
            sum += exp(-2 / sp->width * (line->across2 + line->slope2 * k * k)) *
                   (sp->even > 0 ? sp->even : sp->weight[i]);
    }
    return sum;
}

UNIT_TEST(spans_have_the_terms_within_reach)
{
    double offset[SOURCES + NB_SPOT_PAD], weight[SOURCES + NB_SPOT_PAD];
    uint64_t seed = 11;
    int lit = 0;
    for (int i = 0; i < 20000; i++) {
        nb_spot_run run;
        nb_spots sp = sources_of(&seed, &run, offset, weight);
        const nb_spot spot = {.reach2 = uniform(&seed, 0.1, 12)};
        const nb_spot_pair pair = {
            .spot = &spot, .run = &run, .offset = offset, .weight = weight};
        nb_spot_lines line = {.across2 = uniform(&seed, 0, 1) * spot.reach2,
                              .slope2 = pow(10, uniform(&seed, -14, -10)),
                              .shift = uniform(&seed, -1e7, 1e7),
                              .last = i % 3 ? 1e100 : uniform(&seed, -1e7, 1e7)};
        nb_spot_span span;
        double want, got;
        line.by_slope2 = 1 / sqrt(line.slope2);
        sp.even = i % 2 ? 1.25 : 0;
        span = nb_spot_span_of(&sp, &pair, &line);
        want = reference(&sp, &spot, &line);
        got = nb_spot_span_terms(&sp, &span);
        assert_true(fabs(got - want) <= 2e-7 * want);
        lit += want > 0;
    }
    assert_true(lit > 5000 && lit < 20000);
}

/** Compares rays to a tilted panel by nb_spot_frame with rays without this frame. */
UNIT_TEST(frames_aim_as_directions_do)
{
    uint64_t seed = 5;
    for (int i = 0; i < 500; i++) {
        const double t = uniform(&seed, -0.5, 0.5);
        nb_panel panel = {.fast = {0.1, cos(t), sin(t)},
                          .slow = {0.05, -sin(t), cos(t)},
                          .normal = {1, 0, 0},
                          .pix0 = {0.15, uniform(&seed, -0.2, 0), -0.1},
                          .pixel_fast = 75e-6,
                          .pixel_slow = 172e-6,
                          .columns = 4096};
        const nb_sensor sensor = {.layers = 2, .layer_step = 3e-4};
        nb_spot_cell cell;
        nb_spot_run run = {.incident = {1, 0, 0}, .middle = 1e10, .n = 2};
        nb_spot_pass p = {.panels = &panel, .sensors = &sensor, .per_edge = 1.0 / 3};
        const nb_spot_box box = {.layer = i % 2, .u = 100 * i, .v = 7 * i, .F2 = 1};
        nb_spot_brush brush;
        nb_spot_frame frame;
        for (int k = 0; k < 9; k++)
            cell.A[k / 3][k % 3] = uniform(&seed, -1e-6, 1e-6);
        p.scene.oversample = 3;
        p.spots.cells = &cell;
        p.spots.runs = &run;
        for (int k = 0; k < 3; k++)
            p.spots.L[k][k] = 1;
        brush = nb_spot_brush_of(&p, &box);
        frame = nb_spot_frame_of(&p, &box);
        for (int u = 0; u < 500; u += 61)
            for (int v = 0; v < 500; v += 83) {
                nb_ray ray;
                const nb_spot_aim plain = nb_spot_aim_at(&p, 1, &brush, &box, &frame, u,
                                                         v, &ray),
                                  other = nb_spot_aim_at(&p, 0, &brush, &box, NULL, u, v,
                                                         &ray);
                for (int k = 0; k < 3; k++) { /* |A q| kappa is about 1e4 */
                    assert_true(fabs(plain.G[k] - other.G[k]) < 1e-20);
                    assert_true(fabs(plain.U[k] - other.U[k]) < 1e-10);
                }
            }
    }
}
