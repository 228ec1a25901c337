/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <float.h>
#include <stdarg.h>
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
    nb_cli_fail(err, "%s: out of memory", what);
    err->code = NB_ERR_NOMEM;
    return NB_ERR_NOMEM;
}

nb_status nb_cli_leave_out(const char *mask, double max_read_MB, nb_image *image,
                           nb_error *err)
{
    nb_config typed;
    nb_image read;
    nb_error why = {0};
    nb_status st;
    if (!mask)
        return NB_OK;
    nb_config_defaults(&typed);
    typed.max_read_MB = max_read_MB;
    memset(&read, 0, sizeof read);
    st = nb_image_read(mask, image->fast, image->slow, &typed, &read, &why);
    if (st)
        nb_cli_fail(err, "-mask: %.400s", why.message);
    else
        st = nb_image_leave_out(image, &read, mask, err);
    nb_image_free(&read);
    return st;
}

int nb_cli_exit_status(nb_status status)
{
    switch (status) {
    case NB_OK:
        return 0;
    case NB_ERR_INPUT:
    case NB_ERR_UNSUPPORTED:
        return 2;
    case NB_ERR_CANCELLED:
        return 130;
    default:
        return 1;
    }
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

nb_status nb_cli_fail(nb_error *err, const char *format, ...)
{
    va_list args;

    memset(err, 0, sizeof *err);
    err->code = NB_ERR_INPUT;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return NB_ERR_INPUT;
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

void nb_write_number(double value, char *text)
{
    int digits = 15;
    do
        snprintf(text, NB_CLI_NUMBER, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
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
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "standard output could not be written");
    return err->code;
}

#define NAME "OMP_WAIT_POLICY"

/* Part of the environment while it is set; putenv makes no copy and takes no const. */
static char passive[] = NAME "=passive";

/** Runs before OpenMP reads the environment, which it does once. libgomp reads it in a
 * constructor of default priority. That constructor runs after this one because the program
 * contains libgomp (Makefile). clang's library reads it when threads are first needed. */
__attribute__((constructor(101))) static void choose(void)
{
    if (!getenv(NAME) && !getenv("GOMP_SPINCOUNT") && !getenv("KMP_BLOCKTIME"))
        (void)putenv(passive);
}

int nb_wait_policy_is_ours(void)
{
    return getenv(NAME) == strchr(passive, '=') + 1;
}
