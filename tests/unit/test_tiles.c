/* SPDX-License-Identifier: MIT */
/* Tests the bounds of images in blocks of rays: in each ray of a block every step and
 * every group of steps stays within its bound, and thresholds spend at most the budget.
 * tests/check/test_mutate.sh breaks the bounds and expects that this test fails. */
#include "../support/check.h"
#include "../support/scenes.h"

#include "sim/sim.h"
#include "physics/limits.h"
#include "physics/pixel.h"
#include "render/kernel_tile_bounds.h"
#include "render/tile_rows.h"
#include "render/vector_paths.h"

#include "../../cuda/tiles/tile_lanes.h"

enum { SIDE = 64, HALF = 12, COUNT = 2 * HALF + 1, BLOCKS = 2000, RAYS = 10 };

/** Table of F with a few strong reflections, so that neglecting a neighbour shows. */
static nb_factor_table amplitudes(void)
{
    static double F[COUNT * COUNT * COUNT];
    nb_factor_table table = nb_cube(F, HALF, 3);
    for (int i = 0; i < COUNT * COUNT * COUNT; i++)
        F[i] = i * 7919 % 23 == 0 ? 1000 : 1 + i * 37 % 101;
    nb_factor_table_measure(&table);
    return table;
}

typedef struct bound_case {
    const char *name, *words;
} bound_case;

static const bound_case cases[] = {
    {"plain", ""},
    {"one axis", "-N 1 1 40 -dispsteps 40 -mosaic_dom 2"},
    {"few cells", "-N 1 2 3 -pixel 2"},
    {"one cell", "-N 1 -pixel 3"},
    {"fine", "-N 300 200.4 100.5 -pixel 0.02"},
    {"sphere", "-round_xtal -fudge 0.3"},
    {"small sphere", "-round_xtal -N 2 3 1"},
    {"tilted", "-detector_rotx 35 -detector_roty -40 -detector_rotz 25 -twotheta 25"},
    {"spread",
     "-N 1 30 1 -hdivrange 15 -vdivrange 15 -hdivsteps 5 -vdivsteps 5 -mosaic_dom 2"},
    {"turned", "-N 20.3 1 1 -osc 60 -phisteps 30 -mosaic_dom 2 -dispsteps 1"},
    {"deep", "-N 1 1 50 -detector_thick 2500 -detector_abs 700 -detector_thicksteps 2 "
             "-mosaic_dom 3"}};
enum { CASES = sizeof cases / sizeof *cases };

static nb_config config_of(const bound_case *c)
{
    nb_config cfg = nb_suite_config(1, 1, SIDE);
    nb_words(&cfg,
             "-N 14 11 17 -cell 50 60 70 80 95 105 -misset 10 20 30 -pixel 0.6 -mosaic 1 "
             "-mosaic_dom 20 -dispersion 3 -dispsteps 5");
    nb_words(&cfg, c->words);
    return cfg;
}

typedef struct setting {
    const nb_scene *scene;
    nb_tiles tiles;
    nb_ray_tile tile;
    long terms;
    nb_tile_packs packs;
    double tightest;     /* largest ratio of a step to its bound */
    double tightest_row; /* largest ratio of a row with all sources to its bound */
} setting;

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % n);
}

static nb_ray ray_to(const setting *s, int u, int v)
{
    const nb_scene *sc = s->scene;
    const nb_panel *panel = sc->panels;
    return nb_ray_to(panel, sc->sensors, nb_subpixel(panel->pixel_fast, 1, u, 0),
                     nb_subpixel(panel->pixel_slow, 1, v, 0), sc->sensors->layers - 1);
}

static void aim_all(setting *s)
{
    nb_spot_tile *r = &s->tile.rays;
    for (int v = 0; v < SIDE; v++)
        for (int u = 0; u < SIDE; u++) {
            const nb_ray ray = ray_to(s, u, v);
            const size_t at = (size_t)v * r->pitch + (size_t)u;
            r->x[at] = ray.direction.x;
            r->y[at] = ray.direction.y;
            r->z[at] = ray.direction.z;
        }
}

/** Weight F^2 F_latt^2 of a step, relative to the unit; 0 for padding. */
static double term(const setting *s, nb_tile_group g, int step, nb_vec3 direction)
{
    const nb_tiles *t = &s->tiles;
    const nb_scene *sc = s->scene;
    const int at = t->by_source ? g.column * NB_TILE_STEPS + step : g.column;
    const size_t m = (size_t)(t->by_source ? g.row : g.row * NB_TILE_STEPS + step),
                 n = (size_t)t->orientations;
    const double *a = t->cells + m;
    const nb_orientation cell = {nb_v3(a[0], a[n], a[2 * n]),
                                 nb_v3(a[3 * n], a[4 * n], a[5 * n]),
                                 nb_v3(a[6 * n], a[7 * n], a[8 * n])};
    const nb_source *source = &sc->beam.sources[t->source[at]];
    const nb_sample p = nb_sample_at(&sc->lattice, &sc->factors.table, source->table,
                                     &cell, nb_scattering_vector(source, direction));
    return t->weight[at] * t->present[m] * p.F_latt * p.F_latt * p.F_cell * p.F_cell /
           t->unit;
}

static void check_group(setting *s, const nb_ray_block *b, nb_tile_group g, double bound,
                        nb_vec3 direction)
{
    double sum = 0;
    for (int k = 0; k < NB_TILE_STEPS / NB_W; k++) {
        const vf bounds = step_bounds(&s->tiles, b, g, k, s->tiles.shape);
        for (int i = 0; i < NB_W; i++) {
            double x = term(s, g, k * NB_W + i, direction);
            s->terms++;
            sum += x;
            if (x > bounds[i])
                fail_msg("a step of %g is above its bound of %g", x, (double)bounds[i]);
            if (x > 0)
                s->tightest = fmax(s->tightest, x / (double)bounds[i]);
        }
    }
    if (sum > group_sum(&s->tiles, b, g, s->tiles.shape))
        fail_msg("a group is above the sum of its steps' bounds");
    if (sum > bound)
        fail_msg("a group of %g is above its bound of %g", sum, bound);
}

/** Sum of the terms of a group. Fails if a term exceeds its bound on a device. */
static double terms_of(const setting *s, const nb_ray_block *b, nb_tile_group g,
                       nb_vec3 direction)
{
    const nb_tiles *t = &s->tiles;
    double sum = 0;
    for (int step = 0; step < NB_TILE_STEPS; step++) {
        const double x = term(s, g, step, direction);
        const int at = nb_tile_source(t, g.column, step);
        const nb_tile_two two = nb_tile_two_at(&s->packs.sources[at]);
        float q[3], along[3], bound;
        for (int i = 0; i < 3; i++)
            q[i] = (float)(b->c[i] - t->incident[i][at]);
        nb_tile_along(t, &s->packs, nb_tile_orientation(t, g.row, step), q, along);
        bound = nb_tile_along_bound(t, b, two.x, two.y, along, t->shape)[0];
        if (x > bound)
            fail_msg("a step of %g is above its bound of %g", x, (double)bound);
        sum += x;
    }
    return sum;
}

/** The bound of a row and a column, as a device calculates it; the last column has all
 * sources. */
static double packed_bound(const setting *s, const nb_ray_block *b, int row, int column)
{
    const nb_tiles *t = &s->tiles;
    const nb_step_group g = nb_tile_group_at(t, &s->packs, row, column);
    float q[3];
    for (int i = 0; i < 3; i++)
        q[i] = (float)(b->c[i] - t->towards[i][column]);
    return nb_tile_packed_bound(t, b, &g, q, t->shape)[0];
}

/** Checks the bounds that a device uses: of steps, groups, and a row with all sources. */
static void check_packs(setting *s, const nb_ray_block *b, int row, int column,
                        nb_vec3 direction)
{
    const nb_tiles *t = &s->tiles;
    double all = 0;
    for (int c = 0; c < t->columns; c++) {
        if (c != column && !t->by_source)
            continue;
        const double sum = terms_of(s, b, (nb_tile_group){row, c}, direction);
        if (sum > packed_bound(s, b, row, c))
            fail_msg("a group is above its bound on a device");
        all += sum;
    }
    if (t->by_source && all > packed_bound(s, b, row, t->columns))
        fail_msg("a row is above its bound");
    if (t->by_source && all > 0)
        s->tightest_row = fmax(s->tightest_row, all / packed_bound(s, b, row, t->columns));
}

static void check_block(setting *s)
{
    const nb_tiles *t = &s->tiles;
    const int n = 2 << random_below(4);
    const int u = (int)random_below(SIDE), v = (int)random_below(SIDE);
    const nb_ray_block b = tile_block_of(&s->tile, u, v, n);
    const int nu = u + n < SIDE ? n : SIDE - u, nv = v + n < SIDE ? n : SIDE - v;
    const int row = (int)random_below((uint32_t)t->rows) / NB_W * NB_W,
              column = (int)random_below((uint32_t)t->columns);
    vf middle[3], bounds;
    row_indices(t, (size_t)row, column, b.c, middle);
    bounds = group_bounds(t, &b, (size_t)row, column, middle, t->shape);
    for (int ray = 0; ray < RAYS; ray++) {
        const int du = ray < 4 ? (ray & 1) * (nu - 1) : (int)random_below((uint32_t)nu);
        const int dv = ray < 4 ? (ray >> 1) * (nv - 1) : (int)random_below((uint32_t)nv);
        const nb_vec3 d = ray_to(s, u + du, v + dv).direction;
        for (int i = 0; i < NB_W && row + i < t->rows; i++)
            check_group(s, &b, (nb_tile_group){row + i, column}, bounds[i], d);
        if (ray < 2)
            check_packs(s, &b, row, column, d);
    }
}

static double check_case(const bound_case *c, const nb_factor_table *table, double *row)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    nb_config cfg = config_of(c);
    nb_vector_plan vectors = {0};
    setting s = {0};
    nb_plan plan;
    nb_sim *sim;
    void *packs;
    sim = created(&cfg);
    sim->model.scene.factors.table = *table;
    s.scene = &sim->model.scene;
    plan = nb_plan_of(s.scene, NB_PRECISION_MIXED, &engine);
    plan.tolerance = (nb_tolerance){.skip = 1, .part = 1e-3};
    assert_null(nb_tiles_refuse(&plan));
    assert_int_equal(nb_tiles_build(&plan, &s.tiles, NULL), NB_OK);
    assert_int_equal(nb_ray_tile_alloc(&s.tile, &s.tiles, SIDE, NULL), NB_OK);
    vectors.scene = *s.scene;
    vectors.panel = s.scene->panels[0];
    vectors.sensor = s.scene->sensors[0];
    s.tile.rays.plan = &vectors;
    s.tile.rays.nu = s.tile.rays.nv = SIDE;
    packs = malloc(nb_tile_packs_bytes(&s.tiles));
    assert_non_null(packs);
    nb_tile_packs_fill(&s.tiles, packs);
    s.packs = nb_tile_packs_in(&s.tiles, packs);
    aim_all(&s);
    for (int i = 0; i < BLOCKS; i++)
        check_block(&s);
    printf("# %s: %ld terms, the tightest bound %.3f, groups by %s\n", c->name, s.terms,
           s.tightest, s.tiles.by_source ? "source" : "orientation");
    assert_true(s.terms > 10000);
    free(packs);
    nb_ray_tile_free(&s.tile);
    nb_tiles_free(&s.tiles);
    nb_sim_free(sim);
    *row = fmax(*row, s.tightest_row);
    return s.tightest;
}

UNIT_TEST(no_term_is_above_its_bound)
{
    const nb_factor_table table = amplitudes();
    double tightest = 0, row = 0;
    for (int i = 0; i < CASES; i++)
        tightest = fmax(tightest, check_case(&cases[i], &table, &row));
    assert_true(tightest > 0.95); /* a step nearly reaches its bound */
    printf("# the tightest bound of a row %.3f\n", row);
    assert_true(row > 0.1);
}

UNIT_TEST(sines_are_bounded)
{
    for (int i = 0; i <= 100000; i++) {
        const double d = 0.5 * i / 100000, s = 3 * d - 4 * d * d * d;
        assert_true(s <= sin(NB_PI * d) * (1 + 1e-15));
        /* the bound is not much below the value */
        assert_true(s >= 0.9 * sin(NB_PI * d));
    }
}

/** Checks the bounds of the transform of a sphere, from x = 0 on. */
UNIT_TEST(spheres_are_bounded)
{
    for (int i = 1; i <= 100000; i++) {
        const double x = 1e-3 * i, S = nb_sphere_transform(x), x2 = x * x;
        assert_true(S * S <= 9 * (1 + x2) / (x2 * x2 * x2));
    }
}

UNIT_TEST(thresholds_keep_to_the_budget)
{
    float bounds[1000 + NB_TILE_STEPS];
    for (int turn = 0; turn < 300; turn++) {
        const size_t n = random_below(1000);
        double sum = 0, left_out = 0, spent, budget;
        float threshold;
        for (size_t i = 0; i < n; i++) {
            bounds[i] = (float)exp(0.01 * random_below(2000) - 10);
            sum += bounds[i];
        }
        budget = sum * exp(-0.01 * random_below(1200)) * 1.5;
        threshold = tile_threshold(bounds, n, budget, &spent);
        for (size_t i = 0; i < n; i++)
            left_out += bounds[i] > threshold ? 0 : bounds[i];
        assert_true(left_out <= spent && spent <= budget);
        if (sum > 0 && budget > 0.05 * sum)
            assert_true(left_out > 0.05 * budget || spent == 0 || threshold == INFINITY);
    }
}

UNIT_TEST(every_step_is_in_one_group)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    const nb_factor_table table = amplitudes();
    for (int i = 0; i < CASES; i++) {
        nb_config cfg = config_of(&cases[i]);
        nb_sim *sim;
        nb_tiles t;
        nb_plan plan;
        double weights = 0, present = 0;
        sim = created(&cfg);
        sim->model.scene.factors.table = table;
        plan = nb_plan_of(&sim->model.scene, NB_PRECISION_MIXED, &engine);
        assert_int_equal(nb_tiles_build(&plan, &t, NULL), NB_OK);
        for (int s = 0; s < t.sources; s++)
            weights += t.weight[s];
        for (int m = 0; m < t.orientations; m++)
            present += t.present[m];
        check_ratio(weights, sim->model.scene.beam.n_sources, 1e-12);
        check_ratio(present, sim->model.scene.lattice.n_orientations, 1e-12);
        nb_tiles_free(&t);
        nb_sim_free(sim);
    }
}

/** The choice between two pixels of equal brightness does not depend on their order, and
 * so not on threads. */
UNIT_TEST(equal_pixels_have_an_order)
{
    const nb_bright at[] = {
        {1, 0, 5, 7}, {1, 0, 6, 7}, {1, 0, 2, 8}, {1, 1, 0, 0}, {0, 0, 0, 0}};
    const int n = sizeof at / sizeof *at;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            for (int turn = 0; turn < 2; turn++) {
                const nb_bright best =
                    turn ? nb_brighter(at[i], at[j]) : nb_brighter(at[j], at[i]);
                assert_true(best.photons == at[i].photons);
                assert_int_equal(best.panel, at[i].panel);
                assert_int_equal(best.f, at[i].f);
                assert_int_equal(best.s, at[i].s);
            }
}
