/* SPDX-License-Identifier: MIT */
/* Compares the list of reflections with a count of every sample and with the image. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim.h"
#include "image/background.h"
#include "physics/pixel.h"
#include "scratch.h"

enum { SCENES = 60, FAST = 26, SLOW = 22, REACH = 40, SIDE = 2 * REACH + 1 };

static double uniform(double low, double high)
{
    return low + (high - low) * rand() / RAND_MAX;
}

static int below(int n)
{
    return (int)uniform(0, n - 1e-9);
}

static void write_table(const char *path)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (int h = -6; h <= 6; h++)
        for (int k = -6; k <= 6; k++)
            for (int l = -6; l <= 6; l++)
                fprintf(out, "%d %d %d %.3f\n", h, k, l, below(4) ? uniform(1, 200) : 0.0);
    fclose(out);
}

static nb_config random_config(const char *table)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.cell_count = 6;
    for (int i = 0; i < 3; i++) {
        cfg.cell[i] = uniform(30, 60);
        cfg.cell[3 + i] = uniform(80, 100);
        cfg.misset_deg[i] = uniform(-180, 180);
        cfg.N[i] = 1 + below(12);
    }
    cfg.misset_mode = NB_MISSET_FIXED;
    cfg.shape = (nb_shape)below(NB_SHAPE_COUNT);
    nb_put_text(&cfg.hkl_file, "%s", table);
    cfg.default_F = below(2) ? 30 : 0;
    cfg.interpolate = below(4) ? NB_OFF : NB_ON;
    cfg.mosaic_spread_deg = below(3) ? uniform(0, 3) : 60;
    cfg.mosaic_domains = 1 + below(5);
    cfg.phi_deg = uniform(-90, 90);
    cfg.osc_deg = below(2) ? uniform(0, 3) : NAN;
    cfg.phi_steps = 1 + below(4);
    cfg.dispersion_pct = uniform(0, 4);
    cfg.dispersion_steps = 1 + below(3);
    cfg.hdiv_range_mrad = uniform(0, 4);
    cfg.hdiv_steps = 1 + below(2);
    cfg.oversample = 1 + below(3);
    cfg.oversample_omega = below(2);
    cfg.oversample_polar = below(2);
    cfg.thick_um = below(2) ? 500 : NAN;
    cfg.thick_steps = below(2) ? 3 : 0;
    cfg.water_um = below(2) ? uniform(0, 0.01) : 0;
    cfg.dmin_A = below(3) ? 0 : 4;
    cfg.compat = !below(4);
    cfg.detpixels[0] = FAST;
    cfg.detpixels[1] = SLOW;
    cfg.pixel_mm = uniform(1, 3);
    cfg.distance_mm = uniform(60, 120);
    cfg.curved = !below(4);
    cfg.roi_set = 1;
    cfg.roi[1] = FAST - 1 - below(3);
    cfg.roi[2] = below(3);
    cfg.roi[3] = SLOW - 1;
    cfg.truth_min = 0;
    cfg.threads = 1 + below(3);
    return cfg;
}

/** Sums over the samples of a reflection, weighted by photons; n: photons. */
typedef struct sums {
    double n, fast, slow, phi, lambda;
} sums;

static sums *place(sums *box, const nb_sample *p)
{
    assert_true(fabs(p->h0) <= REACH && fabs(p->k0) <= REACH && fabs(p->l0) <= REACH);
    return &box[(((int)p->h0 + REACH) * SIDE + (int)p->k0 + REACH) * SIDE + (int)p->l0 +
                REACH];
}

static void count_ray(const nb_sim *sim, const nb_ray *ray, double scale,
                      const double at[2], sums *box)
{
    const nb_scene *sc = &sim->model.scene;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        nb_vec3 q = nb_scattering_vector(&sc->beam.sources[i], ray->direction);
        double weight = scale * ray->capture * sc->beam.sources[i].weight;
        if (nb_culled(&sc->factors, q))
            continue;
        if (sc->oversample_omega)
            weight *= ray->omega;
        if (sc->oversample_polar)
            weight *= nb_polarization(sc->beam.polarization, sc->beam.sources[i].incident,
                                      ray->direction, sc->beam.polar_axis);
        for (int j = 0; j < sc->lattice.n_orientations; j++) {
            nb_sample p = nb_sample_at(&sc->lattice, &sc->factors.table, 0,
                                       &sc->lattice.orientations[j], q);
            double n = weight * pow(p.F_cell * p.F_latt, 2);
            double step = j / sc->lattice.n_domains + (sim->cfg.compat ? 0 : 0.5);
            sums *s = place(box, &p);
            s->n += n;
            s->fast += n * at[0];
            s->slow += n * at[1];
            s->lambda += n * sc->beam.sources[i].lambda * 1e10;
            s->phi += n * (sim->model.phi0 +
                           (sim->model.phi_range > 0 ? step * sim->model.phi_step : 0));
        }
    }
}

static void count_pixel(const nb_sim *sim, int f, int s, sums *box)
{
    const nb_scene *sc = &sim->model.scene;
    double scale =
        sc->intensity_scale * nb_cached_factors(sc, sc->panels, sc->sensors, f, s);
    int os = sc->oversample;
    for (int layer = 0; layer < sc->sensors->layers; layer++)
        for (int i = 0; i < os * os; i++) {
            double at[2] = {f + (i % os + 0.5) / os, s + (i / os + 0.5) / os};
            nb_ray ray = nb_ray_to(sc->panels, sc->sensors, at[0] * sc->panels->pixel_fast,
                                   at[1] * sc->panels->pixel_fast, layer);
            count_ray(sim, &ray, scale, at, box);
        }
}

static void check_one(const nb_reflection *r, const sums *s, double all, int scene)
{
    double slack = 1e-5 * s->n + 2e-6 * all;
    if (!(fabs(r->intensity - s->n) <= slack))
        fail_msg("scene %d, %d %d %d: %.9g photons, counted %.9g", scene, r->h, r->k,
                 r->l, r->intensity, s->n);
    if (s->n < 1e-3 * all)
        return;
    assert_true(fabs(r->fast - s->fast / s->n) < 5e-3);
    assert_true(fabs(r->slow - s->slow / s->n) < 5e-3);
    assert_true(fabs(r->phi_deg * NB_DEG - s->phi / s->n) < 1e-4);
    assert_true(fabs(r->wavelength_A - s->lambda / s->n) < 1e-4);
    assert_true(r->peak > 0 && r->peak <= r->intensity * (1 + 1e-12));
}

/** The list agrees with the samples: no reflection is missing or added. */
static void check_list(const nb_sim *sim, const nb_reflections *list, sums *box, int scene)
{
    double all = 0, left = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        all += box[i].n;
    for (size_t i = 0; i < list->count; i++) {
        const nb_reflection *r = &list->list[i];
        nb_sample p = {0, 0, 0, r->h, r->k, r->l, 0, 0};
        check_one(r, place(box, &p), all, scene);
        assert_true(r->F ==
                    nb_F_nearest(&sim->model.scene.factors.table, 0, r->h, r->k, r->l));
        place(box, &p)->n = 0;
    }
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        left = fmax(left, box[i].n);
    if (left > 2e-6 * all)
        fail_msg("scene %d: a reflection of %g photons is not listed", scene, left);
}

static void check_sums(const nb_sim *sim, const float *image, const nb_reflections *list)
{
    double sum = 0, listed = 0;
    const nb_scene *sc = &sim->model.scene;
    double water = 0;
    for (int i = 0; i < FAST * SLOW; i++)
        sum += image[i];
    for (int s = sc->raster.roi.smin; s <= sc->raster.roi.smax; s++)
        for (int f = sc->raster.roi.fmin; f <= sc->raster.roi.fmax; f++)
            water += nb_pixel_background(sc, 0, f, s);
    for (size_t i = 0; i < list->count; i++)
        listed += list->list[i].intensity;
    assert_true(fabs(list->background - water) <= 1e-6 * water);
    assert_true(fabs(listed + list->background + list->unassigned - sum) <= 1e-9 * sum);
    assert_true(fabs(list->unassigned) <= 2e-5 * sum);
}

SCRATCH_TEST(every_photon_has_its_reflection)
{
    sums *box = calloc(SIDE * SIDE * SIDE, sizeof *box);
    float image[FAST * SLOW];
    size_t listed = 0;
    srand(5);
    write_table(scratch_path(*state, "t.hkl"));
    for (int scene = 0; scene < SCENES; scene++) {
        nb_config cfg = random_config(scratch_path(*state, "t.hkl"));
        nb_sim *sim;
        nb_error err = {0};
        nb_reflections list;
        if (nb_sim_create(&cfg, NULL, &sim, &err))
            fail_msg("scene %d: %s", scene, err.message);
        assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
        assert_int_equal(nb_sim_reflections(sim, image, &list, &err), NB_OK);
        memset(box, 0, SIDE * SIDE * SIDE * sizeof *box);
        for (int s = cfg.roi[2]; s <= cfg.roi[3]; s++)
            for (int f = cfg.roi[0]; f <= cfg.roi[1]; f++)
                count_pixel(sim, f, s, box);
        check_sums(sim, image, &list);
        check_list(sim, &list, box, scene);
        listed += list.count;
        nb_reflections_free(&list);
        nb_sim_free(sim);
    }
    assert_true(listed > 20 * SCENES);
    free(box);
}

SCRATCH_TEST(any_number_of_threads_gives_the_same_list)
{
    nb_config cfg;
    nb_reflections list[2];
    float *image = malloc(sizeof *image * 100 * 90);
    srand(6);
    write_table(scratch_path(*state, "t.hkl"));
    cfg = random_config(scratch_path(*state, "t.hkl"));
    cfg.detpixels[0] = 100;
    cfg.detpixels[1] = 90;
    for (int i = 0; i < 2; i++) {
        nb_sim *sim;
        cfg.threads = i ? 3 : 1;
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, NULL), NB_OK);
        assert_int_equal(nb_sim_render(sim, image, NULL, NULL), NB_OK);
        assert_int_equal(nb_sim_reflections(sim, image, &list[i], NULL), NB_OK);
        nb_sim_free(sim);
    }
    assert_true(list[0].count > 10);
    assert_int_equal(list[0].count, list[1].count);
    assert_memory_equal(list[0].list, list[1].list, list[0].count * sizeof *list[0].list);
    assert_memory_equal(&list[0].background, &list[1].background, 2 * sizeof(double));
    nb_reflections_free(&list[0]);
    nb_reflections_free(&list[1]);
    free(image);
}

SCRATCH_TEST(the_weak_are_not_listed)
{
    nb_config cfg;
    nb_sim *sim;
    nb_reflections all, strong;
    float image[FAST * SLOW];
    double limit, missing = 0;
    srand(7);
    write_table(scratch_path(*state, "t.hkl"));
    cfg = random_config(scratch_path(*state, "t.hkl"));
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, NULL), NB_OK);
    assert_int_equal(nb_sim_render(sim, image, NULL, NULL), NB_OK);
    assert_int_equal(nb_sim_reflections(sim, image, &all, NULL), NB_OK);
    limit = all.list[all.count / 2].intensity;
    sim->cfg.truth_min = limit;
    assert_int_equal(nb_sim_reflections(sim, image, &strong, NULL), NB_OK);
    assert_true(strong.count > 0 && strong.count < all.count);
    for (size_t i = 0; i < strong.count; i++)
        assert_true(strong.list[i].intensity >= limit);
    for (size_t i = 0; i < all.count; i++)
        missing += all.list[i].intensity < limit ? all.list[i].intensity : 0;
    assert_true(strong.unassigned >= 0.9 * missing &&
                strong.unassigned <= 1.1 * missing + limit * FAST * SLOW / 1000);
    nb_reflections_free(&all);
    nb_reflections_free(&strong);
    nb_sim_free(sim);
}

/** A crystal with spots of finite size, and a detector that sees some spots. */
static nb_config spotty_config(const char *table)
{
    nb_config cfg = random_config(table);
    cfg.shape = below(3) ? NB_SHAPE_GAUSS : NB_SHAPE_TOPHAT;
    for (int i = 0; i < 3; i++) {
        cfg.cell[3 + i] = 90;
        cfg.N[i] = 12 + below(40);
    }
    cfg.mosaic_spread_deg = uniform(0.2, 2);
    cfg.mosaic_domains = 10 + below(30);
    cfg.dispersion_steps = 1 + below(12);
    cfg.interpolate = NB_OFF;
    cfg.curved = cfg.compat = 0;
    cfg.pixel_mm = uniform(0.3, 1.5);
    cfg.fluence = 1e26;
    cfg.truth_min = pow(10, uniform(-6, 2));
    return cfg;
}

static int is_near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-6 * scale;
}

/** Compares list a with list b, which was made from every step, to within 1e-6. */
static void check_lists(const nb_reflections *a, const nb_reflections *b)
{
    double all = b->background + fabs(b->unassigned);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const nb_reflection *x = &a->list[i], *y = &b->list[i];
        assert_true(x->h == y->h && x->k == y->k && x->l == y->l && x->panel == y->panel);
        assert_true(is_near(x->intensity, y->intensity, y->intensity));
        assert_true(is_near(x->peak, y->peak, y->peak) && x->F == y->F);
        assert_true(is_near(x->fast, y->fast, 1) && is_near(x->slow, y->slow, 1));
        assert_true(is_near(x->phi_deg, y->phi_deg, 1));
        assert_true(is_near(x->wavelength_A, y->wavelength_A, 1));
        all += y->intensity;
    }
    assert_true(a->background == b->background);
    assert_true(is_near(a->unassigned, b->unassigned, all));
}

/** A list made from spots equals the list made from every step, to within 1e-6. */
SCRATCH_TEST(spots_give_the_list_of_every_step)
{
    size_t rows = 0;
    int others = 0;
    srand(11);
    write_table(scratch_path(*state, "t.hkl"));
    for (int i = 0; i < SCENES; i++) {
        nb_config cfg = spotty_config(scratch_path(*state, "t.hkl"));
        nb_reflections fast, exact;
        float image[FAST * SLOW];
        nb_sim *sim;
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, NULL), NB_OK);
        assert_int_equal(nb_sim_render(sim, image, NULL, NULL), NB_OK);
        assert_int_equal(nb_sim_reflections(sim, image, &fast, NULL), NB_OK);
        sim->engine.options.tolerance = (nb_tolerance){0};
        assert_int_equal(nb_sim_reflections(sim, image, &exact, NULL), NB_OK);
        check_lists(&fast, &exact);
        rows += fast.count;
        /* differences by rounding show that the list was not made from every step */
        others += fast.count &&
                  memcmp(fast.list, exact.list, fast.count * sizeof *fast.list) != 0;
        nb_reflections_free(&fast);
        nb_reflections_free(&exact);
        nb_sim_free(sim);
    }
    print_message("%zu reflections, %d lists with other roundings\n", rows, others);
    assert_true(rows > 10 * SCENES && others > SCENES / 3);
}
