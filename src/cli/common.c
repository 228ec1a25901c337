/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <float.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../params/config.h"
#include "common.h"

static atomic_int ran_out;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        atomic_store(&ran_out, 1);
    return memory;
}

void nb_json_watch(void)
{
    cJSON_Hooks hooks = {allocate, free};
    atomic_store(&ran_out, 0);
    cJSON_InitHooks(&hooks);
}

nb_status nb_json_memory(const char *what, nb_error *err)
{
    if (!atomic_load(&ran_out))
        return NB_OK;
    return nb_fail(err, NB_ERR_NOMEM, "%s: out of memory", what);
}

nb_status nb_cli_leave_out(const char *mask, nb_image *image, nb_error *err)
{
    nb_image read;
    nb_error why = {0};
    nb_status st;
    if (!mask)
        return NB_OK;
    memset(&read, 0, sizeof read);
    st = nb_image_read(mask, image->fast, image->slow, NULL, &read, &why);
    if (st)
        nb_cli_fail(err, "-mask: %.400s", why.message);
    else
        st = nb_image_leave_out(image, &read, mask, err);
    nb_image_free(&read);
    return st;
}

int nb_cli_exit_status(nb_status status)
{
    return status == NB_OK                                          ? 0
           : status == NB_ERR_INPUT || status == NB_ERR_UNSUPPORTED ? 2
           : status == NB_ERR_CANCELLED                             ? 130
                                                                    : 1;
}

int nb_cli_end(nb_status status, const nb_error *err)
{
    if (status)
        nb_cli_say("error", err->message[0] ? err->message : nb_status_name(status));
    return nb_cli_exit_status(status);
}

void nb_cli_notice(void *progress, const char *line)
{
    if (progress)
        nb_progress_end(progress);
    nb_cli_say("note", line);
}

void nb_cli_say(const char *kind, const char *text)
{
    char line[1024];

    snprintf(line, sizeof line, "%s", text);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "nanobragg: %s: %s\n", kind, line);
}

int nb_read_number(const char *text, double *out)
{
    const nb_param any = {.name = "",
                          .kind = NB_KIND_NUMBER,
                          .size = sizeof *out,
                          .low = -DBL_MAX,
                          .high = DBL_MAX};
    return nb_param_set(&any, out, &text, 1, NULL) == NB_OK;
}

int nb_read_whole(const char *text, int low, int high, int *out)
{
    const nb_param whole = {
        .name = "", .kind = NB_KIND_INTEGER, .size = sizeof *out, .low = low, .high = high};
    return nb_param_set(&whole, out, &text, 1, NULL) == NB_OK;
}

nb_status nb_cli_check_stdout(nb_error *err)
{
    if (!fflush(stdout) && !ferror(stdout))
        return NB_OK;
    return nb_fail(err, NB_ERR_IO, "standard output could not be written");
}

#define NAME "OMP_WAIT_POLICY"

/* putenv makes this array part of the environment, without a copy; its argument cannot be
 * const. */
static char passive[] = NAME "=passive";

/** Set the wait policy before OpenMP reads the environment, which it reads only once.
 * libgomp reads it in a constructor of default priority, which runs later because the
 * program contains libgomp (Makefile). The library of clang reads it when threads are
 * first needed. */
__attribute__((constructor(101))) static void choose(void)
{
    if (!getenv(NAME) && !getenv("GOMP_SPINCOUNT") && !getenv("KMP_BLOCKTIME"))
        (void)putenv(passive);
}

int nb_wait_policy_is_ours(void)
{
    return getenv(NAME) == strchr(passive, '=') + 1;
}
