/* SPDX-License-Identifier: MIT */
/* Help of all subcommands: text, markdown, man page. */
#include <string.h>

#include "help.h"
#include "options.h"
#include "sub.h"

/** The borrowed flags as a list of markdown. */
static void markdown_borrowed(FILE *out, const nb_sub_command *c)
{
    const char *cursor = c->borrowed;
    char word[64];
    int any = 0;

    while (nb_next_word(&cursor, word, sizeof word))
        if (!strcmp(word, "*"))
            fprintf(out, "%sall flags that describe a simulation, and", any++ ? " " : "");
        else
            fprintf(out, "%s`-%s`", any++ ? " " : "", word);
}

void nb_sub_help_list(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    fputs("\nSubcommands (nanobragg NAME -help)\n", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-23s %s\n", all[i]->name, all[i]->what);
}

static void cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

void nb_sub_help_markdown(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    for (size_t i = 0; i < count; i++) {
        const nb_sub_command *c = all[i];
        fprintf(out,
                "\n## nanobragg %s\n\n`nanobragg %s %s`\n\n%s; see "
                "[%s](%s).\n\n%s",
                c->name, c->name, c->usage, c->what, c->see, c->see,
                c->options->name ? "| flag | meaning |\n| --- | --- |\n" : "");
        for (const nb_sub_option *o = c->options; o->name; o++) {
            fprintf(out, "| `-%s", o->name);
            if (o->value) {
                fputc(' ', out);
                cell(out, o->value);
            }
            fputs("` | ", out);
            cell(out, o->help);
            fputs(" |\n", out);
        }
        if (c->borrowed) {
            fputs("\nAlso, as above: ", out);
            markdown_borrowed(out, c);
            fputs(".\n", out);
        }
        fprintf(out, "\nExit status: %s.\n", c->statuses);
    }
}

static void man_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

void nb_sub_help_man(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    fputs(".SH SUBCOMMANDS\n", out);
    for (size_t i = 0; i < count; i++) {
        const nb_sub_command *c = all[i];
        fputs(".SS nanobragg ", out);
        man_text(out, c->name);
        fputc(' ', out);
        man_text(out, c->usage);
        fputc('\n', out);
        man_text(out, c->what);
        fputs(".\n", out);
        for (const nb_sub_option *o = c->options; o->name; o++) {
            fputs(".TP\n.B \\-", out);
            man_text(out, o->name);
            if (o->value) {
                fputs(" \\fI", out);
                man_text(out, o->value);
                fputs("\\fR", out);
            }
            fputc('\n', out);
            man_text(out, o->help);
            fputc('\n', out);
        }
        fputs(".PP\nExit status: ", out);
        man_text(out, c->statuses);
        fputs(".\n", out);
    }
}
