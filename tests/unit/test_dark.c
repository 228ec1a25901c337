/* SPDX-License-Identifier: MIT */
/* Dark pixels (plan/dark.h): skipping their steps changes no byte of the image. */
#include "../support/check.h"
#include "../support/scenes.h"

#include "sim/sim.h"
#include "base/threads.h"
#include "physics/limits.h"
#include "physics/pixel.h"
#include "render/simd.h"
#include "render/request.h"
#include "render/vector_paths.h"

enum { FAST = 61, SLOW = 50, PIXELS = FAST * SLOW, EDGE = 9, HALF = EDGE / 2 };

/** F is 0 outside a sphere, and in one octant. */
static nb_factor_table amplitudes(void)
{
    static double F[EDGE * EDGE * EDGE];
    nb_factor_table table = nb_cube(F, HALF, 0);
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
        int h = i / EDGE / EDGE - HALF, k = i / EDGE % EDGE - HALF, l = i % EDGE - HALF;
        int in = h * h + k * k + l * l <= HALF * HALF && !(h > 0 && k > 0 && l > 0);
        F[i] = in ? 50 + i * 37 % 101 : 0;
    }
    nb_factor_table_measure(&table);
    return table;
}

static nb_config basis(void)
{
    nb_config cfg = nb_suite_config(1.2, 7, 0);
    nb_set_pixels(&cfg, FAST, SLOW);
    nb_words(
        &cfg,
        "-cell 100 80 120 85 95 105 -misset 10 20 30 -pixel 0.7 -mosaic 3 -mosaic_dom 9 "
        "-dispersion 4 -dispsteps 2");
    return cfg;
}

typedef struct dark_case {
    const char *name, *words;
    double least; /* least fraction of the pixels that must be found dark */
} dark_case;

static const dark_case cases[] = {
    {"plain", "", 0.7},
    {"tilted",
     "-detector_rotx 20 -detector_roty -30 -detector_rotz 25 -twotheta 15 -hdivrange 50 "
     "-hdivsteps 3 -mosaic_dom 3",
     0.5},
    {"water", "-water 5 -oversample 2 -oversample_polar", 0.7},
    {"layers", "-detector_thick 900 -detector_abs 300 -detector_thicksteps 3", 0.6},
    {"dmin", "-dmin 60 -water 1", 0.8},
    /* here making the table costs more time than the skipped steps save */
    {"one step", "-mosaic_dom 1 -dispsteps 1 -mosaic 0 -dmin 0", 0},
    {"curved", "-curved_det", 0},
    {"between reflections", "-interpolate", 0.2}};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct machine {
    nb_isa isa;
    nb_row_kernel *kernel;
} machine;

static const machine machines[] = {
#if defined(__x86_64__)
    {NB_ISA_SSE2, nb_row_sse2},
    {NB_ISA_AVX2, nb_row_avx2},
    {NB_ISA_AVX512, nb_row_avx512},
#elif defined(__aarch64__)
    {NB_ISA_NEON, nb_row_neon},
#endif
    {NB_ISA_SCALAR, NULL}};

/** Renders with (look) or without the search for dark pixels. *dark: fraction of the
 * pixels of the rows that is found dark. */
static void render(const nb_scene *sc, const machine *with, nb_precision precision,
                   int look, float *image, double *dark)
{
    const nb_engine engine = {.threads = 2, .step = 1e-9};
    nb_plan plan = nb_plan_of(sc, precision, &engine);
    const nb_planes planes = {image, sc->raster.pixels};
    nb_dark_rows rows = {.kernel = with->kernel};
    nb_request request = {.precision = precision};
    nb_render made = {.plan = &plan};
    nb_hooks hooks = {0};
    nb_span *spans;
    const char *why;
    assert_int_equal(nb_spans_build(sc, &spans, &request.n, NULL), NB_OK);
    request.spans = spans;
    plan.paths = nb_vector_paths;
    assert_int_equal(nb_path_choose(&plan, &why)->prepare(&made, NULL), NB_OK);
    rows.plans = made.plans;
    if (look)
        assert_int_equal(nb_dark_rows_build(&plan, &rows, NULL), NB_OK);
    const nb_row_job job = {sc, &request, &planes, &rows, nb_dark_row, 2, &hooks};
    assert_int_equal(nb_render_rows(&job, NULL), NB_OK);
    for (int s = 0; dark && rows.lit && s < SLOW; s++) {
        int first, last;
        nb_lit_columns(&rows.lit[0], s, &first, &last);
        *dark += (FAST - fmax(last - first + 1, 0)) / PIXELS;
    }
    nb_dark_rows_free(&rows);
    nb_vector_plans_free(made.plans);
    nb_free(spans);
}

static void check_case(const dark_case *c, nb_shape shape, const uint8_t *mask)
{
    static float full[PIXELS], quick[PIXELS];
    nb_config cfg = basis();
    nb_sim *sim;
    nb_scene *sc;
    cfg.shape = shape;
    nb_words(&cfg, c->words);
    sim = created(&cfg);
    sc = &sim->model.scene;
    sc->factors.table = amplitudes();
    sc->factors.table.interpolate = cfg.interpolate == NB_ON;
    sc->raster.mask = mask;
    for (int i = 0; machines[i].kernel; i++)
        for (int p = 0; p < 2 && nb_cpu_runs(machines[i].isa); p++) {
            double dark = 0;
            render(sc, &machines[i], (nb_precision)p, 0, full, NULL);
            render(sc, &machines[i], (nb_precision)p, 1, quick, &dark);
            for (int k = 0; k < PIXELS; k++)
                if (memcmp(&full[k], &quick[k], sizeof *full) != 0)
                    fail_msg(
                        "%s, shape %d, %s, precision %d: pixel %d %d is %.9g, was %.9g",
                        c->name, shape, nb_isa_name(machines[i].isa), p, k % FAST,
                        k / FAST, quick[k], full[k]);
            check_above(dark, c->least);
        }
    sc->raster.mask = NULL;
    nb_sim_free(sim);
}

UNIT_TEST(no_byte_changes)
{
    for (int i = 0; i < CASES; i++)
        for (int shape = 0; shape < NB_SHAPE_COUNT; shape++)
            check_case(&cases[i], (nb_shape)shape, NULL);
}

UNIT_TEST(no_byte_changes_behind_a_mask)
{
    static uint8_t mask[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        mask[i] = i * 37 % 11 > 4 || i % FAST > 40;
    for (int i = 0; i < CASES; i++)
        check_case(&cases[i], NB_SHAPE_SQUARE, mask);
}

/** Rays just outside the cone see no F > 0; rays just inside see F > 0. */
UNIT_TEST(the_cone_ends_where_the_table_ends)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    nb_config cfg = basis();
    nb_sim *sim;
    nb_scene *sc;
    nb_lit_cone cone;
    nb_plan plan;
    double least = INFINITY;
    cfg.mosaic_spread_deg = 180;
    cfg.mosaic_domains = 3000;
    cfg.dispersion_pct = cfg.dispersion_steps = 0;
    sim = created(&cfg);
    sc = &sim->model.scene;
    sc->factors.table = amplitudes();
    plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    cone = nb_lit_cone_of(&plan);
    assert_false(cone.all);
    for (int turn = 0; turn < 50; turn++) {
        nb_vec3 axis = sc->beam.sources[0].incident;
        nb_vec3 side = nb_rotate_about(nb_unit(nb_cross(axis, nb_v3(0.3, 0.5, 0.8))),
                                       axis, turn * 0.1);
        for (double part = 0.9; part < 1.2; part += 0.01) {
            nb_vec3 d = nb_rotate_about(axis, side, part * cone.angle);
            double sum = nb_crystal_sum(&sc->lattice, &sc->factors.table, 0,
                                        nb_scattering_vector(&sc->beam.sources[0], d));
            if (part > 1)
                assert_true(sum == 0);
            else if (sum > 0)
                least = fmin(least, 1 - part);
        }
    }
    check_below(least, 0.03);
    nb_sim_free(sim);
}
