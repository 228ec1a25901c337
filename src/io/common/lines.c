/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"

nb_lines nb_lines_of(const char *data, size_t n, const char *file, const char *columns,
                     nb_error *err)
{
    return (nb_lines){.next = nb_text_body(data, data + n),
                      .all = data + n,
                      .file = file,
                      .columns = columns,
                      .between = ",",
                      .comment = "#",
                      .err = err};
}

int nb_lines_next(nb_lines *l)
{
    const char *newline;
    if (l->next >= l->all)
        return 0;
    l->p = l->next;
    newline = memchr(l->p, '\n', (size_t)(l->all - l->p));
    l->end = newline ? newline : l->all;
    l->next = newline ? newline + 1 : l->all;
    for (int i = 0; l->comment[i]; i++) {
        /* the known place is before this line, so search again */
        if (!l->found[i] || l->found[i] < l->p) {
            l->found[i] = memchr(l->p, l->comment[i], (size_t)(l->all - l->p));
            l->found[i] = l->found[i] ? l->found[i] : l->all;
        }
        l->end = l->found[i] < l->end ? l->found[i] : l->end;
    }
    l->line++;
    return 1;
}

static int separates(const nb_lines *l, char c)
{
    const char *b = l->between;
    if (nb_text_blank(c))
        return 1;
    while (*b && *b != c)
        b++;
    return *b != '\0';
}

int nb_lines_word(nb_lines *l)
{
    while (l->p < l->end && separates(l, *l->p))
        l->p++;
    return l->p < l->end;
}

int nb_lines_numbers(nb_lines *l, int limit, double *values)
{
    for (int n = 0; n < limit; n++) {
        const char *after;
        char token[NB_TEXT_QUOTE];
        if (!nb_lines_word(l))
            return n;
        after = nb_text_double(l->p, l->end, &values[n]);
        if (!after || (after < l->end && !separates(l, *after))) {
            nb_text_quote(l->p, l->end, token);
            nb_lines_fail(l, "'%s' is not a finite number (%s)", token, l->columns);
            return -1;
        }
        l->p = after;
    }
    return limit;
}

nb_status nb_lines_fail(const nb_lines *l, const char *format, ...)
{
    char text[sizeof l->err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return nb_fail_at(l->err, NB_ERR_INPUT, l->file, l->line, "%s", text);
}
