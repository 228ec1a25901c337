/* SPDX-License-Identifier: MIT */
/** A new folder for each test, and functions for files in the folder. */
#ifndef NB_TESTS_SCRATCH_H
#define NB_TESTS_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"

typedef struct scratch {
    char folder[256];
    char path[512]; /* result of scratch_path */
} scratch;

static inline int scratch_setup(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    const char *tmp = getenv("TMPDIR");
    snprintf(s->folder, sizeof s->folder, "%s/nb-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    *state = s;
    return mkdtemp(s->folder) ? 0 : -1;
}

/** Path of a file in the folder; valid until the next call. */
static inline const char *scratch_path(scratch *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
    return s->path;
}

/** Counts the files in the folder, hidden files too; removes them if `remove_them`. */
static inline int scratch_count(scratch *s, int remove_them)
{
    DIR *dir = opendir(s->folder);
    struct dirent *entry;
    int n = 0;
    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n++;
        if (remove_them) {
            char name[sizeof s->folder + sizeof entry->d_name + 1];
            snprintf(name, sizeof name, "%s/%s", s->folder, entry->d_name);
            remove(name);
        }
    }
    if (dir)
        closedir(dir);
    return n;
}

static inline int scratch_teardown(void **state)
{
    scratch *s = *state;
    scratch_count(s, 1);
    rmdir(s->folder);
    free(s);
    return 0;
}

/** Reads a whole file and adds a NUL; use free(). A missing file fails the test. */
static inline char *scratch_read(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *data = malloc(1 << 22);
    size_t n;
    assert_non_null(f);
    assert_non_null(data);
    n = fread(data, 1, (1 << 22) - 1, f);
    data[n] = '\0';
    fclose(f);
    if (bytes)
        *bytes = n;
    return data;
}

static inline void scratch_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static inline void assert_file_is(const char *path, const char *text)
{
    char *data = scratch_read(path, NULL);
    assert_string_equal(data, text);
    free(data);
}

#define SCRATCH_TEST(name) FIXTURE_TEST(name, scratch_setup, scratch_teardown)

#endif
