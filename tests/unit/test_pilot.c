/* SPDX-License-Identifier: MIT */
/* The pilot: the time of a scene on this machine, from a few of its rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "render/pilot.h"

/** A renderer that takes 3 ms, and 0.5 ms a row, by the clock below. */
struct nb_backend_state {
    int renders, rows;
    double now;
};
static struct nb_backend_state the_state;

/** Replaces the library's clock. */
double nb_monotonic_seconds(void)
{
    return the_state.now;
}

static nb_status open_slow(const nb_render_options *options, nb_backend_state **state,
                           nb_error *err)
{
    (void)err;
    assert_null(options->hooks.progress); /* the user sees no pilot */
    *state = &the_state;
    return NB_OK;
}

static nb_status render_slow(nb_backend_state *state, const nb_scene *scene,
                             const nb_request *request, const nb_planes *planes,
                             nb_error *err)
{
    int rows = scene->raster.roi.smax - scene->raster.roi.smin + 1;
    (void)err;
    assert_int_equal(request->n, rows);
    memset(planes->image, 1, planes->pixels * sizeof *planes->image);
    state->renders++;
    state->rows += rows;
    state->now += 3e-3 + 0.5e-3 * rows;
    return NB_OK;
}

static void close_slow(nb_backend_state *state)
{
    (void)state;
}

/** A tenth of what its rows take. */
static double estimate_slow(const nb_scene *scene, const nb_render_options *options,
                            char *why, size_t why_size)
{
    (void)why;
    (void)why_size;
    assert_int_equal(options->threads, 1);
    assert_int_equal(options->images, 1);
    assert_int_equal(options->tolerance.skip, 0);
    return 0.05e-3 * scene->raster.rows;
}

static const nb_backend slow = {.name = "slow",
                                .estimate = estimate_slow,
                                .open = open_slow,
                                .render = render_slow,
                                .close = close_slow};

static int progress(void *user, double fraction)
{
    (void)user;
    (void)fraction;
    return 1;
}

static void extrapolates_from_a_few_rows(void **state)
{
    const nb_panel panel = {.columns = 7, .rows = 3000};
    nb_scene scene = {.n_panels = 1, .panels = &panel};
    nb_render_options options = {.threads = 1, .hooks = {NULL, NULL, progress}};
    double seconds;
    (void)state;
    scene.raster.columns = 7;
    scene.raster.rows = 3000;
    scene.raster.roi = (nb_region){0, 6, 1000, 2999};
    memset(&the_state, 0, sizeof the_state);
    seconds = nb_pilot_seconds(&slow, &scene, &options, 1.0);
    check_above(seconds, 1.0029);
    check_below(seconds, 1.0031); /* 3 ms + 2000 rows of 0.5 ms */
    check_below(the_state.rows, 60);
}

/** Fewer rows than threads: each strip has all rows. */
static void short_scenes_are_measured_whole(void **state)
{
    const nb_panel panel = {.columns = 5, .rows = 3};
    nb_scene scene = {.n_panels = 1, .panels = &panel};
    nb_render_options options = {.threads = 4};
    (void)state;
    scene.raster.columns = 5;
    scene.raster.rows = 3;
    scene.raster.roi.smax = 2;
    memset(&the_state, 0, sizeof the_state);
    check_above(nb_pilot_seconds(&slow, &scene, &options, 1e-3), 0.003);
    assert_int_equal(the_state.renders, 6);
    assert_int_equal(the_state.rows, 18);
}

/** The pace of the renderer above for 400 rows of so many columns. */
static double pace_of(int columns)
{
    const nb_panel panel = {.columns = columns, .rows = 400};
    nb_scene scene = {.n_panels = 1, .panels = &panel};
    const nb_render_options many = {.threads = 16, .images = 100, .tolerance = {.skip = 1}};
    scene.raster.columns = columns;
    scene.raster.rows = 400;
    scene.raster.roi = (nb_region){0, columns - 1, 0, 399};
    memset(&the_state, 0, sizeof the_state);
    return nb_pilot_pace(&slow, &scene, &many);
}

static void pace_is_that_of_every_step_by_one_thread(void **state)
{
    (void)state;
    check_close(pace_of(2000), 10, 0.2);
    assert_int_equal(the_state.renders, 6);
    check_below(the_state.rows, 50);
}

/** The estimate says that the smallest strip takes long: nobody waits for it. */
static void pace_is_not_worth_a_long_strip(void **state)
{
    (void)state;
    check_close(pace_of(1), 0, 0);
    assert_int_equal(the_state.renders, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extrapolates_from_a_few_rows),
        cmocka_unit_test(short_scenes_are_measured_whole),
        cmocka_unit_test(pace_is_that_of_every_step_by_one_thread),
        cmocka_unit_test(pace_is_not_worth_a_long_strip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
