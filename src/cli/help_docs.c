/* SPDX-License-Identifier: MIT */
/* The flags as man page, markdown and bash completion. */
#include <ctype.h>
#include <string.h>

#include "help.h"
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

static void markdown_row(FILE *out, const nb_flag *flag)
{
    const char *cursor = flag->synonyms;
    const char *note = nb_flag_note(flag);
    char word[64], text[200];
    int any = 0;

    fprintf(out, "| `-%s", flag->name);
    if (nb_param_value(flag, text, sizeof text)[0]) {
        fputc(' ', out);
        escaped(out, text, "|");
    }
    fputs("` | ", out);
    while (nb_next_word(&cursor, word, sizeof word))
        fprintf(out, "%s`-%s`", any++ ? " " : "", word);
    fprintf(out, " | %s | ", flag->unit ? flag->unit : "");
    escaped(out, nb_flag_default(flag, text, sizeof text), "|*_");
    fputs(" | ", out);
    escaped(out, flag->help, "|*_");
    if (note) {
        fputs(": ", out);
        escaped(out, note, "|*_");
    }
    fputs(" |\n", out);
}

/** A line of the table of contents: a heading, and its anchor as GitHub makes it. */
static void markdown_entry(FILE *out, const char *heading)
{
    fprintf(out, "* [%s](#", heading);
    for (const char *c = heading; *c; c++)
        if (isalnum((unsigned char)*c) || strchr("_-", *c))
            fputc(tolower((unsigned char)*c), out);
        else if (*c == ' ')
            fputc('-', out);
    fputs(")\n", out);
}

/** The table of contents, between the lines that tests/lint/contents.py looks for. */
static void markdown_contents(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);
    char heading[64];

    fputs("\n<!-- contents -->\n\n", out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f))
            markdown_entry(out, f->group);
    for (size_t i = 0; i < count; i++) {
        snprintf(heading, sizeof heading, "nanobragg %s", all[i]->name);
        markdown_entry(out, heading);
    }
    fputs("\n<!-- end of contents -->\n", out);
}

void nb_help_markdown(FILE *out)
{
    fputs("# Options\n\nThis page lists every flag. It is made by `nanobragg "
          "-help-markdown` from the table in `src/params/table.c`;\ndo not edit "
          "it.\n\nType one dash or two, and the whole name of a flag. If you type a flag "
          "twice, the last one is used. These are\nerrors: an unknown flag, a missing "
          "value, a value that is not a number or out of range, and two flags "
          "that\ncontradict each other. An error prints one line on standard error, and "
          "the exit status is 2. Header values of\n`-img` and `-mask` are defaults: a "
          "flag wins over them, before or after `-img`.\n",
          out);
    markdown_contents(out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f)) {
            fprintf(out,
                    "\n## %s\n\n| flag | also | unit | default | meaning |\n"
                    "| --- | --- | --- | --- | --- |\n",
                    f->group);
            nb_help_group(out, f->group, markdown_row);
        }
    nb_sub_help_markdown(out);
}

/* --- man page --- */

static void man_flag(FILE *out, const nb_flag *flag)
{
    const char *cursor = flag->synonyms;
    char word[64], text[200];

    fputs(".TP\n.B \\-", out);
    escaped(out, flag->name, "-\\");
    while (nb_next_word(&cursor, word, sizeof word)) {
        fputs(", \\-", out);
        escaped(out, word, "-\\");
    }
    if (nb_param_value(flag, text, sizeof text)[0]) {
        fputs(" \\fI", out);
        escaped(out, text, "-\\");
        fputs("\\fR", out);
    }
    fputc('\n', out);
    escaped(out, flag->help, "-\\");
    if (flag->unit)
        fprintf(out, " [%s]", flag->unit);
    if (nb_flag_default(flag, text, sizeof text)[0]) {
        fputs(" (default: ", out);
        escaped(out, text, "-\\");
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
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f)) {
            fprintf(out, ".SS %s\n", f->group);
            nb_help_group(out, f->group, man_flag);
        }
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
static void bash_spellings(FILE *out, const nb_flag *flag)
{
    const char *cursor = flag->synonyms;
    char word[64];

    fprintf(out, "-%s", flag->name);
    while (nb_next_word(&cursor, word, sizeof word))
        fprintf(out, "|-%s", word);
}

/** The spellings of all flags for which `of` is true, as alternatives of a case. */
static void bash_case(FILE *out, int (*of)(const nb_flag *flag))
{
    int any = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (of(f)) {
            fputs(any++ ? "|" : "", out);
            bash_spellings(out, f);
        }
}

static int is_path(const nb_flag *flag)
{
    return flag->kind == NB_KIND_FILE;
}

static int has_words(const nb_flag *flag)
{
    return flag->choices || flag->kind == NB_KIND_DEVICE ||
           flag->kind == NB_KIND_MISSET || flag->kind == NB_KIND_DEPTH;
}

static int is_numeric(const nb_flag *flag)
{
    switch (flag->kind) {
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
    case NB_KIND_VECTOR:
    case NB_KIND_POINT:
    case NB_KIND_POINT_MM:
    case NB_KIND_SEED:
    case NB_KIND_CELL:
    case NB_KIND_ROI:
        return !flag->choices;
    default:
        return 0;
    }
}

static void bash_words(FILE *out, const nb_flag *flag)
{
    const char *word;
    int any = 0;
    fputs("    ", out);
    bash_spellings(out, flag);
    fputs(")\n        mapfile -t COMPREPLY < <(compgen -W '", out);
    for (int i = 0; flag->choices && flag->choices[i]; i++)
        if (flag->choices[i][0])
            fprintf(out, "%s%s", any++ ? " " : "", flag->choices[i]);
    for (int i = 0; flag->kind == NB_KIND_DEVICE && (word = nb_device_word(i)); i++)
        if (!nb_device_check(word, NULL)) /* not the one with N for a number */
            fprintf(out, "%s%s", i ? " " : "", word);
    if (flag->kind == NB_KIND_MISSET || flag->kind == NB_KIND_DEPTH)
        fputs(flag->kind == NB_KIND_MISSET ? "random" : "inf", out);
    fputs("' -- \"$word\")\n        ;;\n", out);
}

static void bash_subcommands(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? " " : "", all[i]->name);
}

void nb_help_bash(FILE *out)
{
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
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (has_words(f))
            bash_words(out, f);
    fputs("    esac\n    [ ${#COMPREPLY[@]} -gt 0 ] && return\n"
          "    mapfile -t COMPREPLY < <(compgen -W '",
          out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        fprintf(out, " -%s", f->name);
    fputs("' -- \"$word\")\n}\ncomplete -o filenames -F _nanobragg nanobragg\n", out);
}
