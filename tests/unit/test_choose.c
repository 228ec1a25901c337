/* SPDX-License-Identifier: MIT */
/* The choice of -device auto between CPU and accelerator, from estimates of this test. */
#include "../support/check.h"

#include "render/request.h"

/** Estimates in seconds and the choice that should follow. */
typedef struct choice {
    double guess;  /* estimate of the CPU, s */
    double device; /* < 0: no device can render */
    int takes_device, questions;
} choice;

static const choice *now;
static int questions;

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

/* These replace the backends of the library. */
const nb_backend nb_backend_simd = {.name = "cpu", .estimate = estimate_cpu};
const nb_backend nb_backend_scalar = {.name = "scalar", .estimate = estimate_cpu};
static const nb_backend the_device = {
    .name = "device", .estimate = estimate_device, .present = is_there};
const nb_backend *const nb_backends[] = {&nb_backend_simd, &the_device, NULL};

static void check_choice(const choice *c)
{
    nb_render_options options = {.isa = NB_ISA_AUTO};
    const nb_backend *taken = NULL;
    char reason[200];
    nb_error err;
    now = c;
    questions = 0;
    assert_int_equal(
        nb_backend_choose(NULL, "auto", &options, &taken, reason, sizeof reason, &err),
        NB_OK);
    assert_ptr_equal(taken, c->takes_device ? &the_device : &nb_backend_simd);
    assert_int_equal(questions, c->questions);
}

UNIT_TEST(by_estimates)
{
    static const choice choices[] = {
        {0.1, 0.0, 0, 0},                                    /* short: not asked */
        {0.3, 0.3, 0, 0},  {0.6, 0.3, 1, 1}, {0.6, 5, 0, 1}, /* the device is slower */
        {0.37, 0.5, 0, 1},                                   /* too little is gained */
        {0.4, 0.5, 1, 1}, /* the question spent 0.15 s of 0.5 s */
        {2, -1, 0, 1},    /* no device can render */
        {-1, 5, 1, 1},    /* the CPU cannot render */
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        check_choice(&choices[i]);
}
