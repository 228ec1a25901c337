/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

nb_status nb_fail(nb_error *err, nb_status code, const char *format, ...)
{
    if (err) {
        va_list args;
        memset(err, 0, sizeof *err);
        err->code = code;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return code;
}

nb_status nb_fail_at(nb_error *err, nb_status code, const char *file, long line,
                     const char *format, ...)
{
    if (err) {
        va_list args;
        int n;
        memset(err, 0, sizeof *err);
        err->code = code;
        err->line = line;
        snprintf(err->file, sizeof err->file, "%s", file);
        if (line > 0)
            n = snprintf(err->message, sizeof err->message, "%.255s:%ld: ", file, line);
        else
            n = snprintf(err->message, sizeof err->message, "%.255s: ", file);
        va_start(args, format);
        vsnprintf(err->message + n, sizeof err->message - (size_t)n, format, args);
        va_end(args);
    }
    return code;
}

nb_status nb_fail_within(nb_error *err, nb_status code, const char *place)
{
    nb_error plain;
    if (code != NB_ERR_INPUT || !err || strncmp(err->message, place, strlen(place)) == 0)
        return code;
    plain = *err;
    return nb_fail(err, code, "%s: %s", place, plain.message);
}

nb_status nb_fail_errno(nb_error *err, const char *what, const char *path)
{
    char why[128];
    int number = errno;
    if (strerror_r(number, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", number);
    nb_fail(err, NB_ERR_IO, "cannot %s %.300s: %s", what, path, why);
    if (err)
        snprintf(err->file, sizeof err->file, "%.*s", (int)sizeof err->file - 1, path);
    return NB_ERR_IO;
}

nb_status nb_fail_memory(nb_error *err, size_t bytes, const char *what)
{
    return nb_fail(err, NB_ERR_NOMEM, "out of memory (%zu bytes for %s)", bytes, what);
}

void nb_notice(const nb_hooks *hooks, const char *format, ...)
{
    char line[512];
    va_list args;
    if (!hooks || !hooks->notice)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    hooks->notice(hooks->user, line);
}

const char *nb_status_name(nb_status code)
{
    static const char *const names[] = {
        "ok",          "bad input",    "input/output error", "out of memory",
        "unsupported", "device error", "cancelled",          "internal error"};
    return (unsigned)code < sizeof names / sizeof *names ? names[code] : "unknown status";
}
