/* SPDX-License-Identifier: MIT */
/* A render on the CPU that hands over to a device, by a clock of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/sim.h"
#include "fake_device.h"

static double the_clock, clock_step;

/** Replaces the library's clock. */
double nb_monotonic_seconds(void)
{
    the_clock += clock_step;
    return the_clock;
}

static int questions;
static double asked_left;
static const nb_backend *answer;

static const nb_backend *ask(const nb_scene *scene, const nb_render_options *options,
                             double left, double now)
{
    (void)scene;
    (void)options;
    (void)now;
    questions++;
    asked_left = left;
    return answer;
}

static int stop_now;

static int caller_progress(void *user, double fraction)
{
    *(double *)user = fraction;
    return stop_now;
}

/** A render of so many seconds, reported a hundred times; returns the part at which it was stopped. */
static double run_for(double seconds, nb_hand_over *h, nb_render_options *options)
{
    nb_hooks hooks;
    clock_step = 0;
    nb_hand_over_begin(h, NULL, options);
    hooks = nb_hand_over_hooks(h);
    for (int i = 1; i <= 100; i++) {
        the_clock += seconds / 100;
        if (hooks.progress(hooks.user, i / 100.0))
            return i / 100.0;
    }
    return 1;
}

static void asks_only_where_much_is_left(void **state)
{
    nb_hand_over h = {.ask = ask};
    nb_render_options options = {0};
    (void)state;
    questions = 0;
    answer = &fake_backend;
    assert_true(run_for(0.29, &h, &options) == 1);
    assert_int_equal(questions, 0);
    assert_null(h.to);
    assert_true(run_for(2, &h, &options) <= 0.03);
    assert_int_equal(questions, 1);
    assert_true(asked_left > 1.9 && asked_left <= 2);
    assert_ptr_equal(h.to, &fake_backend);
}

static void asks_once(void **state)
{
    nb_hand_over h = {.ask = ask};
    nb_render_options options = {0};
    (void)state;
    questions = 0;
    answer = NULL;
    assert_true(run_for(2, &h, &options) == 1);
    assert_true(run_for(2, &h, &options) == 1);
    assert_int_equal(questions, 1);
}

/** Rows at the edge may be dark: the rest is looked at again. */
static void sees_rows_that_take_longer(void **state)
{
    nb_hand_over h = {.ask = ask};
    nb_render_options options = {0};
    nb_hooks hooks;
    int i = 0;
    (void)state;
    questions = 0;
    answer = &fake_backend;
    clock_step = 0;
    nb_hand_over_begin(&h, NULL, &options);
    hooks = nb_hand_over_hooks(&h);
    for (; i < 100 && !hooks.progress(hooks.user, i / 100.0); i++)
        the_clock += i < 20 ? 0.001 : 0.1;
    assert_int_equal(questions, 1);
    assert_true(i > 20 && i < 30);
}

static void caller_hears_and_stops(void **state)
{
    double fraction = 0;
    nb_hand_over h = {.ask = ask};
    nb_render_options options = {.hooks = {&fraction, NULL, caller_progress}};
    (void)state;
    questions = 0;
    assert_true(run_for(0.1, &h, &options) == 1);
    assert_true(fraction == 1);
    stop_now = 1;
    assert_true(run_for(5, &h, &options) == 0.01);
    stop_now = 0;
    assert_int_equal(questions, 0);
    assert_null(h.to);
}

enum { PIXELS = 80 };

static void configure(nb_config *cfg, int pixels, int cells)
{
    nb_config_defaults(cfg);
    cfg->cell_count = 6;
    for (int i = 0; i < 6; i++)
        cfg->cell[i] = i < 3 ? 80 + i : 90;
    for (int i = 0; i < 3; i++)
        cfg->N[i] = cells;
    cfg->default_F = 100;
    cfg->detpixels[0] = cfg->detpixels[1] = pixels;
    cfg->oversample = 1;
    cfg->lambda_A = 1;
    cfg->threads = 1; /* it reports every row */
}

static nb_sim *open_sim(int hand_over)
{
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim;
    configure(&cfg, PIXELS, 4);
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    sim->options.hand_over = hand_over;
    sim->hand_over.ask = ask;
    return sim;
}

/** The image of a simulation whose every look at the clock takes 20 ms. */
static void image_of(nb_sim *sim, float *image)
{
    nb_error err = {0};
    nb_stats stats;
    const float *at;
    clock_step = 0.02;
    assert_int_equal(nb_sim_render(sim, NULL, &stats, &err), NB_OK);
    assert_int_equal(nb_sim_image(sim, &at, &err), NB_OK);
    memcpy(image, at, (size_t)PIXELS * PIXELS * sizeof *image);
    clock_step = 0;
}

/** The picture is whole, whoever made it. */
static void simulation_changes_its_backend(void **state)
{
    static float images[3][PIXELS * PIXELS];
    (void)state;
    for (int i = 0; i < 3; i++) {
        nb_sim *sim = open_sim(i > 0);
        questions = 0;
        answer = i == 2 ? &fake_backend : NULL;
        image_of(sim, images[i]);
        assert_int_equal(questions, i > 0);
        if (i == 2)
            assert_ptr_equal(sim->backend, &fake_backend);
        else
            assert_ptr_not_equal(sim->backend, &fake_backend);
        assert_memory_equal(images[i], images[0], sizeof images[0]);
        nb_sim_free(sim);
    }
}

/** Who names a device, or the CPU, keeps it; so does who asks for an instruction set. */
static void named_backends_keep_the_image(void **state)
{
    const char *const words[] = {"cuda", "cpu", "auto"};
    nb_sim *sim = open_sim(0);
    (void)state;
    for (int i = 0; i < 3; i++) {
        nb_render_options options = sim->options;
        const nb_backend *backend;
        char reason[256];
        nb_error err;
        options.hand_over = 1;
        options.isa = i == 2 ? NB_ISA_SSE2 : NB_ISA_AUTO;
        nb_backend_choose(&sim->model.scene, words[i], &options, &backend, reason,
                          sizeof reason, &err);
        assert_int_equal(options.hand_over, 0);
    }
    nb_sim_free(sim);
}

static int keep_greatest(void *user, double fraction)
{
    double *greatest = user;
    *greatest = fraction > *greatest ? fraction : *greatest;
    return 0;
}

/** The blocks that were tried first are no part of the picture's progress. */
static void blocks_report_from_nothing_to_all(void **state)
{
    double greatest = 0;
    const nb_hooks hooks = {&greatest, NULL, keep_greatest};
    nb_config cfg;
    nb_error err = {0};
    nb_stats stats;
    nb_sim *sim;
    (void)state;
    configure(&cfg, 256, 20);
    cfg.tolerance = 1e-3;
    cfg.mosaic_spread_deg = 0.5;
    cfg.mosaic_domains = 300;
    cfg.dispersion_pct = 1;
    cfg.dispersion_steps = 10;
    assert_int_equal(nb_sim_create(&cfg, &hooks, &sim, &err), NB_OK);
    assert_int_equal(nb_sim_render(sim, NULL, &stats, &err), NB_OK);
    assert_non_null(strstr(nb_sim_backend(sim), "in blocks of rays"));
    assert_true(greatest == 1);
    nb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_only_where_much_is_left),
        cmocka_unit_test(asks_once),
        cmocka_unit_test(sees_rows_that_take_longer),
        cmocka_unit_test(caller_hears_and_stops),
        cmocka_unit_test(simulation_changes_its_backend),
        cmocka_unit_test(named_backends_keep_the_image),
        cmocka_unit_test(blocks_report_from_nothing_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
