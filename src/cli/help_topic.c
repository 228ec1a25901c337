/* SPDX-License-Identifier: MIT */
/* -help TOPIC: a part of the help. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "help.h"
#include "options.h"
#include "values.h"

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
    size_t count;
    const nb_option *table = nb_option_table(&count);
    int inside = 0, found = 0;

    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == NB_OPT_GROUP) {
            inside = has_word(table[i].name, topic);
            if (inside)
                fprintf(out, "%s%s\n", found ? "\n" : "", table[i].name);
            found |= inside;
        } else if (inside) {
            nb_help_option(out, &table[i]);
        }
    }
    return found;
}

/** The flags with this word in their name, their synonyms or their help. */
static int print_flags(FILE *out, const char *topic)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);
    int found = 0;

    for (size_t i = 0; i < count; i++)
        if (table[i].kind != NB_OPT_GROUP &&
            (has_word(table[i].name, topic) || has_word(table[i].synonyms, topic) ||
             has_word(table[i].help, topic))) {
            nb_help_option(out, &table[i]);
            found = 1;
        }
    return found;
}

int nb_help_knows(const char *word)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);

    for (size_t i = 0; i < count && *word; i++)
        if (has_word(table[i].name, word) || has_word(table[i].help, word))
            return 1;
    return 0;
}

nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err)
{
    char dashed[64];
    const nb_option *option;

    topic += strspn(topic, "-");
    snprintf(dashed, sizeof dashed, "-%s", topic);
    option = nb_option_find(dashed);
    if (*topic && print_groups(out, topic))
        return NB_OK;
    if (option) {
        nb_help_option(out, option);
        return NB_OK;
    }
    if (*topic && print_flags(out, topic))
        return NB_OK;
    return nb_cli_fail(err,
                       "-help '%.40s': no group, flag or help has this word; "
                       "nanobragg -help lists all",
                       topic);
}
