/* SPDX-License-Identifier: MIT */
#include "json_node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../base/memory.h"

void nb_draft_bytes(nb_draft *t, const char *bytes, size_t n)
{
    if (!t->failed && t->n + n > t->room) {
        t->room = 2 * (t->n + n) + 65536;
        t->failed = nb_grow(&t->data, t->n, t->room, 1, "text", NULL) != NB_OK;
    }
    if (t->failed)
        return;
    memcpy(t->data + t->n, bytes, n);
    t->n += n;
}

void nb_draft_put(nb_draft *t, const char *format, ...)
{
    char line[8192];
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof line)
        t->failed = 1;
    else
        nb_draft_bytes(t, line, (size_t)n);
}
