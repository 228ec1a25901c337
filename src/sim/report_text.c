/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"

void nb_report_put(nb_report_text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    nb_draft_bytes(t, line, strlen(line));
}

nb_status nb_report_end(nb_report_text *t, char **out, nb_error *err)
{
    nb_draft_bytes(t, "", 1); /* the NUL */
    *out = t->data;
    if (!t->failed)
        return NB_OK;
    nb_free(t->data);
    *out = NULL;
    return nb_fail_memory(err, t->room, "the report");
}
