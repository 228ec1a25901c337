/* SPDX-License-Identifier: MIT */
/* Print a flag as in -help, and the flags of a group. */
#include "../base/text.h"
#include "options.h"

#include <string.h>

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

void nb_help_item(FILE *out, const char *flag, const char *text)
{
    enum { INDENT = 26 };
    int column = fprintf(out, "  %s", flag);
    if (column > INDENT - 2)
        column = fprintf(out, "\n") - 1;
    fprintf(out, "%*s", INDENT - column, "");
    nb_help_wrap(out, text, INDENT, INDENT);
}

/** Write "-name, -synonym, ... value" into text[size]. */
static void spell(const nb_flag *flag, char *text, size_t size)
{
    const char *cursor = flag->synonyms;
    char word[64], value[200];
    size_t used = (size_t)snprintf(text, size, "-%s", flag->name);

    while (used < size && nb_text_word(&cursor, word))
        used += (size_t)snprintf(text + used, size - used, ", -%s", word);
    if (used < size && nb_param_value(flag, value, sizeof value)[0])
        snprintf(text + used, size - used, " %s", value);
}

void nb_help_flag(FILE *out, const nb_flag *flag)
{
    char text[512], flags[256], held[80];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", flag->help);

    if (flag->unit)
        used += (size_t)snprintf(text + used, sizeof text - used, " [%s]", flag->unit);
    if (nb_param_default(flag, held, sizeof held)[0])
        snprintf(text + used, sizeof text - used, " (default: %s)", held);
    spell(flag, flags, sizeof flags);
    nb_help_item(out, flags, text);
}

void nb_help_group(FILE *out, const char *group)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (!strcmp(f->group, group))
            nb_help_flag(out, f);
}
