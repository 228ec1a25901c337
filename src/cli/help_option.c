/* SPDX-License-Identifier: MIT */
/* One flag as -help prints it. */
#include "help.h"

#include <string.h>

#include "options.h"

void nb_help_wrap(FILE *out, const char *text, int column, int indent)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > 89) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        column += fprintf(out, "%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/** "-name, -synonym, ... value" */
static void spell(const nb_option *option, char *text, size_t size)
{
    const char *cursor = option->synonyms;
    char word[64];
    size_t used = (size_t)snprintf(text, size, "-%s", option->name);

    while (used < size && nb_next_word(&cursor, word, sizeof word))
        used += (size_t)snprintf(text + used, size - used, ", -%s", word);
    if (used < size && option->value)
        snprintf(text + used, size - used, " %s", option->value);
}

void nb_help_option(FILE *out, const nb_option *option)
{
    enum { INDENT = 26 };
    char text[512], flags[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", option->help);
    int column;

    if (option->unit)
        used += (size_t)snprintf(text + used, sizeof text - used, " [%s]", option->unit);
    if (option->fallback)
        snprintf(text + used, sizeof text - used, " (default: %s)", option->fallback);
    spell(option, flags, sizeof flags);
    column = fprintf(out, "  %s", flags);
    if (column > INDENT - 2)
        column = fprintf(out, "\n") - 1;
    fprintf(out, "%*s", INDENT - column, "");
    nb_help_wrap(out, text, INDENT, INDENT);
}
