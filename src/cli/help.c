/* SPDX-License-Identifier: MIT */
/* Help of all subcommands: text, markdown, man page. */
#include "help.h"

#include <ctype.h>
#include <string.h>

#include "common.h"
#include "options.h"
#include "sub.h"

/** Whether the list of words has this one. */
static int has_word(const char *list, const char *name)
{
    char word[64];

    while (nb_next_word(&list, word, sizeof word))
        if (!strcmp(word, name))
            return 1;
    return 0;
}

/** Flags of a group: those in the list of words, or those that it lacks; returns how many. Without `out` only counts. */
static int print_of_group(FILE *out, const char *group, const char *list, int listed)
{
    int count = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (!strcmp(f->group, group) && has_word(list, f->name) == listed) {
            if (out)
                fprintf(out, " `-%s`", f->name);
            count++;
        }
    return count;
}

/** The borrowed flags as lines of markdown: of a group that is borrowed nearly whole, what is left out. */
static void markdown_borrowed(FILE *out, const nb_sub_command *c)
{
    if (has_word(c->borrowed, "*"))
        fputs("* all flags that describe a simulation\n", out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        int in, lacking;

        if (!nb_flag_begins_group(f))
            continue;
        in = print_of_group(NULL, f->group, c->borrowed, 1);
        lacking = print_of_group(NULL, f->group, c->borrowed, 0);
        if (!in)
            continue;
        fprintf(out, "* *%s*:", f->group);
        if (in < 3 * lacking) {
            print_of_group(out, f->group, c->borrowed, 1);
        } else {
            fprintf(out, " all%s", lacking ? " but" : "");
            print_of_group(out, f->group, c->borrowed, 0);
        }
        fputc('\n', out);
    }
}

static void sub_help_list(FILE *out)
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

/* All of them in the three forms of help. */
static void sub_help_markdown(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    for (size_t i = 0; i < count; i++) {
        const nb_sub_command *c = all[i];
        fprintf(out,
                "\n## nanobragg %s\n\n`nanobragg %s %s`\n\n%s; see "
                "[%s](%s).\n%s",
                c->name, c->name, c->usage, c->what, c->see, c->see,
                c->options->name ? "\n| flag | meaning |\n| --- | --- |\n" : "");
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
            fputs("\nAlso flags of these groups:\n\n", out);
            markdown_borrowed(out, c);
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

static void sub_help_man(FILE *out)
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

const nb_help_example nb_help_examples[] = {
    {"nanobragg -detpixels 1024", "a default crystal, to test the program"},
    {"nanobragg -hkl P1.hkl -cell 79.1 79.1 37.9 90 90 90 -N 20 -lambda 1 -detpixels "
     "1024",
     "a still of a protein"},
    {"nanobragg -pdb 1aki.pdb -N 30 -gauss_xtal -osc 0.5 -crystal_volume 125000 -flux "
     "1e10 "
     "-background water:0.1",
     "a rotation image of a crystal in water, in photons of a beamline"},
    {"nanobragg -default_F 100 -cell 100 -N 5 -trace_pixel 512 512",
     "every quantity of one pixel"},
    {"nanobragg compare new.bin reference.bin -diff difference.png",
     "how two images differ"},
    {NULL, NULL}};

void nb_help_usage(FILE *out)
{
    fputs("usage: nanobragg FLAGS   (nanobragg -help lists the flags)\n"
          "Simulates the X-ray diffraction image of a small crystal, in photons per "
          "pixel.\n"
          "for example:\n",
          out);
    for (const nb_help_example *e = nb_help_examples; e->command; e++)
        fprintf(out, "  %s\n      %s\n", e->command, e->what);
}

void nb_help_options(FILE *out)
{
    nb_help_usage(out);
    fputs("\nType one dash or two, and the whole name of a flag. If you type a flag "
          "twice, the last one\nis used. The unit is in [brackets], the default in "
          "(parentheses). nanobragg -help WORD lists\nwhat has a word in it, for example "
          "-help mosaic.\n",
          out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f)) {
            fprintf(out, "\n%s\n", f->group);
            nb_help_group(out, f->group, nb_help_flag);
        }
    sub_help_list(out);
    fputs("\nExit status: 0 done, 1 file, memory or device failed, 2 bad input, 130 "
          "stopped\nby SIGINT (Ctrl-C), SIGTERM or SIGHUP. No unfinished file is left "
          "then. A series\nkeeps its finished frames, and -resume continues with the "
          "next one.\n",
          out);
}

void nb_help_flags(FILE *out)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        const char *cursor = f->synonyms;
        char word[64];
        fprintf(out, "-%s\n", f->name);
        while (nb_next_word(&cursor, word, sizeof word))
            fprintf(out, "-%s\n", word);
    }
}

void nb_help_version(FILE *out)
{
    const nb_feature *part;

    fprintf(out, "nanobragg %s\n", nb_version());
    for (int i = 0; (part = nb_feature_at(i)); i++)
        fprintf(out, "  %-12s %-4s %s\n", part->name, part->present ? "yes" : "no",
                part->detail ? part->detail : "");
}

/* -help TOPIC: a part of the help. */

/** The groups with this word in their title; returns how many with those printed before. */
static int print_groups(FILE *out, const char *topic, int found)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f) && nb_flag_text_has(f->group, topic)) {
            fprintf(out, "%s%s\n", found++ ? "\n" : "", f->group);
            nb_help_group(out, f->group, nb_help_flag);
        }
    return found;
}

/** Flags with this word that are neither `printed` nor in a printed group; returns how many. */
static int print_others(FILE *out, const char *topic, const nb_flag *printed, int before)
{
    int found = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (f != printed && nb_flag_speaks_of(f, topic) &&
            !nb_flag_text_has(f->group, topic)) {
            if (!found++ && before)
                fprintf(out, "\nOther flags with this word\n");
            nb_help_flag(out, f);
        }
    return found;
}

/** Flags that a word of other programs means; returns how many. */
static int print_meant(FILE *out, const char *topic)
{
    const char *cursor = nb_flags_meant(topic);
    char word[64], dashed[66];
    int found = 0;

    while (nb_next_word(&cursor, word, sizeof word)) {
        snprintf(dashed, sizeof dashed, "-%s", word);
        nb_help_flag(out, nb_flag_find(dashed));
        found++;
    }
    return found;
}

/** The subcommands with this word in their name or purpose; returns how many. */
static int print_commands(FILE *out, const char *topic, int before)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);
    int found = 0;

    for (size_t i = 0; i < count; i++)
        if (nb_flag_text_has(all[i]->name, topic) ||
            nb_flag_text_has(all[i]->what, topic)) {
            fprintf(out, "%s  nanobragg %s -help: %s\n", before && !found ? "\n" : "",
                    all[i]->name, all[i]->what);
            found++;
        }
    return found;
}

/** The names of -detector with their figures. */
static void print_detectors(FILE *out)
{
    size_t count;
    const nb_known_detector *d = nb_known_detectors(&count);

    fputs("Names of -detector: pixels (of um), modules, sensor, largest count, binnings; "
          "source\n",
          out);
    for (size_t i = 0; i < count; i++, d++) {
        int size[2];
        if (!d->modules[0])
            continue;
        for (int k = 0; k < 2; k++)
            size[k] = d->modules[k] * d->module[k] + (d->modules[k] - 1) * d->gap[k];
        fprintf(out, "  %-16s %4d x %4d (%.6g)", d->name, size[0], size[1], d->pixel_um);
        if (d->gap[0])
            fprintf(out, ", %d x %d of %d x %d, gaps %d and %d", d->modules[0],
                    d->modules[1], d->module[0], d->module[1], d->gap[0], d->gap[1]);
        fprintf(out, ", %s %g um", d->sensor, d->sensor_um);
        if (d->saturation > 0)
            fprintf(out, ", %.0f", d->saturation);
        fprintf(out, "%s%s; %s\n", d->binnings ? ", binnings " : "",
                d->binnings ? d->binnings : "", d->source);
    }
    fputs("By -geom, since their modules move:", out);
    for (d = nb_known_detectors(&count); count-- > 0; d++)
        if (!d->modules[0])
            fprintf(out, " %s", d->name);
    fputc('\n', out);
}

nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err)
{
    const char *word = topic + strspn(topic, "-");
    char dashed[64];
    const nb_flag *flag;
    int found;

    if (!strcmp(topic, "detectors")) {
        print_detectors(out);
        return NB_OK;
    }
    snprintf(dashed, sizeof dashed, "-%s", word);
    flag = nb_flag_find(dashed);
    if (flag)
        nb_help_flag(out, flag);
    if (flag && topic != word)
        return NB_OK;
    found = flag != NULL;
    if (*word) {
        found = print_groups(out, word, found);
        found += print_others(out, word, flag, found);
        found += print_commands(out, word, found);
    }
    found += found ? 0 : print_meant(out, word);
    if (found)
        return NB_OK;
    return nb_cli_fail(err,
                       "-help '%.40s': no group, flag or help has this word; "
                       "nanobragg -help lists all",
                       word);
}

/* --- The flags as man page, markdown and bash completion --- */

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

/** Whether one row can hold both flags: all but their names is the same. */
static int shares_row(const nb_flag *a, const nb_flag *b)
{
    const char *unit_a = a->unit ? a->unit : "", *unit_b = b->unit ? b->unit : "";
    char text_a[200], text_b[200];

    return !strcmp(a->help, b->help) && !strcmp(unit_a, unit_b) && !nb_flag_note(a) &&
           !nb_flag_note(b) &&
           !strcmp(nb_flag_default(a, text_a, sizeof text_a),
                   nb_flag_default(b, text_b, sizeof text_b));
}

static void markdown_names(FILE *out, const nb_flag *flag)
{
    const char *cursor = flag->synonyms;
    char word[64], text[200];

    fprintf(out, "`-%s", flag->name);
    if (nb_param_value(flag, text, sizeof text)[0]) {
        fputc(' ', out);
        escaped(out, text, "|");
    }
    fputc('`', out);
    while (nb_next_word(&cursor, word, sizeof word))
        fprintf(out, " `-%s`", word);
}

/** The default in parentheses; "0 (off)" becomes "0: off". */
static void markdown_default(FILE *out, const nb_flag *flag)
{
    char text[200], before[200];
    const char *note;

    if (!nb_flag_default(flag, text, sizeof text)[0])
        return;
    note = text[strlen(text) - 1] == ')' ? strstr(text, " (") : NULL;
    snprintf(before, sizeof before, "%.*s", note ? (int)(note - text) : (int)strlen(text),
             text);
    fputs(" (", out);
    escaped(out, before, "|*_");
    if (note) {
        fputs(": ", out);
        escaped(out, note + 2, "|*_"); /* with its own closing parenthesis */
    } else {
        fputc(')', out);
    }
}

/** Print a row for the flag and the following flags that share it; nothing if it shares the row of
 * the flag before. */
static void markdown_row(FILE *out, const nb_flag *flag)
{
    const char *note = nb_flag_note(flag);
    const nb_flag *other = NULL;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f)) != flag;)
        other = f;
    if (other && shares_row(other, flag))
        return;
    fputs("| ", out);
    markdown_names(out, flag);
    for (other = flag; (other = nb_flag_next(other)) && shares_row(other, flag);) {
        fputs(", ", out);
        markdown_names(out, other);
    }
    if (flag->unit)
        fprintf(out, " [%s]", flag->unit);
    fputs(" | ", out);
    escaped(out, flag->help, "|*_");
    if (note) {
        fputs(": ", out);
        escaped(out, note, "|*_");
    }
    markdown_default(out, flag);
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
    fputs("# Options\n\nThis page lists every flag with its other names: the unit is in "
          "[brackets], the default in (parentheses). "
          "`nanobragg -help-markdown` writes it; do not edit it.\n\nType one dash or "
          "two, and "
          "the whole name of a flag. If you type a flag twice, the last one is used. A "
          "flag\n"
          "wins over the header of `-img` and `-mask`. An unknown flag, a missing value, "
          "a value "
          "out of range, or flags that\ncontradict each other give one line on standard "
          "error "
          "and exit status 2.\n",
          out);
    markdown_contents(out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f)) {
            fprintf(out,
                    "\n## %s\n\n| flag | meaning |\n"
                    "| --- | --- |\n",
                    f->group);
            nb_help_group(out, f->group, markdown_row);
        }
    sub_help_markdown(out);
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
    sub_help_man(out);
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
