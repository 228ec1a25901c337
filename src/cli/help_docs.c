/* SPDX-License-Identifier: MIT */
/* The option table as man page, markdown and bash completion. */
#include <string.h>

#include "help.h"
#include "options.h"
#include "sub.h"

/** Print text with a backslash before each character of `special`. */
static void escaped(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* --- markdown --- */

static void markdown_row(FILE *out, const nb_option *option)
{
    const char *cursor = option->synonyms;
    char word[64];
    int any = 0;

    fprintf(out, "| `-%s", option->name);
    if (option->value) {
        fputc(' ', out);
        escaped(out, option->value, "|");
    }
    fputs("` | ", out);
    while (nb_next_word(&cursor, word, sizeof word))
        fprintf(out, "%s`-%s`", any++ ? " " : "", word);
    fprintf(out, " | %s | ", option->unit ? option->unit : "");
    escaped(out, option->fallback ? option->fallback : "", "|*_");
    fputs(" | ", out);
    escaped(out, option->help, "|*_");
    if (option->note) {
        fputs(": ", out);
        escaped(out, option->note, "|*_");
    }
    fputs(" |\n", out);
}

void nb_help_markdown(FILE *out)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);

    fputs("# Options\n\nThis page lists every flag. It is made by `nanobragg "
          "-help-markdown` from the table in `src/cli/option_table.c`;\ndo not edit "
          "it.\n\nType one dash or two, and the whole name of a flag. If you type a flag "
          "twice, the last one is used. These are\nerrors: an unknown flag, a missing "
          "value, a value that is not a number or out of range, and two flags "
          "that\ncontradict each other. An error prints one line on standard error, and "
          "the exit status is 2. Header values of\n`-img` and `-mask` are defaults: a "
          "flag wins over them, before or after `-img`.\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind != NB_OPT_GROUP) {
            markdown_row(out, &table[i]);
            continue;
        }
        fprintf(out,
                "\n## %s\n\n| flag | also | unit | default | meaning |\n"
                "| --- | --- | --- | --- | --- |\n",
                table[i].name);
    }
    nb_sub_help_markdown(out);
}

/* --- man page --- */

static void man_option(FILE *out, const nb_option *option)
{
    const char *cursor = option->synonyms;
    char word[64];

    fputs(".TP\n.B \\-", out);
    escaped(out, option->name, "-\\");
    while (nb_next_word(&cursor, word, sizeof word)) {
        fputs(", \\-", out);
        escaped(out, word, "-\\");
    }
    if (option->value) {
        fputs(" \\fI", out);
        escaped(out, option->value, "-\\");
        fputs("\\fR", out);
    }
    fputc('\n', out);
    escaped(out, option->help, "-\\");
    if (option->unit)
        fprintf(out, " [%s]", option->unit);
    if (option->fallback) {
        fputs(" (default: ", out);
        escaped(out, option->fallback, "-\\");
        fputc(')', out);
    }
    fputc('\n', out);
}

static void man_examples(FILE *out)
{
    fputs(".SH EXAMPLES\n", out);
    for (const nb_help_example *e = nb_help_examples; e->command; e++) {
        fputs(".TP\n.B ", out);
        escaped(out, e->command, "-\\");
        fprintf(out, "\n%s\n", e->what);
    }
}

void nb_help_man(FILE *out)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);

    fprintf(out,
            ".TH NANOBRAGG 1 \"\" \"nanobragg %s\" \"User commands\"\n.SH "
            "NAME\nnanobragg \\- X\\-ray diffraction images of nanocrystals on an "
            "absolute scale\n.SH SYNOPSIS\n.B nanobragg\n.I flags\n.SH "
            "DESCRIPTION\nRenders the diffraction image of a small crystal in photons "
            "per pixel, and writes it as 32\\-bit floats, as SMV image with and without "
            "Poisson noise, and as pictures.\n.PP\nType one dash or two, and the whole "
            "name of a flag. If you type a flag twice, the last one is used. The unit is "
            "in [brackets], the default in (parentheses).\n.SH OPTIONS\n",
            nb_version());
    for (size_t i = 0; i < count; i++)
        if (table[i].kind == NB_OPT_GROUP)
            fprintf(out, ".SS %s\n", table[i].name);
        else
            man_option(out, &table[i]);
    nb_sub_help_man(out);
    man_examples(out);
    fputs(".SH EXIT STATUS\n.TP\n.B 0\nall images were made\n.TP\n.B 1\na file, the "
          "memory or the device failed\n.TP\n.B 2\nbad input: a flag, a value, a file's "
          "content\n.TP\n.B 130\nstopped by SIGINT (Ctrl\\-C), SIGTERM or SIGHUP. No "
          "unfinished file is left. A single image leaves none of its files. A series "
          "keeps its finished frames: type the same flags and \\-resume to continue. A "
          "second SIGINT or SIGTERM stops the program at once; no temporary file is "
          "left.\n.PP\nA signal ends compare, run\\-compare and view at once; they have "
          "no status for it.\n",
          out);
}

/* --- bash completion --- */

/** -name|-synonym|... */
static void bash_spellings(FILE *out, const nb_option *option)
{
    const char *cursor = option->synonyms;
    char word[64];

    fprintf(out, "-%s", option->name);
    while (nb_next_word(&cursor, word, sizeof word))
        fprintf(out, "|-%s", word);
}

/** The spellings of all options for which `of` is true, as alternatives of a case. */
static void bash_case(FILE *out, int (*of)(const nb_option *option))
{
    size_t count;
    const nb_option *table = nb_option_table(&count);
    int any = 0;

    for (size_t i = 0; i < count; i++)
        if (of(&table[i])) {
            fputs(any++ ? "|" : "", out);
            bash_spellings(out, &table[i]);
        }
}

static int is_path(const nb_option *option)
{
    return option->kind == NB_OPT_PATH;
}

static int is_numeric(const nb_option *option)
{
    switch (option->kind) {
    case NB_OPT_INT:
    case NB_OPT_NUMBER:
    case NB_OPT_VECTOR:
    case NB_OPT_POINT:
    case NB_OPT_SEED:
    case NB_OPT_CELL:
        return 1;
    default:
        return 0;
    }
}

static void bash_words(FILE *out, const nb_option *option)
{
    const char *device;
    fputs("    ", out);
    bash_spellings(out, option);
    fputs(")\n        mapfile -t COMPREPLY < <(compgen -W '", out);
    switch (option->kind) {
    case NB_OPT_WORD:
        for (const nb_option_word *w = option->words; w->text; w++)
            fprintf(out, "%s%s", w == option->words ? "" : " ", w->text);
        break;
    case NB_OPT_DEVICE:
        for (int i = 0; (device = nb_device_word(i)); i++)
            if (!nb_device_check(device, NULL)) /* not the one with N for a number */
                fprintf(out, "%s%s", i ? " " : "", device);
        break;
    default:
        fputs(option->kind == NB_OPT_MISSET ? "random" : "inf", out);
        break;
    }
    fputs("' -- \"$word\")\n        ;;\n", out);
}

static void bash_subcommands(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? " " : "", all[i]->name);
}

static int has_words(const nb_option *option)
{
    return option->kind == NB_OPT_WORD || option->kind == NB_OPT_DEVICE ||
           option->kind == NB_OPT_MISSET || option->kind == NB_OPT_DEPTH;
}

void nb_help_bash(FILE *out)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);

    fputs("# bash completion for nanobragg; made by nanobragg -help-bash\n"
          "_nanobragg()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    flag=${flag#-}\n    flag=-${flag#-}\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ] && [ -n \"$word\" ] && [ \"${word#-}\" = "
          "\"$word\" ]; "
          "then\n        mapfile -t COMPREPLY < <(compgen -W '",
          out);
    bash_subcommands(out);
    fputs("' -- \"$word\")\n        return\n    fi\n"
          "    case $flag in\n    ",
          out);
    bash_case(out, is_path);
    fputs(")\n        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n        "
          "return\n        ;;\n"
          "    ",
          out);
    bash_case(out, is_numeric);
    fputs(")\n        return\n        ;;\n", out);
    for (size_t i = 0; i < count; i++)
        if (has_words(&table[i]))
            bash_words(out, &table[i]);
    fputs("    esac\n    [ ${#COMPREPLY[@]} -gt 0 ] && return\n"
          "    mapfile -t COMPREPLY < <(compgen -W '",
          out);
    for (size_t i = 0; i < count; i++)
        if (table[i].kind != NB_OPT_GROUP)
            fprintf(out, " -%s", table[i].name);
    fputs("' -- \"$word\")\n}\ncomplete -o filenames -F _nanobragg nanobragg\n", out);
}
