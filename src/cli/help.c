/* SPDX-License-Identifier: MIT */
/* Help as text and as JSON. */
#include "options.h"

#include <ctype.h>
#include <string.h>

#include "../params/params.h"
#include "../base/text.h"
#include "common.h"
#include "sub.h"

static void sub_help_list(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    fputs("\nSubcommands (nanobragg NAME -help)\n", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-23s %s\n", all[i]->name, all[i]->what);
}

/** Examples and their results, up to a NULL command. */
static const struct example {
    const char *command, *what;
} examples[] = {
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
    for (const struct example *e = examples; e->command; e++)
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
            nb_help_group(out, f->group);
        }
    sub_help_list(out);
    fputs("\nExit status: 0 done, 1 file, memory or device failed, 2 bad input, 130 "
          "stopped\nby SIGINT (Ctrl-C), SIGTERM, SIGHUP, SIGUSR1 or -time_limit. No "
          "unfinished file\nis left then. A series keeps its finished frames, and "
          "-resume continues with the\nnext one.\n",
          out);
}

void nb_help_version(FILE *out)
{
    const nb_feature *part;

    fprintf(out, "nanobragg %s\n", nb_version());
    for (int i = 0; (part = nb_feature_at(i)); i++)
        fprintf(out, "  %-12s %-4s %s\n", part->name, part->present ? "yes" : "no",
                part->detail ? part->detail : "");
}

/* --- A part of the help: -help TOPIC --- */

/** Print groups with this word in the title; returns `found` plus their number. */
static int print_groups(FILE *out, const char *topic, int found)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f) && nb_flag_text_has(f->group, topic)) {
            fprintf(out, "%s%s\n", found++ ? "\n" : "", f->group);
            nb_help_group(out, f->group);
        }
    return found;
}

/** Print flags with this word, except `printed` and printed groups; returns how many. */
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

/** Print the flags that correspond to a word of other programs; returns their number. */
static int print_meant(FILE *out, const char *topic)
{
    const char *cursor = nb_flags_meant(topic);
    char word[64], dashed[66];
    int found = 0;

    while (nb_text_word(&cursor, word)) {
        snprintf(dashed, sizeof dashed, "-%s", word);
        nb_help_flag(out, nb_flag_find(dashed));
        found++;
    }
    return found;
}

/** Print subcommands with this word in name or purpose; returns their number. */
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

/** Print the names of -detector with their figures. */
static void print_detectors(FILE *out)
{
    size_t count;
    const nb_known_detector *d = nb_known_detectors(&count);

    fputs("Names of -detector: pixels (of um), modules, sensor, largest count, binnings; "
          "source\n",
          out);
    for (size_t i = 0; i < count; i++, d++) {
        if (!d->modules[0])
            continue;
        fprintf(out, "  %-16s %4d x %4d (%.6g)", d->name, nb_detector_pixels(d, 0, 1),
                nb_detector_pixels(d, 1, 1), d->pixel_um);
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

/* --- JSON --- */

/** Print "key":"text", or nothing without a text. */
static void json_text(FILE *out, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(out, ",\"%s\":\"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/** Kind of the value of a flag: "file", "number", "text", or "" without a value. */
static const char *kind_of(const nb_flag *flag)
{
    const char *form = nb_param_kind_form(flag);
    return !form[0] || !strcmp(form, "file")               ? form
           : strchr("nx", form[0]) /* "n", "x", "x y z" */ ? "number"
                                                           : "text";
}

/** Words that a flag takes, separated by blanks. */
static const char *words_of(const nb_flag *flag, char *text, size_t size)
{
    const char *word;
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; flag->choices && flag->choices[i]; i++)
        if (flag->choices[i][0])
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "",
                                  flag->choices[i]);
    for (int i = 0; flag->kind == NB_KIND_DEVICE && (word = nb_device_word(i)); i++)
        if (!nb_device_check(word, NULL)) /* words without the number of a device */
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", word);
    if (flag->kind == NB_KIND_MISSET || flag->kind == NB_KIND_DEPTH)
        snprintf(text, size, "%s", flag->kind == NB_KIND_MISSET ? "random" : "inf");
    return text;
}

static void json_flag(FILE *out, const nb_flag *flag)
{
    char text[200];
    fprintf(out, "{\"name\":\"%s\"", flag->name);
    json_text(out, "synonyms", flag->synonyms);
    json_text(out, "group", flag->group);
    json_text(out, "value", nb_param_value(flag, text, sizeof text));
    json_text(out, "unit", flag->unit);
    json_text(out, "default", nb_param_default(flag, text, sizeof text));
    json_text(out, "kind", kind_of(flag));
    json_text(out, "words", words_of(flag, text, sizeof text));
    json_text(out, "note", nb_flag_note(flag));
    json_text(out, "help", flag->help);
    fputc('}', out);
}

static void json_command(FILE *out, const nb_sub_command *c)
{
    fprintf(out, "{\"name\":\"%s\"", c->name);
    json_text(out, "usage", c->usage);
    json_text(out, "what", c->what);
    json_text(out, "page", c->see);
    json_text(out, "statuses", c->statuses);
    json_text(out, "flags", c->borrowed);
    fputs(",\"options\":[", out);
    for (const nb_sub_option *o = c->options; o->name; o++) {
        fprintf(out, "%s{\"name\":\"%s\"", o == c->options ? "" : ",", o->name);
        json_text(out, "value", o->value);
        json_text(out, "help", o->help);
        fputc('}', out);
    }
    fputs("]}", out);
}

void nb_help_json(FILE *out)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);
    fprintf(out, "{\"version\":\"%s\",\n\"flags\":[\n", nb_version());
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        json_flag(out, f);
        fputs(nb_flag_next(f) ? ",\n" : "],\n\"subcommands\":[\n", out);
    }
    for (size_t i = 0; i < count; i++) {
        json_command(out, all[i]);
        fputs(i + 1 < count ? ",\n" : "],\n\"examples\":[\n", out);
    }
    for (const struct example *e = examples; e->command; e++) {
        fputs("{\"program\":\"nanobragg\"", out);
        json_text(out, "command", e->command);
        json_text(out, "what", e->what);
        fputs(e[1].command ? "},\n" : "}]}\n", out);
    }
}
