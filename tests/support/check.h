/* SPDX-License-Identifier: MIT */
/** cmocka, with comparisons that fail for NaN and renders whose errors fail the test. */
#ifndef NB_TESTS_CHECK_H
#define NB_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "picture.h"

/** Adds a test to the group of its file. */
void nb_add_test(const char *file, struct CMUnitTest test);
/** Skips the group of a file, for a reason that must stay. */
void nb_skip_tests(const char *file, const char *why);

/** Defines a test: FIXTURE_TEST(name, setup, teardown) { ... }. cmocka calls setup before
 * the test and teardown after the test; `state` is cmocka's argument. The tests of a file
 * run in its order, in a process of their own (tests/run.sh). */
#define FIXTURE_TEST(name, setup, teardown)                                              \
    static void name(void **state);                                                      \
    __attribute__((constructor)) static void add_##name(void)                            \
    {                                                                                    \
        nb_add_test(__FILE__, (struct CMUnitTest)cmocka_unit_test_setup_teardown(        \
                                  name, setup, teardown));                               \
    }                                                                                    \
    static void name(__attribute__((unused)) void **state)
#define UNIT_TEST(name) FIXTURE_TEST(name, NULL, NULL)

/** |a - b| <= tolerance */
#define check_close(a, b, tolerance)                                                     \
    nb_check_close((a), (b), (tolerance), #a " == " #b, __FILE__, __LINE__)
/** |a/b - 1| <= tolerance */
#define check_ratio(a, b, tolerance)                                                     \
    nb_check_close((double)(a) / (double)(b), 1, (tolerance), #a " / " #b, __FILE__,     \
                   __LINE__)
#define check_below(a, limit)                                                            \
    nb_check_below((a), (limit), #a " <= " #limit, __FILE__, __LINE__)
#define check_above(a, limit)                                                            \
    nb_check_below(-(a), -(limit), #a " >= " #limit, __FILE__, __LINE__)
#define check_vector(v, X, Y, Z, tolerance)                                              \
    do {                                                                                 \
        nb_check_close((v).x, (X), (tolerance), #v ".x == " #X, __FILE__, __LINE__);     \
        nb_check_close((v).y, (Y), (tolerance), #v ".y == " #Y, __FILE__, __LINE__);     \
        nb_check_close((v).z, (Z), (tolerance), #v ".z == " #Z, __FILE__, __LINE__);     \
    } while (0)

/** Prints the reason and ends the test as skipped. */
#define skip_because(reason)                                                             \
    do {                                                                                 \
        printf("# %s\n", reason);                                                        \
        fflush(stdout);                                                                  \
        skip();                                                                          \
    } while (0)

static inline void nb_check_close(double a, double b, double tolerance, const char *what,
                                  const char *file, int line)
{
    if (!(fabs(a - b) <= tolerance)) {
        print_error("%s: %.15g and %.15g differ by %.3g, more than %.3g\n", what, a, b,
                    fabs(a - b), tolerance);
        _fail(file, line);
    }
}

static inline void nb_check_below(double a, double limit, const char *what,
                                  const char *file, int line)
{
    if (!(a <= limit)) {
        print_error("%s: %.15g, limit %.15g\n", what, a, limit);
        _fail(file, line);
    }
}

/** Renders an image; an error fails the test. */
static inline nb_picture rendered(const nb_config *cfg)
{
    nb_picture picture;
    nb_error err = {0};
    if (nb_picture_render(cfg, &picture, &err))
        fail_msg("render: %s", err.message);
    return picture;
}

/** Creates a simulation, which the caller frees; an error fails the test. */
static inline nb_sim *created(const nb_config *cfg)
{
    nb_sim *sim;
    nb_error err = {0};
    if (nb_sim_create(cfg, NULL, &sim, &err))
        fail_msg("create: %s", err.message);
    return sim;
}

/** A number for the long form of the tests (make bigtest), the usual form, and the form
 * under a sanitizer (make asan), which runs each line and counts no errors. */
static inline int nb_of_form(int big, int usual, int reduced)
{
    return getenv("NB_BIG") ? big : getenv("NB_REDUCED") ? reduced : usual;
}

/** Fails unless cfg is refused with this status and a message that contains `part`. */
static inline void check_refused(const nb_config *cfg, nb_status status, const char *part)
{
    nb_sim *sim = NULL;
    nb_error err = {0};
    nb_status st = nb_sim_create(cfg, NULL, &sim, &err);
    nb_sim_free(sim);
    if (st != status || !strstr(err.message, part))
        fail_msg("expected %s about '%s', got %s: %s", nb_status_name(status), part,
                 nb_status_name(st), err.message);
    assert_null(st ? sim : NULL);
}

/** Fails unless both images have the same pixels to the last bit. */
static inline void check_same_bits(const nb_picture *a, const nb_picture *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->pixels, b->pixels, a->n * sizeof *a->pixels);
}

/** max|a - b| <= tolerance * max(b) */
#define check_same(a, b, tolerance)                                                      \
    nb_check_below((a).n == (b).n ? nb_max_difference((a).pixels, (b).pixels, (a).n)     \
                                  : NAN,                                                 \
                   (tolerance), #a " ~ " #b, __FILE__, __LINE__)

#endif
