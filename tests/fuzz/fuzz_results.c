/* SPDX-License-Identifier: MIT */
/* results.json of `nanobragg bench`, as `bench -from` reads it, and the summary made of it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* memfd_create */
#endif
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/bench/json.h"
#include "../../src/bench/report.h"
#include "../../src/bench/results.h"
#include "fuzz.h"

static void summarize(const cJSON *root)
{
    char *text = NULL;
    size_t bytes = 0;
    nb_bench_plots plots;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return;
    memset(&plots, 0, sizeof plots);
    nb_bench_summary_md(out, root, &plots);
    fclose(out);
    free(text);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    char path[64];
    nb_error err = {0};
    cJSON *root = NULL;
    nb_status st;
    int fd = memfd_create("results", 0);
    NB_FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    st = nb_bench_read_results(path, &root, &err);
    close(fd);
    NB_FUZZ_CHECK(!st == !!root);
    if (st)
        NB_FUZZ_CHECK(err.code == st && err.message[0]);
    else
        summarize(root);
    cJSON_Delete(root);
    return !st;
}

NB_FUZZ_ENTRY
