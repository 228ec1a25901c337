/* SPDX-License-Identifier: MIT */
/* Images of a crystal that absorbs: the plane of transmissions of a sphere, and the
 * background, which is kept while nothing changes it. */
#include <math.h>

#include "../../src/image/light.h"
#include "../../src/physics/panels.h"
#include "../../src/physics/ray.h"
#include "../../src/sim/light.h"
#include "../support/check.h"
#include "../support/scenes.h"

#define CRYSTAL                                                                          \
    "-cell 32 32 40 90 90 90 -default_F 100 -N 8 -seed 1 -oversample 1 -fluence 1e24 "   \
    "-absorb_mu 3 "

enum { SIDE = 48 };

static nb_sim *sim_of(const char *words)
{
    char all[1000];
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    snprintf(all, sizeof all, CRYSTAL "%s", words);
    nb_config_defaults(&cfg);
    nb_words(&cfg, all);
    nb_put_text(&cfg.device, "cpu");
    if (nb_sim_create(&cfg, NULL, &sim, &err))
        fail_msg("%s: %s", words, err.message);
    return sim;
}

/* --- the plane --- */

/** Compares every seventh pixel of the plane with the transmission of the sphere. */
static void check_plane(const char *words)
{
    nb_sim *sim = sim_of(words);
    const nb_scene *sc = &sim->model.scene;
    const nb_absorber *body = &sim->model.absorber;
    const float *plane = nb_sim_mix(sim).absorb;
    const nb_panel *panel = &sc->panels[0];
    double widest = 0;
    for (size_t pixel = 0; pixel < sc->raster.pixels; pixel += 7) {
        const int f = (int)(pixel % (size_t)panel->columns),
                  s = (int)(pixel / (size_t)panel->columns);
        const nb_vec3 d = nb_unit(nb_panel_point(panel, (f + 0.5) * panel->pixel_fast,
                                                 (s + 0.5) * panel->pixel_slow, 0));
        const double angle = acos(nb_dot(d, body->beam));
        const double T = nb_sphere_transmission(body->mu * body->half[0], angle);
        check_close(plane[pixel], T, 1e-4 * T);
        widest = fmax(widest, angle);
    }
    print_message("# %s: up to %.3g rad\n", words, widest);
    nb_sim_free(sim);
}

UNIT_TEST(planes_are_those_of_the_sphere)
{
    check_plane("-absorb sphere:900 -lambda 1 -distance 100 -pixel 0.5 -detpixels 60");
    check_plane("-absorb sphere:900 -lambda 1 -distance 20 -pixel 2 -detpixels 100");
    check_plane("-absorb sphere:900 -lambda 1 -distance 20 -pixel 2 -detpixels 100 "
                "-curved_det");
    check_plane("-absorb sphere:900 -lambda 1 -distance 50 -pixel 2 -detpixels 60 "
                "-twotheta 120 -Xbeam 60 -Ybeam 60");
    check_plane("-absorb sphere:900 -lambda 1 -distance 50 -pixel 2 -detpixels 60 "
                "-twotheta 175 -Xbeam 60 -Ybeam 60");
}

/* --- the background --- */

#define LIT                                                                              \
    "-absorb sphere:200 -lambda 1 -distance 20 -pixel 0.5 -detpixels 48 -water 20 "      \
    "-misset 1 2 3 "

static void render(nb_sim *sim, float *image)
{
    nb_error err = {0};
    if (nb_sim_render(sim, image, NULL, &err))
        fail_msg("%s", err.message);
}

/** Checks that the image after a change equals the image of a new simulation. */
static void check_change(nb_sim *sim, const char *name, const char *text)
{
    static float own[SIDE * SIDE], image[SIDE * SIDE];
    char words[500];
    nb_error err = {0};
    nb_sim *fresh;
    snprintf(words, sizeof words, LIT "-%s %s", name, text);
    fresh = sim_of(words);
    if (nb_sim_set(sim, name, text, &err))
        fail_msg("%s: %s", words, err.message);
    render(sim, image);
    render(fresh, own);
    if (memcmp(image, own, sizeof own))
        fail_msg("%s: the image differs from that of a new simulation", words);
    nb_sim_free(fresh);
}

UNIT_TEST(a_background_is_kept_while_it_is_the_same)
{
    static const char *const changes[][3] = {
        {"lambda", "1.1", "1"},      {"distance", "21", "20"}, {"polar", "0.3", "0"},
        {"fluence", "2e24", "1e24"}, {"water", "30", "20"},    {"twotheta", "5", "0"},
        {"mosaic_domains", "3", "1"}};
    static float image[SIDE * SIDE];
    nb_sim *sim = sim_of(LIT);
    const struct nb_kept_background *first;
    render(sim, image);
    first = sim->engine.background;
    assert_non_null(first);
    check_change(sim, "misset", "40 50 60");
    assert_ptr_equal(sim->engine.background, first);
    check_change(sim, "misset", "1 2 3");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        check_change(sim, changes[i][0], changes[i][1]);
        check_change(sim, changes[i][0], changes[i][2]);
    }
    nb_sim_free(sim);
}
