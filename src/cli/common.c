/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
