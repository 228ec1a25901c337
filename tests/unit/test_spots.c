/* SPDX-License-Identifier: MIT */
/* Tests each bound of images from reflections separately. Every step within reach of its
 * reflection passes the list of reflections, the test of orientations and the box of
 * pixels; with a tenth less reach some steps do not pass. */
#include "../support/check.h"
#include "../support/scenes.h"

#include "sim/sim.h"
#include "physics/limits.h"
#include "physics/panels.h"
#include "physics/pixel.h"
#include "plan/spots.h"
#include "render/tile_rows.h"
#include "render/vector_paths.h"

enum { SIDE = 120, EDGE = 16, HALF = 12, COUNT = 2 * HALF + 1 };

static nb_factor_table amplitudes(void)
{
    static double F[COUNT * COUNT * COUNT];
    nb_factor_table table = nb_cube(F, HALF, 0);
    for (int i = 0; i < COUNT * COUNT * COUNT; i++)
        F[i] = 1 + i * 37 % 101;
    nb_factor_table_measure(&table);
    return table;
}

static nb_config basis(const char *words)
{
    nb_config cfg = nb_suite_config(1, 1, SIDE);
    nb_words(
        &cfg,
        "-N 14 11 17 -cell 50 60 70 80 95 105 -misset 10 20 30 -gauss_xtal -pixel 0.6 "
        "-mosaic 1 -mosaic_dom 20 -dispersion 3 -dispsteps 5");
    nb_words(&cfg, words);
    return cfg;
}

#define NARROW "-mosaic 0.2 -mosaic_dom 12"
#define SPREAD "-hdivrange 15 -vdivrange 15 -hdivsteps 3 -vdivsteps 3 -mosaic_dom 5"

typedef struct bound_case {
    const char *name, *words;
    double strain; /* strain along a of every second orientation */
} bound_case;

static const bound_case cases[] = {
    {"plain", "", 0},
    {"tilted", "-detector_rotx 35 -detector_roty -40 -detector_rotz 25 -twotheta 25", 0},
    {"spread", SPREAD, 0},
    {"turned", "-osc 20 -phisteps 10 -mosaic_dom 4 -mosaic 5", 0},
    {"deep", "-detector_thick 2500 -detector_abs 700 -detector_thicksteps 3 -oversample 2 -mosaic_dom 3",
     0},
    {"white", "-dispersion 50 -dispsteps 21 -mosaic_dom 6 -fudge 2", 0},
    /* nearly parallel domains would be one group if their cells were equal */
    {"strained", NARROW, .02}};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct setting {
    const nb_scene *scene;
    nb_spots spots;
    nb_spot_list list;
    nb_vector_plan *plans;
    nb_spot_limits limits;
    long terms, lost_orientations, lost_boxes; /* lost: with a tenth less reach */
} setting;

static double radius2(const nb_lattice *lattice, const nb_sample *p)
{
    return lattice->fudge *
           nb_shape_radius2(lattice->radius2, p->h - p->h0, p->k - p->k0, p->l - p->l0);
}

static int group_of(const nb_spots *sp, int m)
{
    int g = 0;
    while (sp->groups[g].end <= m)
        g++;
    return g;
}

static const nb_spot *find(const setting *s, size_t tile, const int32_t h[3], int group)
{
    for (size_t i = s->list.first[tile]; i < s->list.first[tile + 1]; i++) {
        const nb_spot *spot = &s->list.spots[s->list.of[i]];
        if (spot->group == group && spot->h[0] == h[0] && spot->h[1] == h[1] &&
            spot->h[2] == h[2])
            return spot;
    }
    return NULL;
}

static const nb_spot_run *run_of(const nb_spots *sp, int source)
{
    for (int k = 0; k < sp->n_runs; k++)
        for (int i = 0; i < sp->runs[k].n; i++)
            if (sp->source[sp->runs[k].first + (size_t)i] == source)
                return &sp->runs[k];
    return NULL;
}

static int in_box(const nb_spot_tile *t, const nb_spot *spot, int m,
                  const nb_spot_run *run, const int at[2])
{
    const nb_spot_cell *cell = &t->spots->cells[m];
    double g[3] = {0};
    int box[2][2];
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < 3; x++)
            g[x] += spot->h[k] * cell->b[k][x];
    return nb_spot_box(t, spot, cell, run, g, box) && at[0] >= box[0][0] &&
           at[0] <= box[0][1] && at[1] >= box[1][0] && at[1] <= box[1][1];
}

/** Tests orientation m of a reflection, as the kernels do. */
static int passes_orientation(const nb_spots *sp, const nb_spot *spot, int m)
{
    double e = 0.25 * (sp->shortest + sp->longest) * spot->g2;
    for (int k = 0; k < 3; k++)
        e += spot->h[k] * sp->along[(size_t)k * sp->stride + (size_t)m];
    return fabs(e) <= nb_spot_slack(sp, spot->reach2) + sp->stray * sqrt(spot->g2) +
                          0.25 * (sp->longest - sp->shortest) * spot->g2;
}

/** Checks that a step within reach, of sub-pixel `at` of the tile, is found. */
static void check_term(setting *s, const nb_spot_tile *t, const nb_sample *p, int m,
                       int source, const int at[2])
{
    const int32_t h[3] = {(int32_t)p->h0, (int32_t)p->k0, (int32_t)p->l0};
    const nb_spot *spot = find(s, t->tile, h, group_of(&s->spots, m));
    const nb_spot_run *run = run_of(&s->spots, source);
    nb_spot less;
    s->terms++;
    assert_non_null(spot);
    assert_non_null(run);
    assert_true(passes_orientation(&s->spots, spot, m));
    assert_true(in_box(t, spot, m, run, at));
    less = *spot;
    less.reach2 *= 0.81;
    s->lost_orientations += !passes_orientation(&s->spots, &less, m);
    s->lost_boxes += !in_box(t, &less, m, run, at);
}

static void check_ray(setting *s, const nb_spot_tile *t, nb_vec3 direction,
                      const int at[2])
{
    const nb_scene *sc = s->scene;
    for (int i = 0; i < sc->beam.n_sources * sc->lattice.n_orientations; i++) {
        int source = i % sc->beam.n_sources, m = i / sc->beam.n_sources;
        nb_sample p =
            nb_sample_at(&sc->lattice, &sc->factors.table, 0, &sc->lattice.orientations[m],
                         nb_scattering_vector(&sc->beam.sources[source], direction));
        if (radius2(&sc->lattice, &p) <
            nb_spot_reach2(&s->spots, &s->limits, p.F_cell * p.F_cell))
            check_term(s, t, &p, m, source, at);
    }
}

static void check_pixel(setting *s, int f, int row)
{
    const nb_scene *sc = s->scene;
    const int os = sc->oversample;
    nb_spot_tile t = {.spots = &s->spots, .list = &s->list, .plan = s->plans};
    t.plane = s->list.planes;
    t.tile = (size_t)(row / EDGE * s->list.grids->across + f / EDGE);
    t.f0 = f / EDGE * EDGE;
    t.s0 = row / EDGE * EDGE;
    t.nu = os * (SIDE - t.f0 < EDGE ? SIDE - t.f0 : EDGE);
    t.nv = os * (SIDE - t.s0 < EDGE ? SIDE - t.s0 : EDGE);
    for (t.layer = 0; t.layer < sc->sensors->layers; t.layer++)
        for (int sub = 0; sub < os * os; sub++) {
            const int at[2] = {(f - t.f0) * os + sub % os, (row - t.s0) * os + sub / os};
            nb_ray ray = nb_ray_to(sc->panels, sc->sensors,
                                   nb_subpixel(sc->panels->pixel_fast, os, f, sub % os),
                                   nb_subpixel(sc->panels->pixel_slow, os, row, sub / os),
                                   t.layer);
            check_ray(s, &t, ray.direction, at);
        }
}

/** Strains every second orientation. Crystals change along a scan more regularly. */
static void strain(nb_scene *sc, double part)
{
    nb_orientation *all = (nb_orientation *)(uintptr_t)sc->lattice.orientations;
    for (int m = 1; m < sc->lattice.n_orientations; m += 2)
        all[m].a = nb_scale(1 + part, all[m].a);
}

/** Checks a case; returns the number of steps that boxes with a tenth less reach lose. */
static long check_case(const bound_case *c)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    nb_config cfg = basis(c->words);
    nb_plan plan;
    nb_region region;
    nb_sim *sim;
    setting s = {0};
    sim = created(&cfg);
    sim->model.scene.factors.table = amplitudes();
    strain(&sim->model.scene, c->strain);
    s.scene = &sim->model.scene;
    plan = nb_plan_of(s.scene, NB_PRECISION_MIXED, &engine);
    plan.tolerance = (nb_tolerance){.skip = 1, .part = 1e-3};
    assert_null(nb_spots_refuse(&plan));
    assert_int_equal(nb_spots_build(&plan, &s.spots, NULL), NB_OK);
    s.limits.threshold = 1e-4 * s.spots.max * s.spots.cells2;
    region = nb_panel_region(s.scene, s.scene->panels);
    assert_int_equal(
        nb_spot_list_build(&s.spots, &s.limits, &region, EDGE, &s.list, NULL), NB_OK);
    assert_int_equal(nb_vector_plans_build(&plan, NB_SUMS_DOUBLE, NULL, &s.plans, NULL),
                     NB_OK);
    for (int i = 0; i < SIDE * SIDE; i++)
        check_pixel(&s, i % SIDE, i / SIDE);
    printf("# %s: %ld steps within reach; with a tenth less reach %ld fail by "
           "orientation, %ld "
           "by box\n",
           c->name, s.terms, s.lost_orientations, s.lost_boxes);
    assert_true(s.terms > 1000);
    nb_vector_plans_free(s.plans);
    nb_spot_list_free(&s.list);
    nb_spots_free(&s.spots);
    nb_sim_free(sim);
    return s.lost_boxes;
}

UNIT_TEST(no_step_within_reach_is_lost)
{
    long lost = 0;
    for (int i = 0; i < CASES; i++)
        lost += check_case(&cases[i]);
    assert_true(lost > 20); /* boxes with less reach must lose steps */
}

static void check_run(const nb_spots *sp, const nb_spot_run *run)
{
    for (int i = 0; i < run->n + NB_SPOT_PAD; i++) {
        const size_t at = run->first + (size_t)i;
        if (i > 0)
            assert_true(sp->offset[at] >= sp->offset[at - 1]);
        if (i >= run->n) { /* this orientation is padding */
            assert_true(sp->weight[at] == 0 && sp->offset[at] > 1e100);
            continue;
        }
        const nb_source *source = &sp->scene->beam.sources[sp->source[at]];
        check_ratio(run->middle + sp->offset[at], 1 / source->lambda, 1e-12);
        assert_true(sp->weight[at] == source->weight);
    }
}

UNIT_TEST(runs_have_all_sources)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    nb_config cfg = basis(SPREAD);
    nb_sim *sim;
    nb_spots spots;
    nb_plan plan;
    int sources = 0;
    sim = created(&cfg);
    plan = nb_plan_of(&sim->model.scene, NB_PRECISION_MIXED, &engine);
    assert_int_equal(nb_spots_build(&plan, &spots, NULL), NB_OK);
    for (int k = 0; k < spots.n_runs; k++) {
        sources += spots.runs[k].n;
        check_run(&spots, &spots.runs[k]);
    }
    assert_int_equal(sources, sim->model.scene.beam.n_sources);
    assert_true(spots.n_runs > 1 && spots.n_runs < sources);
    nb_spots_free(&spots);
    nb_sim_free(sim);
}

/** Checks that each group of a crystal, with 12 domains of alternating cells, has one
 * cell. Returns the number of groups. */
static int groups_of(double part)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    nb_config cfg = basis(NARROW);
    nb_sim *sim;
    nb_spots sp;
    nb_plan plan;
    int next = 0, groups;
    sim = created(&cfg);
    strain(&sim->model.scene, part);
    plan = nb_plan_of(&sim->model.scene, NB_PRECISION_MIXED, &engine);
    assert_int_equal(nb_spots_build(&plan, &sp, NULL), NB_OK);
    for (int g = 0; g < sp.n_groups; g++) {
        const double first = sp.groups[g].first % 2 ? 1 + part : 1;
        assert_int_equal(sp.groups[g].first, next);
        next = sp.groups[g].end;
        for (int m = sp.groups[g].first; m < next; m++)
            assert_true(first == (m % 2 ? 1 + part : 1));
    }
    assert_int_equal(next, sim->model.scene.lattice.n_orientations);
    groups = sp.n_groups;
    nb_spots_free(&sp);
    nb_sim_free(sim);
    return groups;
}

UNIT_TEST(a_group_has_one_cell)
{
    assert_int_equal(groups_of(0), 1);
    assert_int_equal(groups_of(0.001), 12);
}
