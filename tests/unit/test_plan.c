/* SPDX-License-Identifier: MIT */
/* The plan of a scene: the box of reflections that it sees, and the paths that renderers choose by
 * it. */
#include "../support/check.h"

#include "../../cuda/paths.h"
#include "model/scene_build.h"
#include "physics/pixel.h"
#include "render/vector_paths.h"

static const nb_engine a_cpu = {.threads = 1, .step = 1e-9};
static const nb_engine with_tensor = {.size = 1, .fp64_ratio = 2, .has_tensor = 1};
static const nb_engine slow_fp64 = {.size = 1, .fp64_ratio = 64};

static const double amplitudes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const nb_model_inputs some_F = {
    .table = {.nh = 2, .nk = 2, .nl = 2, .F = amplitudes, .default_F = 1}};

static nb_model built(const nb_config *cfg, const nb_model_inputs *inputs)
{
    nb_model model;
    nb_error err = {0};
    if (nb_model_build(cfg, inputs, NULL, &model, &err) != NB_OK)
        fail_msg("%s", err.message);
    return model;
}

static nb_config tilted(double cell, int pixels)
{
    nb_config cfg = nb_suite_config(1, 5, pixels);
    nb_set_cell(&cfg, cell, 1.1 * cell, 0.9 * cell, 75, 85, 95);
    nb_set_misset(&cfg, 10, 20, 30);
    nb_set_rotations(&cfg, 3, -12, 25);
    cfg.dispersion_pct = 4;
    cfg.dispersion_steps = 3;
    cfg.mosaic_spread_deg = 1;
    cfg.mosaic_domains = 7;
    cfg.osc_deg = 2;
    cfg.phi_steps = 3;
    return cfg;
}

/** Every reflection that the corners and middles of some pixels see is in the box. */
static void check_box(const nb_scene *sc, const nb_index_box *box)
{
    const nb_panel *panel = sc->panels;
    const nb_region *roi = &sc->raster.roi;
    enum { GRID = 9 };
    for (int i = 0; i < GRID * GRID; i++) {
        double F = roi->fmin + (roi->fmax + 1 - roi->fmin) * (i % GRID / (GRID - 1.0));
        double S = roi->smin + (roi->smax + 1 - roi->smin) * (i / GRID / (GRID - 1.0));
        nb_vec3 d = nb_ray_to(panel, sc->sensors, F * panel->pixel_fast,
                              S * panel->pixel_slow, sc->sensors->layers - 1)
                        .direction;
        for (int k = 0; k < sc->beam.n_sources * sc->lattice.n_orientations; k++) {
            nb_vec3 q = nb_scattering_vector(&sc->beam.sources[k % sc->beam.n_sources], d);
            nb_sample p =
                nb_sample_at(&sc->lattice, &sc->factors.table, 0,
                             &sc->lattice.orientations[k / sc->beam.n_sources], q);
            const double h0[3] = {p.h0, p.k0, p.l0};
            for (int axis = 0; axis < 3; axis++) {
                check_above(-h0[axis], box->low[axis]);
                check_below(-h0[axis], box->low[axis] + box->n[axis] - 1);
            }
        }
    }
}

static nb_index_box box_of(const nb_config *cfg)
{
    nb_model model = built(cfg, &some_F);
    nb_plan plan = nb_plan_of(&model.scene, NB_PRECISION_MIXED, &a_cpu);
    nb_index_box box;
    assert_int_equal(nb_visible_box(&plan, &box, NULL), NB_OK);
    check_box(&model.scene, &box);
    nb_model_free(&model);
    return box;
}

static void the_box_holds_what_is_seen(void **state)
{
    nb_config cfg = tilted(60, 512);
    nb_index_box box;
    (void)state;
    box = box_of(&cfg);
    check_below(nb_index_box_count(&box), 60 * 66 * 54 * 2); /* most of it is seen */
    cfg.thick_um = 5000; /* layers reach deeper than the front */
    cfg.thick_steps = 3;
    box_of(&cfg);
    cfg.roi_set = 1;
    cfg.roi[0] = 500;
    cfg.roi[1] = 511;
    cfg.roi[2] = 3;
    cfg.roi[3] = 4;
    box_of(&cfg);
    cfg = tilted(60, 512);
    cfg.curved = 1;
    box_of(&cfg);
}

/** A narrow region of a large cell: its cone is coarse, so patches take its place. */
static void a_large_box_is_looked_at_twice(void **state)
{
    nb_config cfg = tilted(900, 2048);
    nb_index_box box, strip;
    (void)state;
    cfg.osc_deg = 0;
    cfg.phi_steps = 1;
    box = box_of(&cfg);
    check_above(nb_index_box_count(&box), 1 << 21);
    cfg.roi_set = 1;
    cfg.roi[0] = 0;
    cfg.roi[1] = 2047;
    cfg.roi[2] = 1000;
    cfg.roi[3] = 1001;
    strip = box_of(&cfg);
    check_below(3 * nb_index_box_count(&strip), nb_index_box_count(&box));
}

static nb_vector_path cpu_path(const nb_config *cfg, nb_precision precision,
                               const nb_engine *engine, const char **why)
{
    const nb_model_inputs constant_F = {.table = {.default_F = cfg->default_F}};
    nb_model model = built(cfg, &constant_F);
    nb_plan plan = nb_plan_of(&model.scene, precision, engine);
    nb_vector_path path = nb_vector_choose(&plan, why);
    nb_model_free(&model);
    return path;
}

static void the_cpu_takes_its_quickest_path(void **state)
{
    const nb_engine none = {.threads = 1, .step = 1e-9, .lacks = "no vectors"};
    nb_config cfg = nb_suite_config(1, 5, 64);
    const char *why;
    (void)state;
    assert_int_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), NB_VECTOR_SIMPLE);
    assert_int_equal(cpu_path(&cfg, NB_PRECISION_DOUBLE, &a_cpu, &why), NB_VECTOR_DOUBLE);
    assert_int_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &none, &why), NB_VECTOR_REFERENCE);
    assert_string_equal(why, "no vectors");
    cfg.oversample = 2;
    assert_int_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), NB_VECTOR_FIXED);
    cfg.shape = NB_SHAPE_ROUND;
    assert_int_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), NB_VECTOR_DOUBLE);
    cfg.shape = NB_SHAPE_SQUARE;
    nb_set_cell(&cfg, 3e9, 3e9, 3e9, 90, 90, 90);
    assert_int_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why),
                     NB_VECTOR_REFERENCE);
    assert_non_null(strstr(why, "32 bits"));
}

static nb_cuda_path gpu_path(const nb_config *cfg, const nb_engine *engine,
                             const char **why)
{
    const nb_model_inputs constant_F = {.table = {.default_F = cfg->default_F}};
    nb_model model = built(cfg, &constant_F);
    nb_plan plan = nb_plan_of(&model.scene, NB_PRECISION_MIXED, engine);
    nb_cuda_path path = nb_cuda_choose_path(&plan, why);
    nb_model_free(&model);
    return path;
}

static nb_config with_domains(int n)
{
    nb_config cfg = nb_suite_config(1, 6, 64);
    cfg.mosaic_spread_deg = 0.2;
    cfg.mosaic_domains = n;
    return cfg;
}

static void the_gpu_takes_its_quickest_path(void **state)
{
    const nb_engine *engines[] = {&with_tensor, &slow_fp64};
    const nb_cuda_path many[] = {NB_PATH_TENSOR, NB_PATH_RESIDUAL};
    nb_config cfg;
    const char *why;
    (void)state;
    for (int i = 0; i < 2; i++) {
        cfg = with_domains(23);
        assert_int_equal(gpu_path(&cfg, engines[i], &why), NB_PATH_DIRECT);
        cfg = with_domains(24);
        assert_int_equal(gpu_path(&cfg, engines[i], &why), many[i]);
        assert_string_equal(why, "");
        cfg.default_F = 0;
        assert_int_equal(gpu_path(&cfg, engines[i], &why), NB_PATH_DIRECT);
        cfg.default_F = 1;
        cfg.curved = 1;
        assert_int_equal(gpu_path(&cfg, engines[i], &why), NB_PATH_DOUBLE);
        assert_string_equal(why, "the detector is curved");
    }
    cfg = with_domains(24);
    cfg.mosaic_spread_deg = 20; /* the residuals are no small numbers */
    assert_int_equal(gpu_path(&cfg, &slow_fp64, &why), NB_PATH_DIRECT);
}

static void deep_layers_take_tensor_cores_sooner(void **state)
{
    nb_config cfg = with_domains(7);
    const char *why;
    (void)state;
    cfg.thick_um = 300;
    cfg.abs_um = 200;
    cfg.thick_steps = 1;
    cfg.layer_depth = NB_LAYER_MEAN;
    assert_int_equal(gpu_path(&cfg, &with_tensor, &why), NB_PATH_DIRECT);
    cfg.mosaic_domains = 8;
    assert_int_equal(gpu_path(&cfg, &with_tensor, &why), NB_PATH_TENSOR);
    assert_int_equal(gpu_path(&cfg, &slow_fp64, &why), NB_PATH_DIRECT);
}

static void a_path_can_be_asked_for(void **state)
{
    static const struct {
        const char *word;
        nb_cuda_path path;
    } asked[] = {{"direct", NB_PATH_DIRECT},
                 {"mma", NB_PATH_TENSOR},
                 {"residual", NB_PATH_RESIDUAL},
                 {"double", NB_PATH_DOUBLE},
                 {"unknown", NB_PATH_TENSOR}};
    nb_config cfg = with_domains(40);
    const char *why;
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        setenv("NANOBRAGG_CUDA_PATH", asked[i].word, 1);
        assert_int_equal(gpu_path(&cfg, &with_tensor, &why), asked[i].path);
    }
    setenv("NANOBRAGG_CUDA_PATH", "mma", 1);
    assert_int_equal(gpu_path(&cfg, &slow_fp64, &why), NB_PATH_RESIDUAL);
    setenv("NANOBRAGG_CUDA_PATH", "residual", 1);
    cfg.mosaic_spread_deg = 20;
    assert_int_equal(gpu_path(&cfg, &with_tensor, &why), NB_PATH_DIRECT);
    unsetenv("NANOBRAGG_CUDA_PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_box_holds_what_is_seen),           TEST(a_large_box_is_looked_at_twice),
        TEST(the_cpu_takes_its_quickest_path),      TEST(the_gpu_takes_its_quickest_path),
        TEST(deep_layers_take_tensor_cores_sooner), TEST(a_path_can_be_asked_for)};
    return RUN_TESTS("plan", tests);
}
