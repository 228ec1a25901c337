/* SPDX-License-Identifier: MIT */
/* The tests of a program of this folder, and its main. */
#include "../support/check.h"

enum { MAX_TESTS = 64 };

static struct CMUnitTest tests[MAX_TESTS];
static size_t count;

void nb_add_test(struct CMUnitTest test)
{
    if (count == MAX_TESTS)
        abort();
    tests[count++] = test;
}

int nb_run_tests(void)
{
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}

/* Weak: a program with another main uses the other main. */
__attribute__((weak)) int main(void)
{
    return nb_run_tests();
}
