/* SPDX-License-Identifier: MIT */
/* nb_sim_set gives the image of a new simulation with the same configuration. An error
 * changes nothing. No call writes a configuration after its settings are made. */
#include "../support/check.h"

#include "base/memory.h"
#include "sim/sim.h"

enum { FAST = 40, SLOW = 30, PIXELS = FAST * SLOW };

static nb_config start(void)
{
    nb_config cfg = nb_suite_config(1.2, 7, 0);
    nb_set_pixels(&cfg, FAST, SLOW);
    return cfg;
}

/** Checks that the settings are those of the present configuration. */
static void check_settings(const nb_sim *sim)
{
    nb_settings now;
    nb_resolve(&sim->cfg, &now);
    assert_memory_equal(&now.value, &sim->model.settings.value, sizeof now.value);
    assert_memory_equal(now.typed, sim->model.settings.typed, sizeof now.typed);
}

static void check_image(nb_sim *changed, const nb_config *cfg)
{
    nb_sim *fresh = created(cfg);
    float a[PIXELS], b[PIXELS];
    int fast, slow;
    nb_sim_size(changed, &fast, &slow);
    assert_int_equal(fast, FAST);
    assert_int_equal(slow, SLOW);
    assert_int_equal(nb_sim_render(changed, a, NULL, NULL), NB_OK);
    assert_int_equal(nb_sim_render(fresh, b, NULL, NULL), NB_OK);
    assert_memory_equal(a, b, sizeof a);
    check_settings(changed);
    check_settings(fresh);
    nb_sim_free(fresh);
}

UNIT_TEST(no_call_writes_a_configuration_after_its_settings)
{
    static const char *const names[] = {"misset_x", "distance"};
    const double values[] = {3, 80};
    nb_config cfg = start();
    nb_sim *sim, *clone;
    nb_stats stats;
    char *json = NULL;
    nb_put_scratch(&cfg.noise_file, "noise.img");
    cfg.write_noise = 1;
    sim = created(&cfg);
    check_settings(sim);
    assert_int_equal(nb_sim_set_parameters(sim, names, values, 2, NULL), NB_OK);
    check_settings(sim);
    assert_int_equal(nb_sim_render(sim, NULL, &stats, NULL), NB_OK);
    assert_int_equal(nb_sim_write(sim, NULL, &stats, NULL), NB_OK);
    assert_int_equal(nb_sim_config_json(sim, &json, NULL), NB_OK);
    check_settings(sim);
    assert_int_equal(nb_sim_clone(sim, NULL, 1, &clone, NULL), NB_OK);
    check_settings(clone);
    check_settings(sim);
    nb_free(json);
    nb_sim_free(clone);
    nb_sim_free(sim);
    remove(cfg.noise_file);
}

UNIT_TEST(parameters_give_the_image_of_a_new_simulation)
{
    static const char *const changes[][2] = {
        {"misset", "10 20 30"}, {"distance", "75"},
        {"lambda", "1.3"},      {"N", "4"},
        {"mosaic", "0.5"},      {"precision", "double"},
        {"threads", "1"},       {"default_F", "50"},
        {"water", "0.2"},       {"shape", "gauss"}};
    nb_config cfg = start();
    nb_sim *sim = created(&cfg);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        nb_error err = {0};
        assert_int_equal(nb_put(&cfg, changes[i][0], changes[i][1], &err), NB_OK);
        assert_int_equal(nb_sim_set(sim, changes[i][0], changes[i][1], &err), NB_OK);
        check_image(sim, &cfg);
    }
    nb_sim_free(sim);
}

UNIT_TEST(an_error_changes_nothing)
{
    static const char *const bad[][2] = {{"distance", "-1"},
                                         {"nonsense", "1"},
                                         {"hkl", "/nonexistent"},
                                         {"N", "x"},
                                         {"cell", "1 2 3 .1 .1 179"} /* no volume */,
                                         {"detpixels", "1000000"},
                                         {"phisteps", "60000000"},
                                         {"flux", "1e308"}};
    static const char *const angles[] = {"cell_al", "cell_be"};
    static const double wide[] = {170, 170};
    nb_config cfg = start();
    nb_sim *sim = created(&cfg);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_error err = {0};
        assert_int_not_equal(nb_sim_set(sim, bad[i][0], bad[i][1], &err), NB_OK);
        assert_true(err.message[0] != 0);
        check_image(sim, &cfg);
    }
    assert_int_equal(nb_sim_set_parameters(sim, angles, wide, 2, NULL), NB_ERR_INPUT);
    check_image(sim, &cfg);
    nb_sim_free(sim);
}

UNIT_TEST(the_size_may_change)
{
    nb_config cfg = start();
    nb_sim *sim = created(&cfg);
    int fast, slow;
    assert_int_equal(nb_sim_set(sim, "detpixels_x", "20", NULL), NB_OK);
    assert_int_equal(nb_sim_set(sim, "detpixels_y", "10", NULL), NB_OK);
    nb_sim_size(sim, &fast, &slow);
    assert_int_equal(fast, 20);
    assert_int_equal(slow, 10);
    assert_int_equal(nb_sim_config(sim)->detpixels[0], 20);
    nb_sim_free(sim);
}
