/* SPDX-License-Identifier: MIT */
/* The GPU's quicker sum over materials (cuda/quick_background.h), on the host, against nb_pixel_background. */
#include "../support/check.h"

#include "../../cuda/quick_background.h"
#include "../support/picture.h"
#include "api/sim.h"
#include "physics/pixel.h"

enum { SCENES = 60, EDGE = 20 };

static nb_config a_scene(int n)
{
    static const char *const materials[] = {"water:0.01", "water:0.5,air:20", "ice:0.3",
                                            "nanoice:0.2,water:0.1,air:3"};
    nb_config cfg = nb_suite_config(1, 3, EDGE);
    cfg.pixel_mm = 8;
    cfg.distance_mm = 60;
    cfg.lambda_A = 0.8 + 0.01 * n;
    cfg.oversample = 1 + n % 3;
    cfg.oversample_polar = n % 5 == 0;
    cfg.oversample_omega = n % 7 == 0;
    cfg.curved = n % 4 == 3;
    if (n % 2) {
        cfg.dispersion_pct = 3;
        cfg.dispersion_steps = 7;
    }
    if (n % 6 == 1) {
        cfg.thick_um = 300;
        cfg.abs_um = 200;
        cfg.thick_steps = 3;
        cfg.layer_depth = n % 12 == 1 ? NB_LAYER_MEAN : NB_LAYER_FRONT;
    }
    if (n % 5 == 2) {
        cfg.polarization = 0.7;
        cfg.polar_set = 1;
    }
    if (n % 3 == 1) { /* a pixel in the direct beam */
        cfg.convention = NB_CONV_XDS;
        cfg.orgx = cfg.orgy = EDGE / 2 + 0.5;
    }
    snprintf(cfg.background, sizeof cfg.background, "%s", materials[n % 4]);
    return cfg;
}

static void the_quick_sum_is_the_sum(void **state)
{
    (void)state;
    for (int n = 0; n < SCENES; n++) {
        const nb_config cfg = a_scene(n);
        nb_sim *sim;
        nb_error err = {0};
        if (nb_sim_create(&cfg, NULL, &sim, &err) != NB_OK)
            fail_msg("%s", err.message);
        const nb_scene *sc = &sim->model.scene;
        assert_non_null(sc->amorphous);
        for (int i = 0; i < EDGE * EDGE; i++) {
            const int f = i % EDGE, s = i / EDGE;
            const double truth =
                nb_pixel_background(sc, sc->amorphous, sc->panels, sc->sensors, f, s);
            const double quick = nb_quick_background(sc, sc->panels, sc->sensors, f, s);
            assert_true(fabs(quick - truth) <= 1e-11 * truth);
        }
        nb_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(the_quick_sum_is_the_sum)};
    return RUN_TESTS("quick-background", tests);
}
