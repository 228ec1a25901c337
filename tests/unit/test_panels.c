/* SPDX-License-Identifier: MIT */
/* Detectors of several panels: one panel cut into seven gives the uncut image. */
#include "../support/check.h"
#include "../support/scenes.h"
#include "../support/cut.h"

#include "sim/sim.h"
#include "physics/limits.h"
#include "physics/panels.h"
#include "base/threads.h"
#include "render/request.h"
#include "render/simd.h"
#include "../support/render.h"

enum { FAST = 51, SLOW = 40, PIXELS = FAST * SLOW };

typedef struct picture_case {
    const char *name, *words;
} picture_case;

#define MANY "-oversample 2 -mosaic 1 -mosaic_dom 5 -dispersion 2 -dispsteps 3"
#define DEEP "-oversample 2 -detector_thick 450 -detector_abs 300 -detector_thicksteps 3"

static const picture_case cases[] = {
    {"plain", ""}, /* one sample per pixel: the simple kernel */
    {"many", MANY},
    {"deep", DEEP},
    {"front", DEEP " -layer_depth front"},
    {"curved", DEEP " -curved_det"},
    {"gauss",
     "-gauss_xtal -point_pixel -oversample_polar -oversample_omega -oversample 2"},
    {"water", "-water 5 -dmin 3"}};
enum { CASES = sizeof cases / sizeof *cases };

/** Table of F that differ between reflections. */
static nb_factor_table amplitudes(void)
{
    enum { N = 11 };
    static double F[N * N * N];
    nb_factor_table table = nb_cube(F, N / 2, 30);
    for (int i = 0; i < N * N * N; i++)
        F[i] = 50 + i * 37 % 101;
    nb_factor_table_measure(&table);
    return table;
}

static nb_sim *sim_of(const picture_case *c)
{
    nb_config cfg = nb_suite_config(1.2, 7, 0);
    nb_sim *sim;
    nb_set_pixels(&cfg, FAST, SLOW);
    nb_words(&cfg, c->words);
    sim = created(&cfg);
    sim->model.scene.factors.table = amplitudes();
    nb_cut_prepare(sim->model.detector->panels);
    return sim;
}

static void render(const nb_scene *sc, nb_isa isa, nb_precision precision, float *image)
{
    const nb_backend *backend =
        isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
    nb_render_options options = {.threads = 2, .isa = isa, .precision = precision};
    nb_backend_state *state;
    nb_error err = {0};
    for (size_t i = 0; i < sc->raster.pixels; i++)
        image[i] = NAN; /* each pixel must be written */
    assert_int_equal(backend->open(&options, &state, &err), NB_OK);
    assert_int_equal(nb_render_scene(backend, state, sc, precision, image, &err), NB_OK);
    backend->close(state);
}

/** Fails if cutting the detector changes a byte. */
static void check_cut(const char *name, const nb_scene *sc, nb_cut_kind kind, nb_isa isa,
                      nb_precision precision)
{
    float whole[PIXELS], stack[PIXELS], image[PIXELS];
    nb_cut cut;
    double sum = 0;
    assert_true(nb_cut_scene(sc, kind, &cut));
    render(sc, isa, precision, whole);
    render(&cut.scene, isa, precision, stack);
    nb_cut_assemble(&cut, stack, image, FAST);
    for (int i = 0; i < PIXELS; i++) {
        sum += whole[i];
        if (memcmp(&image[i], &whole[i], sizeof *image) != 0)
            fail_msg("%s, %s, precision %d, cut %d: pixel %d %d is %.9g, uncut %.9g",
                     name, nb_isa_name(isa), precision, kind, i % FAST, i / FAST,
                     image[i], whole[i]);
    }
    assert_true(sum > 0);
    nb_cut_free(&cut);
}

static void check_everywhere(const char *name, const nb_scene *sc, nb_cut_kind kind)
{
    static const nb_isa sets[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
    check_cut(name, sc, kind, NB_ISA_SCALAR, NB_PRECISION_DOUBLE);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int p = 0; p < 2 && nb_cpu_runs(sets[i]); p++)
            check_cut(name, sc, kind, sets[i], (nb_precision)p);
}

/* The geometry has few binary digits. The rays of a panel are then those of the uncut
 * detector to the last bit, and so is the image: scalar, and each instruction set in each
 * precision. */
UNIT_TEST(a_cut_detector_gives_the_same_bytes)
{
    for (int i = 0; i < CASES; i++) {
        nb_sim *sim = sim_of(&cases[i]);
        check_everywhere(cases[i].name, &sim->model.scene, NB_CUT_ROWS);
        check_everywhere(cases[i].name, &sim->model.scene, NB_CUT_WIDTHS);
        nb_sim_free(sim);
    }
}

UNIT_TEST(mask_and_region_are_of_the_stack)
{
    uint8_t mask[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        mask[i] = i % 7 != 0 && i / FAST != 20;
    for (int i = 0; i < CASES; i++) {
        nb_sim *sim = sim_of(&cases[i]);
        nb_scene sc = sim->model.scene;
        sc.raster.mask = mask;
        check_everywhere(cases[i].name, &sc, NB_CUT_WIDTHS);
        sc.raster.roi = (nb_region){3, FAST - 6, 5, SLOW - 9};
        check_everywhere(cases[i].name, &sc, NB_CUT_ROWS);
        sc.raster.mask = NULL;
        check_everywhere(cases[i].name, &sc, NB_CUT_ROWS);
        nb_sim_free(sim);
    }
}

/* For any geometry the origins of the panels are rounded, so the images only agree. */
UNIT_TEST(a_tilted_detector)
{
    nb_config cfg = nb_suite_config(1.2, 7, 0);
    nb_sim *sim;
    float whole[PIXELS], stack[PIXELS], image[PIXELS], max = 0;
    nb_cut cut;
    nb_set_pixels(&cfg, FAST, SLOW);
    nb_words(&cfg, "-detector_rotx 11 -detector_roty -7 -detector_rotz 3 " MANY " " DEEP);
    sim = created(&cfg);
    assert_true(nb_cut_scene(&sim->model.scene, NB_CUT_WIDTHS, &cut));
    for (int j = 0; j < 2; j++) {
        nb_isa isa = j ? NB_ISA_AUTO : NB_ISA_SCALAR;
        render(&sim->model.scene, isa, NB_PRECISION_MIXED, whole);
        render(&cut.scene, isa, NB_PRECISION_MIXED, stack);
        nb_cut_assemble(&cut, stack, image, FAST);
        for (int i = 0; i < PIXELS; i++)
            max = fmaxf(max, whole[i]);
        for (int i = 0; i < PIXELS; i++)
            check_close(image[i], whole[i], (j ? 1e-6 : 1e-7) * max);
    }
    nb_cut_free(&cut);
    nb_sim_free(sim);
}

/* Each panel has the sensor with the index panel.sensor. */
UNIT_TEST(each_panel_has_its_sensor)
{
    nb_sim *sim = sim_of(&cases[2]);
    nb_sensor sensors[2] = {sim->model.detector->sensors[0],
                            sim->model.detector->sensors[0]};
    nb_scene sc = sim->model.scene;
    float whole[2][PIXELS], stack[PIXELS], image[PIXELS];
    nb_cut cut;
    sensors[1].layers = 1;
    sensors[1].mu *= 3;
    assert_true(nb_cut_scene(&sc, NB_CUT_WIDTHS, &cut));
    cut.scene.sensors = sensors;
    for (int k = 0; k < NB_CUT_PANELS; k++)
        cut.panels[k].sensor = k % 2;
    for (int j = 0; j < 2; j++) {
        nb_isa isa = j ? NB_ISA_AUTO : NB_ISA_SCALAR;
        for (int k = 0; k < 2; k++) {
            sc.sensors = &sensors[k];
            render(&sc, isa, NB_PRECISION_DOUBLE, whole[k]);
        }
        render(&cut.scene, isa, NB_PRECISION_DOUBLE, stack);
        nb_cut_assemble(&cut, stack, image, FAST);
        for (int k = 0; k < NB_CUT_PANELS; k++) {
            const nb_region *r = &cut.places[k];
            for (int s = r->smin; s <= r->smax; s++)
                assert_memory_equal(&image[s * FAST + r->fmin],
                                    &whole[k % 2][s * FAST + r->fmin],
                                    (size_t)(r->fmax - r->fmin + 1) * sizeof *image);
        }
    }
    assert_memory_not_equal(whole[0], whole[1], sizeof whole[0]);
    nb_cut_free(&cut);
    nb_sim_free(sim);
}

/* Quantities that are calculated once for a scene include every panel. */
UNIT_TEST(limits_cover_all_panels)
{
    nb_sim *sim = sim_of(&cases[2]);
    const nb_scene *sc = &sim->model.scene;
    nb_cut cut;
    for (int kind = NB_CUT_ROWS; kind <= NB_CUT_WIDTHS; kind++) {
        assert_true(nb_cut_scene(sc, (nb_cut_kind)kind, &cut));
        check_ratio(nb_scene_solid_angle(&cut.scene), nb_scene_solid_angle(sc), 1e-12);
        assert_true(nb_photon_bound(&cut.scene) == nb_photon_bound(sc));
        assert_true(nb_rendered_samples(&cut.scene) == nb_rendered_samples(sc));
        cut.panels[5].close_distance /= 2;
        check_ratio(nb_photon_bound(&cut.scene), 4 * nb_photon_bound(sc), 1e-12);
        for (size_t pixel = 0; pixel < PIXELS; pixel++) {
            const nb_panel *p = &cut.panels[nb_panel_of_pixel(&cut.scene, pixel)];
            assert_true(pixel >= p->first_pixel &&
                        pixel < p->first_pixel + (size_t)(p->columns * p->rows));
        }
        nb_cut_free(&cut);
    }
    nb_sim_free(sim);
}
