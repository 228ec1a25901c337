/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

void nb_report_put(nb_report_text *t, const char *format, ...)
{
    char line[512];
    size_t n;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    n = strlen(line);
    if (t->used + n + 1 > t->size) {
        char *more = realloc(t->data, 2 * (t->size + n + 1));
        if (!more) {
            t->failed = 1;
            return;
        }
        t->data = more;
        t->size = 2 * (t->size + n + 1);
    }
    memcpy(t->data + t->used, line, n + 1);
    t->used += n;
}

nb_status nb_report_end(nb_report_text *t, char **out, nb_error *err)
{
    *out = t->data;
    if (!t->failed)
        return NB_OK;
    free(t->data);
    *out = NULL;
    return nb_fail_memory(err, t->size, "the report");
}
