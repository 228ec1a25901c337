/* SPDX-License-Identifier: MIT */
/* -help TOPIC: a part of the help. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common.h"
#include "help.h"

/** Whether a word of the text begins with this one. */
static int has_word(const char *text, const char *word)
{
    for (const char *at = text; text && *at; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) &&
            !strncasecmp(at, word, strlen(word)))
            return 1;
    return 0;
}

/** The groups with this word in their title. */
static int print_groups(FILE *out, const char *topic)
{
    int found = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f) && has_word(f->group, topic)) {
            fprintf(out, "%s%s\n", found++ ? "\n" : "", f->group);
            nb_help_group(out, f->group, nb_help_flag);
        }
    return found;
}

/** The flags with this word in their name, their synonyms or their help. */
static int print_flags(FILE *out, const char *topic)
{
    int found = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (has_word(f->name, topic) || has_word(f->synonyms, topic) ||
            has_word(f->help, topic)) {
            nb_help_flag(out, f);
            found = 1;
        }
    return found;
}

int nb_help_knows(const char *word)
{
    for (const nb_flag *f = NULL; *word && (f = nb_flag_next(f));)
        if (has_word(f->group, word) || has_word(f->name, word) || has_word(f->help, word))
            return 1;
    return 0;
}

nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err)
{
    char dashed[64];
    const nb_flag *flag;

    topic += strspn(topic, "-");
    snprintf(dashed, sizeof dashed, "-%s", topic);
    flag = nb_flag_find(dashed);
    if (*topic && print_groups(out, topic))
        return NB_OK;
    if (flag) {
        nb_help_flag(out, flag);
        return NB_OK;
    }
    if (*topic && print_flags(out, topic))
        return NB_OK;
    return nb_cli_fail(err,
                       "-help '%.40s': no group, flag or help has this word; "
                       "nanobragg -help lists all",
                       topic);
}
