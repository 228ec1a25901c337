/* SPDX-License-Identifier: MIT */
/* Sources with different tables of F: the image is the weighted mean of the images of the
 * single sources, each with its table. */
#include "../support/check.h"
#include "../support/scenes.h"

#include "sim/sim.h"
#include "base/threads.h"
#include "base/memory.h"
#include "base/store.h"
#include "io/table/sources.h"
#include "physics/limits.h"
#include "physics/pixel.h"
#include "render/request.h"
#include "render/simd.h"
#include "render/vector_plan.h"
#include "../support/render.h"

enum { FAST = 37, SLOW = 23, PIXELS = FAST * SLOW, SOURCES = 7, BOX = 17, MANY = 300 };

typedef struct tables_case {
    const char *name, *words;
    int sources, tables, box; /* box: indices along its edge; rays leave a small box */
} tables_case;

#define TURNED "-oversample 2 -mosaic 1 -mosaic_dom 4 -osc 1 -phisteps 2"
#define CULLED "-dmin 2.5 -oversample_polar -water 5"

static const tables_case cases[] = {
    {"plain", "", SOURCES, SOURCES, BOX},
    {"shared", "", SOURCES, 3, BOX},
    {"turned", TURNED, SOURCES, SOURCES, BOX},
    {"partial", TURNED, SOURCES, 5, 6},
    /* a crystal with visible fringes */
    {"large", "-N 150 -mosaic 2 -mosaic_dom 20", SOURCES, 4, BOX},
    {"tricubic", "-interpolate -oversample 2", SOURCES, SOURCES, BOX},
    {"gauss", "-gauss_xtal -oversample 2", SOURCES, 2, BOX},
    {"round", "-round_xtal -detector_thick 300 -detector_abs 200 -detector_thicksteps 2",
     SOURCES, SOURCES, 6},
    {"culled", CULLED, SOURCES, SOURCES, BOX},
    {"single", "", 1, 3, BOX},
    /* too many reflections are visible: the table of F^2 has the box of F and a rim */
    {"crowded", "-cell 200 250 300 80 95 101 -lambda 0.4 -osc 90 -phisteps 3", SOURCES,
     SOURCES, BOX},
    {"twenty", "", 20, 20, BOX},
    {"many", "", MANY, 90, 5},
    {"many culled", CULLED, MANY, 40, 5},
};
enum { CASES = sizeof cases / sizeof *cases };

/** Sources across 4 % of wavelength, and their tables of F. */
typedef struct setup {
    nb_config cfg;
    nb_source_line lines[MANY];
    int table_of_source[MANY];
    double *F;
    nb_model_inputs inputs;
} setup;

static nb_config config_of(const tables_case *c)
{
    nb_config cfg = nb_suite_config(1.5, 6, 0);
    nb_set_pixels(&cfg, FAST, SLOW);
    nb_words(&cfg, "-cell 25 29 32 80 95 101 -misset 11 25 33 -pixel 3 -nointerpolate");
    nb_words(&cfg, c->words);
    return cfg;
}

static void set_up(const tables_case *c, setup *s)
{
    size_t voxels = (size_t)c->box * c->box * c->box, i;
    memset(s, 0, sizeof *s);
    s->cfg = config_of(c);
    s->F = malloc(voxels * (size_t)c->tables * sizeof *s->F);
    assert_non_null(s->F);
    for (i = 0; i < voxels * (size_t)c->tables; i++)
        s->F[i] = 20 + (double)(i * 7919 % 1013) / 5;
    for (int k = 0; k < c->sources; k++) {
        s->lines[k] = (nb_source_line){.x = -10,
                                       .intensity = 1 + k % 3,
                                       .lambda = (1.5 + 0.06 * k / c->sources) * 1e-10};
        s->table_of_source[k] = (c->sources == 1 ? 2 : k * 5) % c->tables;
    }
    s->inputs.sources = s->lines;
    s->inputs.n_sources = s->inputs.n_of_source = c->sources;
    s->inputs.table_of_source = s->table_of_source;
    s->inputs.table = (nb_factor_table){.hmin = -(c->box / 2),
                                        .kmin = -(c->box / 2),
                                        .lmin = -(c->box / 2),
                                        .nh = c->box,
                                        .nk = c->box,
                                        .nl = c->box,
                                        .F = s->F,
                                        .n_tables = c->tables,
                                        .default_F = 40};
}

static nb_model built(const nb_config *cfg, const nb_model_inputs *inputs)
{
    nb_model model;
    nb_error err = {0};
    if (nb_model_build(cfg, inputs, NULL, &model, &err) != NB_OK)
        fail_msg("%s", err.message);
    return model;
}

/** The inputs of source k, with its table as the only one. */
static nb_model_inputs alone(const setup *s, int k)
{
    nb_model_inputs in = s->inputs;
    size_t voxels = (size_t)in.table.nh * (size_t)in.table.nk * (size_t)in.table.nl;
    in.sources = &s->lines[k];
    in.n_sources = 1;
    in.table_of_source = NULL;
    in.table.F += voxels * (size_t)s->table_of_source[k];
    in.table.n_tables = 0;
    return in;
}

static void add_pixels(const nb_model *m, double weight, double *sum)
{
    const nb_scene *sc = &m->scene;
    for (int i = 0; i < PIXELS; i++)
        sum[i] +=
            weight * nb_pixel_intensity(sc, sc->panels, sc->sensors, i % FAST, i / FAST);
}

UNIT_TEST(the_image_is_the_weighted_mean)
{
    for (int c = 0; c < CASES; c++) {
        static setup s;
        double all[PIXELS] = {0}, mean[PIXELS] = {0}, weights = 0;
        nb_model model;
        set_up(&cases[c], &s);
        model = built(&s.cfg, &s.inputs);
        add_pixels(&model, 1, all);
        nb_model_free(&model);
        for (int k = 0; k < cases[c].sources; k++)
            weights += s.lines[k].intensity;
        for (int k = 0; k < cases[c].sources; k++) {
            nb_model_inputs one = alone(&s, k);
            model = built(&s.cfg, &one);
            add_pixels(&model, s.lines[k].intensity / weights, mean);
            nb_model_free(&model);
        }
        for (int i = 0; i < PIXELS; i++)
            check_ratio(all[i], mean[i], 1e-12);
        free(s.F);
    }
}

static void render(const nb_scene *sc, nb_isa isa, nb_precision precision, float *image)
{
    const nb_backend *backend =
        isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
    nb_render_options options = {.threads = 2, .isa = isa, .precision = precision};
    nb_backend_state *state;
    nb_error err = {0};
    for (size_t i = 0; i < sc->raster.pixels; i++)
        image[i] = NAN;
    assert_int_equal(backend->open(&options, &state, &err), NB_OK);
    assert_int_equal(nb_render_scene(backend, state, sc, precision, image, &err), NB_OK);
    backend->close(state);
}

static const nb_isa sets[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
/* limits for mixed and for double precision */
static const double allowed[] = {1e-6, 2e-7};

UNIT_TEST(every_instruction_set_agrees)
{
    for (int c = 0; c < CASES; c++) {
        static setup s;
        float truth[PIXELS], image[PIXELS];
        nb_model model;
        set_up(&cases[c], &s);
        model = built(&s.cfg, &s.inputs);
        render(&model.scene, NB_ISA_SCALAR, NB_PRECISION_DOUBLE, truth);
        for (int i = 0; i < 4; i++)
            for (int p = 0; p < 2 && nb_cpu_runs(sets[i]); p++) {
                double differ;
                render(&model.scene, sets[i], (nb_precision)p, image);
                differ = nb_max_difference(image, truth, PIXELS);
                if (!(differ <= allowed[p]))
                    fail_msg("%s, %s, precision %d: %.2e", cases[c].name,
                             nb_isa_name(sets[i]), p, differ);
            }
        nb_model_free(&model);
        free(s.F);
    }
}

static void check_same_bytes(const char *name, const nb_scene *one, const nb_scene *many,
                             nb_isa isa, nb_precision p)
{
    float a[PIXELS], b[PIXELS];
    render(one, isa, p, a);
    render(many, isa, p, b);
    for (int i = 0; i < PIXELS; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s, %s, precision %d, pixel %d: %.9g with one table, %.9g", name,
                     nb_isa_name(isa), p, i, a[i], b[i]);
}

/* Several equal tables give the image of one table, to the last bit. */
UNIT_TEST(equal_tables_give_the_bytes_of_one)
{
    for (int c = 0; c < CASES; c++) {
        static setup s;
        nb_model_inputs in;
        nb_model one, many;
        size_t voxels = (size_t)cases[c].box * cases[c].box * cases[c].box;
        set_up(&cases[c], &s);
        for (int t = 1; t < cases[c].tables; t++)
            memcpy(s.F + voxels * (size_t)t, s.F, voxels * sizeof *s.F);
        in = s.inputs;
        in.table.n_tables = 1;
        in.table_of_source = NULL;
        one = built(&s.cfg, &in);
        many = built(&s.cfg, &s.inputs);
        check_same_bytes(cases[c].name, &one.scene, &many.scene, NB_ISA_SCALAR,
                         NB_PRECISION_DOUBLE);
        for (int i = 0; i < 4; i++)
            for (int p = 0; p < 2 && nb_cpu_runs(sets[i]); p++)
                check_same_bytes(cases[c].name, &one.scene, &many.scene, sets[i],
                                 (nb_precision)p);
        nb_model_free(&one);
        nb_model_free(&many);
        free(s.F);
    }
}

/** Number of times that tables of F^2 were filled, including for this scene. */
static int filled_after(const nb_scene *sc, nb_kept_squares *kept)
{
    const nb_engine engine = {.threads = 2, .step = 1e-9};
    nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    nb_vector_plan *plans;
    assert_int_equal(nb_vector_plans_build(&plan, NB_SUMS_FIXED, kept, &plans, NULL),
                     NB_OK);
    nb_vector_plans_free(plans);
    return kept->made;
}

/* Kept tables of F^2 serve later renders only for the same F and orientations. */
UNIT_TEST(squares_stay_for_the_next_render)
{
    static setup s;
    const nb_isa isa = nb_cpu_runs(NB_ISA_AVX2) ? NB_ISA_AVX2 : NB_ISA_AUTO;
    const nb_render_options options = {.threads = 2, .isa = isa};
    nb_kept_squares kept = {0};
    nb_backend_state *open;
    nb_model model, turned_model;
    nb_scene scenes[7];
    float fresh[PIXELS], image[PIXELS];
    set_up(&cases[0], &s);
    s.cfg.pixel_mm = 1.5; /* now few reflections are visible, so few are filled */
    model = built(&s.cfg, &s.inputs);
    nb_set_misset(&s.cfg, 40, -25, 3);
    turned_model = built(&s.cfg, &s.inputs);
    for (int i = 0; i < 7; i++)
        scenes[i] = i == 2 || i == 3 ? turned_model.scene : model.scene;
    scenes[5].factors.table.default_F = 60;
    assert_int_equal(nb_backend_simd.open(&options, &open, NULL), NB_OK);
    for (int i = 0; i < 7; i++) {
        static const int made[7] = {1, 1, 2, 2, 3, 4, 5};
        if (i == 6) {
            s.F[cases[0].box * cases[0].box * (cases[0].box / 2)] += 1;
            nb_factor_table_measure(&scenes[6].factors.table);
        }
        render(&scenes[i], isa, NB_PRECISION_MIXED, fresh);
        assert_int_equal(nb_render_scene(&nb_backend_simd, open, &scenes[i],
                                         NB_PRECISION_MIXED, image, NULL),
                         NB_OK);
        assert_memory_equal(image, fresh, sizeof image);
        assert_int_equal(filled_after(&scenes[i], &kept), made[i]);
        assert_int_equal(kept.squares.kind, NB_F_TABLES);
    }
    nb_backend_simd.close(open);
    nb_kept_squares_free(&kept);
    nb_model_free(&model);
    nb_model_free(&turned_model);
    free(s.F);
}

UNIT_TEST(extremes_are_those_of_all_tables)
{
    double F[3 * 8] = {0};
    nb_factor_table box = {.nh = 2, .nk = 2, .nl = 2, .F = F, .n_tables = 3};
    for (int i = 0; i < 24; i++)
        F[i] = 5;
    F[9] = 0;
    F[17] = -7;
    F[23] = 0.5;
    nb_factor_table_measure(&box);
    check_close(nb_largest_F(&box), 7, 0);
    check_close(box.least, 0, 0);
    check_close(box.dimmest, 0.5, 0);
    box.n_tables = 0; /* one table */
    nb_factor_table_measure(&box);
    check_close(nb_largest_F(&box), 5, 0);
    check_close(box.least, 5, 0);
}

UNIT_TEST(wrong_numbers_of_tables_are_refused)
{
    static setup s;
    nb_model model;
    nb_error err = {0};
    set_up(&cases[0], &s);
    s.inputs.n_of_source = SOURCES - 1;
    assert_int_equal(nb_model_build(&s.cfg, &s.inputs, NULL, &model, &err),
                     NB_ERR_INTERNAL);
    s.inputs.n_of_source = SOURCES;
    for (int wrong = -1; wrong <= SOURCES; wrong += SOURCES + 1) {
        s.table_of_source[3] = wrong;
        assert_int_equal(nb_model_build(&s.cfg, &s.inputs, NULL, &model, &err),
                         NB_ERR_INTERNAL);
        assert_non_null(strstr(err.message, "source 3"));
    }
    free(s.F);
}

/* --- the simulation owns its tables --- */

static void keep_intensity(void *user, const char *line)
{
    const char *name = "intensity (photons): ";
    if (strncmp(line, name, strlen(name)) == 0)
        *(double *)user = atof(line + strlen(name));
}

static nb_tables tables_for(int n, int first)
{
    size_t voxels = (size_t)BOX * BOX * BOX, i;
    nb_tables t;
    nb_error err;
    assert_int_equal(nb_tables_new(&t, &err), NB_OK);
    *t.file = (nb_factor_file){-8, 8, -8, 8, -8, 8, 0, NULL};
    t.file->F = nb_alloc(voxels * (size_t)n, sizeof(double), "F", &err);
    t.of_source = nb_shared_new((size_t)n * sizeof(int), NULL, "tables", &err);
    t.n_of_source = n;
    assert_true(t.file->F && t.of_source);
    for (i = 0; i < voxels * (size_t)n; i++)
        t.file->F[i] = 10 + (double)((i + (size_t)first * voxels) * 7919 % 1013);
    for (int k = 0; k < n; k++)
        t.of_source[k] = n - 1 - k;
    nb_tables_describe(&t, n, NULL);
    return t;
}

/** Replaces the tables of the simulation. */
static void take_tables(nb_sim *sim, nb_tables tables)
{
    nb_tables_drop(&sim->in.tables);
    sim->in.tables = tables;
}

UNIT_TEST(a_simulation_takes_tables)
{
    nb_config cfg = config_of(&cases[0]);
    nb_tables tables = tables_for(3, 0);
    const double *F = tables.file->F;
    float image[PIXELS], again[PIXELS];
    double traced = 0;
    nb_sim *sim, *clone;
    nb_error err = {0};
    cfg.dispersion_pct = 3;
    cfg.dispersion_steps = 3;
    cfg.default_F = 30;
    sim = created(&cfg);
    take_tables(sim, tables);
    assert_int_equal(nb_sim_build_again(sim, &err), NB_OK);
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
    for (int k = 0; k < 3; k++)
        assert_ptr_equal(nb_table_at(&sim->model.scene.factors.table,
                                     sim->model.scene.beam.sources[k].table),
                         F + (size_t)(2 - k) * BOX * BOX * BOX);
    for (int i = 0; i < PIXELS; i += 97) {
        assert_int_equal(
            nb_sim_trace(sim, i % FAST, i / FAST, keep_intensity, &traced, &err), NB_OK);
        check_ratio(image[i], traced, 1e-6);
    }
    assert_int_equal(nb_sim_clone(sim, NULL, 1, &clone, &err), NB_OK);
    assert_int_equal(nb_sim_render(clone, again, NULL, &err), NB_OK);
    assert_memory_equal(image, again, sizeof image);
    take_tables(clone, tables_for(3, 3)); /* these are the tables of the clone */
    assert_int_equal(nb_sim_build_again(clone, &err), NB_OK);
    assert_int_equal(nb_sim_render(clone, again, NULL, &err), NB_OK);
    assert_memory_not_equal(image, again, sizeof image);
    nb_sim_free(clone);
    assert_int_equal(nb_sim_render(sim, again, NULL, &err), NB_OK);
    assert_memory_equal(image, again, sizeof image);
    nb_sim_free(sim);
}

/* A reflection takes F of the source whose wavelength is nearest. */
UNIT_TEST(reflections_have_the_F_of_their_wavelength)
{
    nb_config cfg = config_of(&cases[0]);
    nb_reflections list;
    float image[PIXELS];
    int other = 0;
    nb_sim *sim;
    nb_error err = {0};
    cfg.dispersion_pct = 3;
    cfg.dispersion_steps = 3;
    sim = created(&cfg);
    take_tables(sim, tables_for(3, 0));
    assert_int_equal(nb_sim_build_again(sim, &err), NB_OK);
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
    assert_int_equal(nb_sim_reflections(sim, image, &list, &err), NB_OK);
    assert_true(list.count > 20);
    for (size_t i = 0; i < list.count; i++) {
        const nb_reflection *r = &list.list[i];
        const nb_source *sources = sim->model.scene.beam.sources;
        double nearest = INFINITY, expected = NAN;
        for (int k = 0; k < 3; k++) {
            double away = fabs(sources[k].lambda * 1e10 - r->wavelength_A);
            if (away < nearest) {
                nearest = away;
                expected = nb_F_nearest(&sim->model.scene.factors.table, 2 - k, r->h,
                                        r->k, r->l);
            }
        }
        check_close(r->F, expected, 0);
        other += expected !=
                 nb_F_nearest(&sim->model.scene.factors.table, 0, r->h, r->k, r->l);
    }
    assert_true(other > 5);
    nb_reflections_free(&list);
    nb_sim_free(sim);
}
