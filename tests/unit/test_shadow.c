/* SPDX-License-Identifier: MIT */
/* Shadows: factors against those of an independent program, and the planes that images
 * use (docs/physics.md, section 24). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/memory.h"
#include "../../src/base/philox.h"
#include "../../src/image/mix.h"
#include "../../src/image/light.h"
#include "../../src/model/detector.h"
#include "../../src/model/scene_build.h"
#include "../../src/physics/ray.h"
#include "../support/check.h"

enum { EDGE = 48 };

/** A detector of 24 x 24 mm, and the shadow of a beam stop (-beamstop) on it. */
typedef struct scene_of_stop {
    nb_geometry geometry;
    nb_detector detector;
    nb_scene scene;
    nb_shadow shadow;
} scene_of_stop;

static void make(const char *stop, int pixels, scene_of_stop *s)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    memset(s, 0, sizeof *s);
    nb_put_text(&cfg.beamstop, "%s", stop);
    cfg.detpixels[0] = cfg.detpixels[1] = pixels;
    cfg.pixel_mm = 24.0 / pixels;
    cfg.distance_mm = 100;
    assert_int_equal(nb_geometry_build(NB_RESOLVED(&cfg), &s->geometry, NULL), NB_OK);
    assert_int_equal(
        nb_detector_build(NB_RESOLVED(&cfg), &s->geometry, 1, NULL, &s->detector, NULL),
        NB_OK);
    assert_int_equal(nb_shadow_of(NB_RESOLVED(&cfg), &s->geometry, &s->shadow, NULL),
                     NB_OK);
    s->scene.raster = s->detector.raster;
    s->scene.n_panels = s->detector.n_panels;
    s->scene.panels = s->detector.panels;
}

static double factor_at(const scene_of_stop *s, int fast, int slow)
{
    const nb_panel *p = s->scene.panels;
    double x, y;
    const nb_vec3 d =
        nb_panel_point(p, (fast + 0.5) * p->pixel_fast, (slow + 0.5) * p->pixel_slow, 0);
    assert_true(nb_shadow_place(&s->shadow, d, &x, &y));
    return nb_shadow_factor(&s->shadow, x, y, p->pixel_fast);
}

static void read_case(const char *id, double *v)
{
    const char *source = getenv("NB_SOURCE");
    char path[512];
    FILE *f;
    snprintf(path, sizeof path, "%s/golden_data/experiments/data/%s.f64",
             source ? source : ".", id);
    assert_non_null(f = fopen(path, "rb"));
    assert_int_equal(fread(v, sizeof *v, EDGE * EDGE, f), EDGE * EDGE);
    fclose(f);
}

UNIT_TEST(factors_are_those_of_the_reference)
{
    static const char *const cases[][2] = {
        {"beamstop", "disc:6,bar:1.5:90"}, {"beamstop-soft", "disc:8:0.01,bar:2:215:0.2"}};
    static double want[EDGE * EDGE];
    for (int i = 0; i < 2; i++) {
        scene_of_stop s;
        double worst = 0;
        make(cases[i][1], EDGE, &s);
        read_case(cases[i][0], want);
        for (int k = 0; k < EDGE * EDGE; k++)
            worst = fmax(worst, fabs(factor_at(&s, k % EDGE, k / EDGE) - want[k]));
        assert_true(worst <= 1e-12);
        nb_detector_free(&s.detector);
    }
}

/** Planes skip blocks of pixels without shadow, and equal the factor of each pixel. */
UNIT_TEST(planes_have_the_factor_of_each_pixel)
{
    static const char *const stops[] = {"disc:6,bar:1.5:90", "disc:0.1", "bar:0.2:37:0.5",
                                        "disc:100", "bar:3:-135,bar:1:10"};
    enum { N = 211 };
    for (int i = 0; i < 5; i++) {
        scene_of_stop s;
        nb_shade shade;
        nb_mix mix = {0};
        int64_t dark = 0, dim = 0;
        make(stops[i], N, &s);
        assert_int_equal(nb_shade_make(&s.shadow, NULL, &s.scene, 1, &shade, NULL), NB_OK);
        mix.transmission = shade.transmission;
        mix.acts = shade.acts;
        for (int k = 0; k < N * N; k++) {
            const float factor = (float)factor_at(&s, k % N, k / N);
            const nb_mix_row r = nb_mix_row_of(&mix, &s.scene, k / N);
            assert_true(nb_mix_factor(shade.transmission[k]) == factor);
            assert_true(factor == 1 || (k % N >= r.first && k % N < r.end));
            dark += factor == 0;
            dim += factor < 0.5f;
            assert_true(!shade.lit || shade.lit[k] == (factor != 0));
        }
        assert_int_equal(dark, shade.dark);
        assert_int_equal(dim, shade.dim);
        assert_int_equal(shade.all_dark, dark == N * N);
        assert_int_equal(shade.lit != NULL, dark * 64 >= N * N);
        nb_shade_free(&shade);
        nb_detector_free(&s.detector);
    }
}

/** Two panels of half the size see the same shadow as one panel. */
UNIT_TEST(panels_see_one_shadow)
{
    enum { N = 100 };
    scene_of_stop s;
    nb_panel halves[2];
    nb_scene two;
    nb_shade one, both;
    make("disc:5:0.1,bar:2:60", N, &s);
    two = s.scene;
    halves[0] = halves[1] = s.scene.panels[0];
    halves[0].rows = halves[1].rows = N / 2;
    halves[1].first_row = N / 2;
    halves[1].first_pixel = N * N / 2;
    halves[1].pix0 = nb_panel_point(&halves[0], 0, N / 2 * halves[0].pixel_slow, 0);
    two.n_panels = 2;
    two.panels = halves;
    assert_int_equal(nb_shade_make(&s.shadow, NULL, &s.scene, 1, &one, NULL), NB_OK);
    assert_int_equal(nb_shade_make(&s.shadow, NULL, &two, 1, &both, NULL), NB_OK);
    for (int k = 0; k < N * N; k++)
        assert_true(fabsf(nb_mix_factor(one.transmission[k]) -
                          nb_mix_factor(both.transmission[k])) <= 1e-7f);
    assert_int_equal(one.dark, both.dark);
    nb_shade_free(&one);
    nb_shade_free(&both);
    nb_detector_free(&s.detector);
}

/** Rows longer than a piece, with any combination of planes and with factors <= 0. */
UNIT_TEST(rows_are_the_pixels_one_by_one)
{
    enum { WIDE = 600, PIXELS = WIDE * WIDE };
    scene_of_stop s;
    float *planes[3], *image = nb_alloc(PIXELS, sizeof *image, "image", NULL);
    make("disc:1", WIDE, &s);
    for (int k = 0; k < 3; k++)
        planes[k] = nb_alloc(PIXELS, sizeof *planes[k], "plane", NULL);
    for (int i = 0; i < PIXELS; i++) {
        planes[0][i] = (float)nb_uniform52((uint32_t)i * 2654435761u, 1) * 30;
        planes[1][i] =
            (float)(i % 1000 < 3 ? i % 1000 - 1
                                 : nb_uniform52((uint32_t)i * 2654435761u, 2) * 3 + 0.1);
        planes[2][i] = (float)nb_uniform52((uint32_t)i * 2654435761u, 3) * 12 - 3;
    }
    for (int all = 0; all < 16; all++) {
        const nb_mix mix = {.light = all & 1 ? planes[0] : NULL,
                            .transmission = all & 2 ? planes[1] : NULL,
                            .add = all & 4 ? planes[2] : NULL,
                            .absorb = all & 8 ? planes[1] : NULL,
                            .add_scale = 0.7};
        int other = 0;
        for (int i = 0; i < PIXELS; i++)
            image[i] = (float)(i % 977) * 0.37f;
        assert_int_equal(nb_mix_apply(&mix, &s.scene, 2, image, NULL), NB_OK);
        for (int i = 0; i < PIXELS; i++)
            other += image[i] !=
                     (float)nb_mix_pixel(&mix, (size_t)i, (float)(i % 977) * 0.37f);
        assert_int_equal(other, 0);
    }
    for (int all = 0; all < 2; all++) {
        const nb_mix mix = {.light = all & 1 ? planes[0] : NULL, .absorb = planes[1]};
        int other = 0;
        for (int i = 0; i < PIXELS; i++)
            image[i] = (float)(i % 977) * 0.37f;
        nb_mix_absorb(&mix, &s.scene, 2, image);
        for (int i = 0; i < PIXELS; i++)
            other += image[i] !=
                     (float)nb_mix_absorbed(&mix, (size_t)i, (float)(i % 977) * 0.37f);
        assert_int_equal(other, 0);
    }
    for (int k = 0; k < 3; k++)
        nb_free(planes[k]);
    nb_free(image);
    nb_detector_free(&s.detector);
}
