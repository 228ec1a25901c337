/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../progress.h"
#include "../common.h"

static int same_streams(FILE *a, FILE *b)
{
    char x[65536], y[65536];
    size_t n, m;
    do {
        n = fread(x, 1, sizeof x, a);
        m = fread(y, 1, sizeof y, b);
        if (n != m || memcmp(x, y, n))
            return 0;
    } while (n);
    return !ferror(a) && !ferror(b);
}

int nb_bench_same_file(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    int same = x && y && same_streams(x, y);
    if (x)
        fclose(x);
    if (y)
        fclose(y);
    return same;
}

void nb_bench_last_line(const char *path, char *line, size_t size)
{
    char text[512];
    FILE *file = fopen(path, "r");
    line[0] = 0;
    while (file && fgets(text, sizeof text, file)) {
        text[strcspn(text, "\r\n")] = 0;
        if (text[0])
            snprintf(line, size, "%.*s", (int)size - 1, text);
    }
    if (file)
        fclose(file);
}

nb_status nb_bench_ended_well(const char *name, const char *log, const nb_child_end *end,
                              nb_error *err)
{
    char last[160] = "";
    if (!end->missing && !end->signal && !end->exit_status)
        return NB_OK;
    memset(err, 0, sizeof *err);
    if (nb_stop_requested()) {
        err->code = NB_ERR_CANCELLED;
        snprintf(err->message, sizeof err->message, "interrupted; no report was written");
        return err->code;
    }
    nb_bench_last_line(log, last, sizeof last);
    err->code = end->missing ? NB_ERR_INPUT : NB_ERR_IO;
    if (end->missing)
        snprintf(err->message, sizeof err->message, "%.200s cannot be run: %s", name,
                 strerror(end->missing));
    else
        snprintf(err->message, sizeof err->message, "%.200s ended with %s %d%s%s", name,
                 end->signal ? "signal" : "status",
                 end->signal ? end->signal : end->exit_status, last[0] ? ": " : "", last);
    return err->code;
}

nb_status nb_bench_find_program(const char *flag, const char *name, char *path,
                                nb_error *err)
{
    char *whole;
    int ok;
    if (!strchr(name, '/')) {
        snprintf(path, NB_PATH_MAX, "%s", name);
        return NB_OK;
    }
    whole = realpath(name, NULL);
    ok = whole && !access(whole, X_OK) && strlen(whole) < NB_PATH_MAX;
    if (ok)
        snprintf(path, NB_PATH_MAX, "%s", whole);
    free(whole);
    return ok ? NB_OK
              : nb_cli_fail(err, "%s: the program %.300s cannot be run: %s", flag, name,
                            strerror(errno ? errno : ENAMETOOLONG));
}
