/* SPDX-License-Identifier: MIT */
/* Files of -jobs: every line of an accepted file sets the same values each time. */
#include <string.h>

#include "../../src/cli/sub.h"
#include "../support/picture.h"
#include "fuzz.h"

static void check_lines(const nb_jobs *jobs, const nb_config *base)
{
    static nb_config a, b;
    char line[200];
    NB_FUZZ_CHECK(jobs->count > 0);
    for (int i = 0; i < jobs->count; i++) {
        nb_error err = {0};
        nb_config_copy(&a, base);
        nb_config_copy(&b, base);
        NB_FUZZ_CHECK(nb_jobs_apply(jobs, i, &a, &err) == NB_OK &&
                      nb_jobs_apply(jobs, i, &b, &err) == NB_OK && nb_same_config(&a, &b));
    }
    nb_config_drop(&a);
    nb_config_drop(&b);
    if (nb_jobs_ignored(jobs, line, sizeof line))
        NB_FUZZ_CHECK(strlen(line) > 0);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    static nb_config base;
    nb_error err = {0};
    nb_jobs *jobs;
    nb_status status;
    char *text = malloc(size + 1);
    NB_FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&base, 0, sizeof base);
    nb_config_defaults(&base);
    status = nb_jobs_parse(text, size, "fuzz.jobs", &base, &jobs, &err);
    if (status == NB_OK)
        check_lines(jobs, &base);
    else
        NB_FUZZ_CHECK(err.code == status && err.message[0]);
    nb_jobs_free(jobs);
    return status == NB_OK;
}

NB_FUZZ_ENTRY
