/* SPDX-License-Identifier: MIT */
/* Compares, on the host, the GPU's tricubic F (src/terms/cubic_cells.h) with
 * nb_structure_factor: at random points of random tables, and along the rays of scenes,
 * whose cells must all be in the table of cells. */
#include <string.h>

#include "../support/check.h"

#include "../../src/terms/cubic_cells.h"
#include "model/scene_build.h"
#include "physics/pixel.h"

enum { TABLES = 300, POINTS = 2000, SCENES = 40, RAYS = 400 };

typedef struct table {
    nb_factor_table sf;
    nb_cubic_table cubic;
    double *F;
    float *cells;
    nb_cubic_cell cell;
    int number, fits;
    double worst; /* largest error of the floats, relative to the scale */
} table;

static double uniform(double low, double high)
{
    return low + (high - low) * (double)rand() / RAND_MAX;
}

/** Makes random tables of F with at most `size` reflections along an axis. */
static void open_table(table *t, int size)
{
    size_t n;
    memset(t, 0, sizeof *t);
    t->sf.hmin = (int)uniform(-size / 2.0, 4);
    t->sf.kmin = (int)uniform(-size / 2.0, 4);
    t->sf.lmin = (int)uniform(-size / 2.0, 4);
    t->sf.nh = 1 + (int)uniform(0, size);
    t->sf.nk = 1 + (int)uniform(0, size);
    t->sf.nl = 1 + (int)uniform(0, size);
    t->sf.n_tables = 2;
    t->sf.default_F = 7;
    t->sf.interpolate = 1;
    n = 2 * (size_t)t->sf.nh * (size_t)t->sf.nk * (size_t)t->sf.nl;
    t->F = malloc(n * sizeof *t->F);
    assert_non_null(t->F);
    for (size_t i = 0; i < n; i++)
        t->F[i] = uniform(0, 200);
    t->sf.F = t->F;
}

/** Makes a table of F with indices from -40 to 40 along each axis. */
static void fill_whole(table *t)
{
    const int side = 81;
    t->sf.hmin = t->sf.kmin = t->sf.lmin = -40;
    t->sf.nh = t->sf.nk = t->sf.nl = side;
    free(t->F);
    t->F = malloc((size_t)side * side * side * sizeof *t->F);
    assert_non_null(t->F);
    for (int i = 0; i < side * side * side; i++)
        t->F[i] = uniform(0, 200);
    t->sf.F = t->F;
}

static void fill_cells(table *t, const nb_index_box *box)
{
    t->cubic = nb_cubic_table_of(&t->sf, t->number, box);
    const int64_t n = (int64_t)nb_cubic_cells(&t->cubic);
    t->cells = malloc(((size_t)n + 1) * NB_CUBIC_FLOATS * sizeof *t->cells);
    assert_non_null(t->cells);
    for (int64_t i = 0; i < n; i++)
        for (int part = 0; part < 5; part++)
            nb_cubic_part(&t->cubic, i, part, t->cells + NB_CUBIC_FLOATS * i + 16 * part);
    t->cubic.cells = t->cells;
    t->cell.at = -1;
}

static void close_table(table *t)
{
    free(t->F);
    free(t->cells);
}

/** F in double. at: NB_FIXED_MAGIC - h, k, l, as in the kernel. Also checks the error of
 * F in floats. */
static double by_cells(table *t, const double at[3])
{
    int high[3], low[3];
    double exact, wrong;
    float u[3];
    for (int axis = 0; axis < 3; axis++) {
        uint64_t bits;
        memcpy(&bits, &at[axis], sizeof bits);
        high[axis] = (int)(bits >> 32);
        low[axis] = (int)(uint32_t)bits;
        u[axis] = nb_cubic_distance(low[axis]);
    }
    const int cell = nb_cubic_find(&t->cubic, high);
    assert_true(cell >= 0 || !t->cubic.whole);
    if (cell < 0)
        return nb_cubic_nearest(&t->cubic, high, low);
    t->fits++;
    assert_int_equal(nb_cubic_number(&t->cubic, high), cell);
    if (cell != t->cell.at)
        nb_cubic_load(&t->cubic, cell, &t->cell);
    exact = nb_cubic_exact(&t->cubic, cell, low);
    wrong = fabs((double)nb_cubic_at(&t->cell, u) - exact);
    assert_true(wrong <= 2.5e-7 * sqrt((double)t->cell.scale2));
    t->worst = fmax(t->worst, wrong / sqrt((double)t->cell.scale2));
    return exact;
}

static double reference(const table *t, const double at[3])
{
    const double h = NB_FIXED_MAGIC - at[0], k = NB_FIXED_MAGIC - at[1],
                 l = NB_FIXED_MAGIC - at[2];
    return nb_structure_factor(&t->sf, t->number, h, k, l, nb_nearest_index(h),
                               nb_nearest_index(k), nb_nearest_index(l));
}

UNIT_TEST(cells_are_the_table)
{
    const nb_index_box box = {{-8, -9, -7}, {17, 18, 15}};
    int fits = 0;
    double worst = 0;
    srand(3);
    for (int n = 0; n < TABLES; n++) {
        table t;
        open_table(&t, n % 2 ? 16 : 30);
        t.number = n % 2;
        fill_cells(&t, &box);
        for (int i = 0; i < POINTS; i++) {
            double at[3];
            for (int axis = 0; axis < 3; axis++) {
                const double first = box.low[axis] - 0.49;
                at[axis] = uniform(first, first + box.n[axis] - 0.02);
                /* the point is on a reflection, where both neighbouring cells agree */
                if (i % 7 == 0)
                    at[axis] = floor(at[axis]) + (axis == 0 ? 0 : 0.3);
                at[axis] += NB_FIXED_MAGIC;
            }
            if (i % 7 == 0 && at[0] == NB_FIXED_MAGIC - t.sf.hmin - 2)
                continue; /* the last bit of h decides where the 64 neighbours begin */
            assert_true(fabs(by_cells(&t, at) - reference(&t, at)) < 1e-9);
        }
        fits += t.fits;
        worst = fmax(worst, t.worst);
        close_table(&t);
    }
    print_message("floats: at most %.2g of the scale\n", worst);
    check_above(fits, TABLES * POINTS / 100);
}

static nb_config a_scene(int n)
{
    nb_config cfg = nb_suite_config(1, 3, 40);
    nb_set_cell(&cfg, uniform(20, 60), uniform(20, 60), uniform(20, 60), 75, 85, 95);
    nb_set_misset(&cfg, uniform(-90, 90), uniform(-90, 90), uniform(-90, 90));
    cfg.dispersion_pct = 4;
    cfg.dispersion_steps = 3;
    cfg.mosaic_spread_deg = n % 3 ? 1 : 40;
    cfg.mosaic_domains = 7;
    return cfg;
}

/** Checks one ray and step with the index of the kernel. */
static void check_step(table *t, const nb_scene *sc, nb_vec3 d, int step)
{
    const nb_source *source = &sc->beam.sources[step % sc->beam.n_sources];
    const nb_orientation *o = &sc->lattice.orientations[step / sc->beam.n_sources];
    const nb_vec3 axes[3] = {o->a, o->b, o->c};
    double at[3];
    for (int axis = 0; axis < 3; axis++) {
        const nb_vec3 v = axes[axis];
        at[axis] =
            fma(-v.x / source->lambda, d.x,
                fma(-v.y / source->lambda, d.y,
                    fma(-v.z / source->lambda, d.z,
                        NB_FIXED_MAGIC + nb_dot(v, source->incident) / source->lambda)));
    }
    assert_true(fabs(by_cells(t, at) - reference(t, at)) < 1e-9);
}

UNIT_TEST(rays_stay_in_the_cells)
{
    const nb_engine engine = {.size = 1, .fp64_ratio = 2, .has_tensor = 1};
    int fits = 0, whole = 0;
    srand(5);
    for (int n = 0; n < SCENES; n++) {
        const nb_config cfg = a_scene(n);
        nb_model_inputs inputs;
        nb_model model;
        nb_index_box box;
        nb_error err = {0};
        table t;
        memset(&inputs, 0, sizeof inputs);
        open_table(&t, 60);
        t.sf.n_tables = 1;
        if (n % 4 == 0) /* every fourth table has all visible reflections */
            fill_whole(&t);
        inputs.table = t.sf;
        assert_int_equal(nb_model_build(&cfg, &inputs, NULL, &model, &err), NB_OK);
        const nb_scene *sc = &model.scene;
        const nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
        assert_int_equal(nb_visible_box(&plan, &box, &err), NB_OK);
        fill_cells(&t, &box);
        for (int i = 0; i < RAYS; i++) {
            const nb_panel *panel = sc->panels;
            const double F = uniform(0, panel->columns * panel->pixel_fast);
            const double S = uniform(0, panel->rows * panel->pixel_slow);
            const nb_vec3 d = nb_ray_to(panel, sc->sensors, F, S, 0).direction;
            for (int k = 0; k < sc->beam.n_sources * sc->lattice.n_orientations; k++)
                check_step(&t, sc, d, k);
        }
        fits += t.fits;
        whole += t.cubic.whole;
        close_table(&t);
        nb_model_free(&model);
    }
    check_above(fits, SCENES * RAYS);
    check_above(whole, 3); /* more than three tables must cover every pixel */
}
