/* SPDX-License-Identifier: MIT */
/* The program of all unit tests: a group of tests for each file.
 * usage: unit [-list | GROUP], as in unit test_tiles; without arguments all groups */
#include "../support/check.h"

enum { MAX_TESTS = 1024, NAME = 64 };

/** A test, the name of its file, and why its group is skipped in this build, or NULL. */
typedef struct entry {
    char group[NAME];
    struct CMUnitTest test;
    const char *skipped;
} entry;

static entry all[MAX_TESTS];
static size_t count;

static entry *next_entry(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    if (count == MAX_TESTS)
        abort();
    snprintf(all[count].group, NAME, "%.*s", (int)strcspn(name, "."), name);
    return &all[count++];
}

void nb_add_test(const char *file, struct CMUnitTest test)
{
    next_entry(file)->test = test;
}

void nb_skip_tests(const char *file, const char *why)
{
    next_entry(file)->skipped = why;
}

/** Number of tests in the group that begins with all[first]. */
static size_t entries_of(size_t first)
{
    size_t n = 1;
    while (first + n < count && !strcmp(all[first + n].group, all[first].group))
        n++;
    return n;
}

static int run_group(const entry *from, size_t n)
{
    static struct CMUnitTest tests[MAX_TESTS];
    for (size_t i = 0; i < n; i++) {
        tests[i] = from[i].test;
        if (!from[i].skipped)
            continue;
        printf("1..1\nok 1 - %s # SKIP %s\n", from->group, from[i].skipped);
        return 0;
    }
    return _cmocka_run_group_tests(from->group, tests, n, NULL, NULL);
}

int main(int n, char **words)
{
    const int list = n == 2 && !strcmp(words[1], "-list");
    int failed = 0, found = 0;
    for (size_t i = 0; i < count; i += entries_of(i)) {
        if (list)
            puts(all[i].group);
        if (list || (n > 1 && strcmp(words[1], all[i].group)))
            continue;
        failed |= run_group(&all[i], entries_of(i)) != 0;
        found = 1;
    }
    return list ? 0 : failed || !found;
}
