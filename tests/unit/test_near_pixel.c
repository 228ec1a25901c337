/* SPDX-License-Identifier: MIT */
/* A pixel's value from the orientations near it is that of all steps, and few are near. */
#include "../support/check.h"

#include "sim/sim.h"
#include "image/near_pixel.h"
#include "physics/limits.h"
#include "physics/pixel.h"

enum { SIDE = 120 };

static nb_config basis(void)
{
    nb_config cfg = nb_suite_config(1, 1, SIDE);
    nb_config_set(&cfg, "N", "90 70 110", NULL);
    nb_set_cell(&cfg, 50, 60, 70, 80, 95, 105);
    nb_set_misset(&cfg, 10, 20, 30);
    cfg.shape = NB_SHAPE_GAUSS;
    cfg.pixel_mm = 0.6;
    cfg.mosaic_spread_deg = 1;
    cfg.mosaic_domains = 40;
    cfg.dispersion_pct = 0.5;
    cfg.dispersion_steps = 5;
    return cfg;
}

static void plain(nb_config *cfg)
{
    (void)cfg;
}

static void tophat(nb_config *cfg)
{
    cfg->shape = NB_SHAPE_TOPHAT;
    nb_config_set(cfg, "N", "20 15 25", NULL);
    cfg->dispersion_pct = 2;
}

static void small(nb_config *cfg)
{
    nb_config_set(cfg, "N", "30 15 20", NULL);
    cfg->fudge = 3;
}

static void tilted(nb_config *cfg)
{
    nb_set_rotations(cfg, 35, -40, 25);
    cfg->twotheta_deg = 25;
    cfg->oversample = 2;
}

static void spread(nb_config *cfg)
{
    cfg->hdiv_range_mrad = cfg->vdiv_range_mrad = 5;
    cfg->hdiv_steps = cfg->vdiv_steps = 3;
}

static void turned(nb_config *cfg)
{
    cfg->osc_deg = 20;
    cfg->phi_steps = 10;
    cfg->mosaic_domains = 9;
    cfg->dispersion_steps = 1;
}

static void deep(nb_config *cfg)
{
    cfg->thick_um = 300;
    cfg->abs_um = 700;
    cfg->thick_steps = 3;
    cfg->oversample = 2;
    cfg->mosaic_domains = 12;
}

static void wet(nb_config *cfg)
{
    cfg->water_um = 0.1;
    nb_config_set(cfg, "background", "air:5", NULL);
    cfg->dmin_A = 2;
}

static const struct {
    const char *name;
    void (*change)(nb_config *cfg);
} cases[] = {{"plain", plain},   {"tophat", tophat}, {"small", small}, {"tilted", tilted},
             {"spread", spread}, {"turned", turned}, {"deep", deep},   {"wet", wet}};

/** Every pixel of a scene; returns how many orientations were near those that are not dark, of 1 each. */
static double check_scene(const nb_scene *sc, int *lit)
{
    const nb_sensor *sensor = &sc->sensors[sc->panels->sensor];
    nb_orientation near[NB_NEAR_MOST];
    double taken = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int f = i % SIDE, s = i / SIDE;
        const double all = nb_pixel_intensity(sc, sc->panels, sensor, f, s);
        const double few = nb_near_pixel(sc, sc->panels, f, s, (float)all);
        const int count = nb_near_orientations(sc, sc->panels, f, s, (float)all, near);
        if (fabs(few - all) > 1e-15 * all)
            fail_msg("pixel %d %d: %.17g and %.17g", f, s, few, all);
        if (!(all > 1e-12 * nb_photon_bound(sc)))
            continue;
        ++*lit;
        taken += count < 0 ? sc->lattice.n_orientations : count;
    }
    return taken / *lit / sc->lattice.n_orientations;
}

static void few_are_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_config cfg = basis();
        double taken;
        nb_sim *sim;
        int lit = 0;
        cases[i].change(&cfg);
        sim = created(&cfg);
        taken = check_scene(&sim->model.scene, &lit);
        printf("# %s: %d pixels are lit, %.3f of the orientations near\n", cases[i].name,
               lit, taken);
        assert_true(lit > 20);
        check_below(taken, 0.6);
        nb_sim_free(sim);
    }
}

/** nb_near_orientations of the pixel in the middle. */
static int of_the_middle(const nb_scene *sc)
{
    nb_orientation near[NB_NEAR_MOST];
    return nb_near_orientations(sc, sc->panels, SIDE / 2, SIDE / 2, 1, near);
}

/* Where nothing is saved, or the test does not hold, every step is taken. */
static void others_take_all(void **state)
{
    nb_config cfg = basis();
    (void)state;
    for (int i = 0; i < 4; i++) {
        nb_sim *sim;
        cfg = basis();
        cfg.shape = i == 0 ? NB_SHAPE_SQUARE : i == 1 ? NB_SHAPE_ROUND : NB_SHAPE_GAUSS;
        cfg.curved = i == 2;
        if (i == 3) { /* all are near */
            nb_config_set(&cfg, "N", "2 2 2", NULL);
            cfg.mosaic_domains = 2 * NB_NEAR_MOST;
        }
        sim = created(&cfg);
        assert_int_equal(of_the_middle(&sim->model.scene), -1);
        nb_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(few_are_all), TEST(others_take_all)};
    return RUN_TESTS("near pixel", tests);
}
