/* SPDX-License-Identifier: MIT */
/* The plan of a scene: the box of visible reflections, and the paths that renderers
 * choose. */
#include "../support/check.h"

#include "../../cuda/backend/paths.h"
#include "base/memory.h"
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

/** Runs of visible indices along each axis. */
typedef struct all_runs {
    nb_index_run *along[3];
} all_runs;

static void check_runs(const nb_index_box *box, const all_runs *runs, const double h0[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
        int i = (int)-h0[a] - box->low[a], j = (int)-h0[b] - box->low[b],
            k = (int)-h0[axis] - box->low[axis];
        const nb_index_run *run = &runs->along[axis][i * box->n[b] + j];
        check_above(k, run->first);
        check_below(k, run->end - 1);
    }
}

/** Every reflection seen from the corners and middles of some pixels is in the box and in
 * the runs of its rows. */
static void check_box(const nb_scene *sc, const nb_index_box *box, const all_runs *runs)
{
    const nb_panel *panel = sc->panels;
    const nb_region *roi = &sc->raster.roi;
    enum { GRID = 17 };
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
            check_runs(box, runs, h0);
        }
    }
}

static nb_index_box box_of(const nb_config *cfg)
{
    nb_model model = built(cfg, &some_F);
    nb_plan plan = nb_plan_of(&model.scene, NB_PRECISION_MIXED, &a_cpu);
    nb_index_box box;
    all_runs runs;
    assert_int_equal(nb_visible_box(&plan, &box, NULL), NB_OK);
    for (int axis = 0; axis < 3; axis++)
        assert_int_equal(nb_visible_runs(&plan, &box, axis, &runs.along[axis], NULL),
                         NB_OK);
    check_box(&model.scene, &box, &runs);
    for (int axis = 0; axis < 3; axis++)
        nb_free(runs.along[axis]);
    nb_model_free(&model);
    return box;
}

UNIT_TEST(the_box_holds_what_is_seen)
{
    nb_config cfg = tilted(60, 512);
    nb_index_box box;
    box = box_of(&cfg);
    check_below(nb_index_box_count(&box), 60 * 66 * 54 * 2); /* most are visible */
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

/** For a narrow region and a large cell, one cone around all rays is too coarse, so the
 * search uses patches of pixels instead. */
UNIT_TEST(a_large_box_is_looked_at_twice)
{
    nb_config cfg = tilted(900, 2048);
    nb_index_box box, strip;
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

/* A still of one crystal sees a thin shell of reciprocal space. */
UNIT_TEST(runs_of_a_still_are_short)
{
    nb_config cfg = nb_suite_config(1, 5, 512);
    nb_index_run *runs;
    nb_index_box box;
    nb_model model;
    nb_plan plan;
    size_t n, longest = 0, seen = 0;
    int axis;
    nb_set_misset(&cfg, 10, 20, 30);
    cfg.dispersion_pct = 1;
    cfg.dispersion_steps = 3;
    model = built(&cfg, &some_F);
    plan = nb_plan_of(&model.scene, NB_PRECISION_MIXED, &a_cpu);
    axis = nb_steepest_axis(&model.scene);
    assert_int_equal(nb_visible_box(&plan, &box, NULL), NB_OK);
    assert_int_equal(nb_visible_runs(&plan, &box, axis, &runs, NULL), NB_OK);
    n = (size_t)box.n[(axis + 1) % 3] * (size_t)box.n[(axis + 2) % 3];
    for (size_t i = 0; i < n; i++) {
        size_t length = (size_t)(runs[i].end - runs[i].first);
        longest = length > longest ? length : longest;
        seen += length;
    }
    nb_free(runs);
    nb_model_free(&model);
    check_below(longest, 8);
    check_below(seen, 4 * n);
    check_above(seen, n / 2);
}

/* Checks random geometries. */
UNIT_TEST(the_runs_hold_what_is_seen)
{
    uint32_t r = 1;
    for (int i = 0; i < 60; i++) {
        nb_config cfg = nb_suite_config(1, 5, 64);
        double x[12];
        for (int k = 0; k < 12; k++) {
            r = r * 1664525u + 1013904223u;
            x[k] = (double)(r >> 8) / 16777216.0;
        }
        nb_set_cell(&cfg, 20 + 80 * x[0], 20 + 80 * x[1], 20 + 80 * x[2], 75 + 30 * x[3],
                    90, 75 + 30 * x[4]);
        nb_set_misset(&cfg, 360 * x[5], 360 * x[6], 360 * x[7]);
        nb_set_rotations(&cfg, 60 * x[8], 0, 60 * x[9]);
        cfg.pixel_mm = 1 + 5 * x[10];
        cfg.lambda_A = 0.5 + 2 * x[11];
        if (i % 3 == 1) {
            cfg.mosaic_spread_deg = 10 * x[0];
            cfg.mosaic_domains = 5;
        }
        if (i % 4 == 1) {
            cfg.osc_deg = 180 * x[1];
            cfg.phi_steps = 20;
        }
        if (i % 5 == 1) {
            cfg.hdiv_range_mrad = 100 * x[2];
            cfg.hdiv_steps = 3;
        }
        if (i % 2 == 1) {
            cfg.dispersion_pct = 20 * x[3];
            cfg.dispersion_steps = 3;
        }
        cfg.curved = i % 7 == 1;
        box_of(&cfg);
    }
}

/** Name of the path that the CPU takes; *why: the reason. */
static const char *cpu_path(const nb_config *cfg, nb_precision precision,
                            const nb_engine *engine, const char **why)
{
    const nb_model_inputs constant_F = {.table = {.default_F = cfg->default_F}};
    nb_model model = built(cfg, &constant_F);
    nb_plan plan = nb_plan_of(&model.scene, precision, engine);
    const nb_path *path;
    plan.paths = nb_vector_paths;
    path = nb_path_choose(&plan, why);
    nb_model_free(&model);
    return path->name;
}

UNIT_TEST(the_cpu_takes_its_quickest_path)
{
    const nb_engine none = {.threads = 1, .step = 1e-9, .lacks = "no vectors"};
    nb_config cfg = nb_suite_config(1, 5, 64);
    const char *why;
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), "simple");
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_DOUBLE, &a_cpu, &why), "double");
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &none, &why), "reference");
    assert_string_equal(why, "no vectors");
    cfg.oversample = 2;
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), "fixed");
    cfg.N[1] = 5.5;
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), "fixed");
    cfg.N[1] = 100.5;
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), "double");
    assert_string_equal(why, "the number of cells is not whole");
    cfg.N[1] = 5;
    cfg.shape = NB_SHAPE_ROUND;
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), "double");
    cfg.shape = NB_SHAPE_SQUARE;
    nb_set_cell(&cfg, 3e9, 3e9, 3e9, 90, 90, 90);
    assert_string_equal(cpu_path(&cfg, NB_PRECISION_MIXED, &a_cpu, &why), "reference");
    assert_non_null(strstr(why, "32 bits"));
}

static const char *gpu_path(const nb_config *cfg, const nb_engine *engine,
                            const char **why)
{
    const nb_model_inputs constant_F = {.table = {.default_F = cfg->default_F}};
    nb_model model = built(cfg, &constant_F);
    const nb_tolerance none = {0};
    nb_plan plan = nb_cuda_plan_of(&model.scene, NB_PRECISION_MIXED, &none, engine);
    const nb_path *path = nb_cuda_choose_path(&plan, why);
    nb_model_free(&model);
    return path->name;
}

static nb_config with_domains(int n)
{
    nb_config cfg = nb_suite_config(1, 6, 64);
    cfg.mosaic_spread_deg = 0.2;
    cfg.mosaic_domains = n;
    return cfg;
}

UNIT_TEST(the_gpu_takes_its_quickest_path)
{
    const nb_engine *engines[] = {&with_tensor, &slow_fp64};
    const char *const many[] = {"mma", "direct"};
    nb_config cfg;
    const char *why;
    for (int i = 0; i < 2; i++) {
        cfg = with_domains(23);
        assert_string_equal(gpu_path(&cfg, engines[i], &why), "direct");
        cfg = with_domains(24);
        assert_string_equal(gpu_path(&cfg, engines[i], &why), many[i]);
        assert_string_equal(why, "");
        cfg.default_F = 0;
        assert_string_equal(gpu_path(&cfg, engines[i], &why), "direct");
        cfg.default_F = 1;
        cfg.curved = 1;
        assert_string_equal(gpu_path(&cfg, engines[i], &why), "double");
        assert_string_equal(why, "the detector is curved");
    }
    cfg = with_domains(24);
    cfg.N[2] = 6.25;
    assert_string_equal(gpu_path(&cfg, &with_tensor, &why), "double");
}

UNIT_TEST(deep_layers_take_tensor_cores_sooner)
{
    nb_config cfg = with_domains(7);
    const char *why;
    cfg.thick_um = 300;
    cfg.abs_um = 200;
    cfg.thick_steps = 1;
    cfg.layer_depth = NB_LAYER_MEAN;
    assert_string_equal(gpu_path(&cfg, &with_tensor, &why), "direct");
    cfg.mosaic_domains = 8;
    assert_string_equal(gpu_path(&cfg, &with_tensor, &why), "mma");
    assert_string_equal(gpu_path(&cfg, &slow_fp64, &why), "direct");
}

static const char *gpu_path_with(const nb_config *cfg, nb_tolerance may, const char **why)
{
    nb_model model = built(cfg, &some_F);
    nb_plan plan = nb_cuda_plan_of(&model.scene, NB_PRECISION_MIXED, &may, &with_tensor);
    const nb_path *path = nb_cuda_choose_path(&plan, why);
    *why = nb_path_refuses_tolerance(&plan);
    nb_model_free(&model);
    return path->name;
}

UNIT_TEST(the_gpu_goes_from_reflections)
{
    const nb_tolerance some = {.skip = 1, .part = 1e-6}, none = {0};
    nb_config cfg = nb_suite_config(1, 30, 4096);
    const char *why;
    cfg.mosaic_spread_deg = 0.2;
    cfg.mosaic_domains = 1000;
    cfg.dispersion_pct = 0.1;
    cfg.dispersion_steps = 10;
    cfg.shape = NB_SHAPE_GAUSS;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "spots");
    assert_null(why);
    assert_string_equal(gpu_path_with(&cfg, none, &why), "mma");
    assert_string_equal(why, "every step was asked for");
    nb_set_N(&cfg, 3);
    assert_string_equal(gpu_path_with(&cfg, some, &why), "mma");
    assert_string_equal(why, "spots of so few cells overlap");
    cfg.shape = NB_SHAPE_TOPHAT;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "spots");
    nb_set_N(&cfg, 30);
    cfg.shape = NB_SHAPE_ROUND;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "tiles");
    assert_null(why);
    assert_string_equal(gpu_path_with(&cfg, none, &why), "mma");
    cfg.shape = NB_SHAPE_SQUARE;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "tiles");
    cfg.shape = NB_SHAPE_ROUND;
    cfg.mosaic_domains = cfg.dispersion_steps = 1;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "direct");
    cfg.hdiv_range_mrad = 1;
    cfg.hdiv_steps = 3;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "double"); /* some F are 0 */
    cfg.hdiv_steps = 1;
    cfg.shape = NB_SHAPE_GAUSS;
    assert_string_equal(gpu_path_with(&cfg, some, &why), "direct");
    assert_string_equal(why, "every step is as quick");
    setenv("NANOBRAGG_CUDA_PATH", "spots", 1);
    assert_string_equal(gpu_path_with(&cfg, some, &why), "spots");
    unsetenv("NANOBRAGG_CUDA_PATH");
}

UNIT_TEST(the_gpu_interpolates_in_a_kernel_of_its_own)
{
    const nb_tolerance none = {0};
    nb_config cfg = with_domains(24);
    const char *why;
    cfg.interpolate = NB_ON;
    assert_string_equal(gpu_path_with(&cfg, none, &why), "tricubic");
    nb_set_N(&cfg, 1);
    assert_string_equal(gpu_path_with(&cfg, none, &why), "tricubic");
    cfg.curved = 1;
    assert_string_equal(gpu_path_with(&cfg, none, &why), "double");
    cfg.curved = 0;
    cfg.interpolate = NB_OFF;
    assert_string_equal(gpu_path_with(&cfg, none, &why), "double");
}

UNIT_TEST(a_path_can_be_asked_for)
{
    static const struct {
        const char *word;
        const char *path;
    } asked[] = {{"direct", "direct"},
                 {"mma", "mma"},
                 {"tricubic", "mma"}, /* nothing to interpolate */
                 {"double", "double"},
                 {"unknown", "mma"}};
    nb_config cfg = with_domains(40);
    const char *why;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        setenv("NANOBRAGG_CUDA_PATH", asked[i].word, 1);
        assert_string_equal(gpu_path(&cfg, &with_tensor, &why), asked[i].path);
    }
    setenv("NANOBRAGG_CUDA_PATH", "mma", 1);
    assert_string_equal(gpu_path(&cfg, &slow_fp64, &why), "direct");
    unsetenv("NANOBRAGG_CUDA_PATH");
}
