/* SPDX-License-Identifier: MIT */
/* Which of a CPU and a device -device auto takes, by estimates and a pilot of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "render/choose.h"
#include "render/pilot.h"

/** What is believed and measured, seconds, and what should follow. */
typedef struct choice {
    double guess, pace, rows; /* of the CPU: estimate, of it, by rows */
    double device;            /* < 0: it cannot */
    int hand_over;            /* before */
    int takes_device, questions, paces, timings, may_hand_over; /* after */
} choice;

static const choice *now;
static int questions, paces, timings;

static double estimate_cpu(const nb_scene *scene, const nb_render_options *options,
                           char *why, size_t why_size)
{
    (void)scene;
    (void)options;
    snprintf(why, why_size, "a CPU");
    return now->guess;
}

static double estimate_device(const nb_scene *scene, const nb_render_options *options,
                              char *why, size_t why_size)
{
    (void)scene;
    (void)options;
    snprintf(why, why_size, "a device");
    questions++;
    return now->device;
}

static int is_there(void)
{
    return 1;
}

/* Replace the library's. */
const nb_backend nb_backend_simd = {.name = "cpu", .estimate = estimate_cpu};
const nb_backend nb_backend_scalar = {.name = "scalar", .estimate = estimate_cpu};
static const nb_backend the_device = {
    .name = "device", .estimate = estimate_device, .present = is_there};
const nb_backend *const nb_backends[] = {&nb_backend_simd, &the_device, NULL};

double nb_pilot_pace(const nb_backend *backend, const nb_scene *scene,
                     const nb_render_options *options)
{
    (void)scene;
    (void)options;
    assert_ptr_equal(backend, &nb_backend_simd);
    paces++;
    return now->pace;
}

double nb_pilot_seconds(const nb_backend *backend, const nb_scene *scene,
                        const nb_render_options *options, double expected)
{
    (void)scene;
    (void)options;
    (void)expected;
    assert_ptr_equal(backend, &nb_backend_simd);
    timings++;
    return now->rows;
}

static void check_choice(const choice *c)
{
    nb_render_options options = {.isa = NB_ISA_AUTO, .hand_over = c->hand_over};
    const nb_backend *taken = NULL;
    char reason[200];
    nb_error err;
    now = c;
    questions = paces = timings = 0;
    assert_int_equal(
        nb_backend_choose(NULL, "auto", &options, &taken, reason, sizeof reason, &err),
        NB_OK);
    assert_ptr_equal(taken, c->takes_device ? &the_device : &nb_backend_simd);
    assert_int_equal(questions, c->questions);
    assert_int_equal(paces, c->paces);
    assert_int_equal(timings, c->timings);
    assert_int_equal(options.hand_over, c->may_hand_over);
}

/** Beyond doubt, by the pace, and where that is not known. */
static void one_image(void **state)
{
    static const choice choices[] = {
        {0.1, 9, 0, 0.3, 1, 0, 0, 0, 0, 1},   /* short: nobody asks */
        {0.3, 0.5, 0, 0.3, 1, 0, 0, 1, 0, 1}, /* a quick CPU */
        {0.3, 2, 0, 0.3, 1, 1, 1, 1, 0, 0},   /* a slow one */
        {0.3, 2, 0, 5, 1, 0, 1, 1, 0, 1},     /* slow, but the device is slower */
        {0.3, 2, 0, -1, 1, 0, 1, 1, 0, 0},    /* no device can: nor later */
        {0.3, 0, 0, 0.3, 1, 0, 0, 1, 0, 1},   /* no pace: the render will see */
        {2, 0.1, 0, 0.3, 1, 1, 1, 0, 0, 0},   /* whatever the pace is */
        {1.2, 0, 0, 0.9, 1, 0, 1, 0, 0, 1},   /* asked, and a doubt is left */
        {-1, 0, 0, 5, 1, 1, 1, 0, 0, 0},      /* the CPU cannot */
    };
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        check_choice(&choices[i]);
}

/** Series and fits, which may not change later: rows are timed. */
static void many_images(void **state)
{
    static const choice choices[] = {
        {0.05, 0, 9, 0.3, 0, 0, 0, 0, 0, 0},
        {0.3, 0, 0.2, 0.3, 0, 0, 0, 0, 1, 0},
        {0.3, 0, 0.6, 0.3, 0, 1, 1, 0, 1, 0},
        {2, 0, 0, 0.3, 0, 1, 1, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        check_choice(&choices[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_image),
                                       cmocka_unit_test(many_images)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
