/* SPDX-License-Identifier: MIT */
/* -help TOPIC: a part of the help. */
#include <string.h>

#include "common.h"
#include "help.h"
#include "sub.h"

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

nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err)
{
    const char *word = topic + strspn(topic, "-");
    char dashed[64];
    const nb_flag *flag;
    int found;

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
    if (found)
        return NB_OK;
    return nb_cli_fail(err,
                       "-help '%.40s': no group, flag or help has this word; "
                       "nanobragg -help lists all",
                       word);
}
