/* SPDX-License-Identifier: MIT */
/* Looking flags up, exactly and nearly. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

int nb_next_word(const char **cursor, char *word, size_t size)
{
    size_t length;

    if (!*cursor)
        return 0;
    *cursor += strspn(*cursor, " ");
    length = strcspn(*cursor, " ");
    if (!length || length >= size)
        return 0;
    memcpy(word, *cursor, length);
    word[length] = '\0';
    *cursor += length;
    return 1;
}

/** The name behind one or two dashes, or NULL. */
static const char *bare_name(const char *argument)
{
    if (argument[0] != '-')
        return NULL;
    argument += argument[1] == '-' ? 2 : 1;
    return *argument ? argument : NULL;
}

static int named(const nb_option *option, const char *name)
{
    const char *cursor = option->synonyms;
    char word[64];

    if (option->kind == NB_OPT_GROUP)
        return 0;
    if (!strcmp(option->name, name))
        return 1;
    while (nb_next_word(&cursor, word, sizeof word))
        if (!strcmp(word, name))
            return 1;
    return 0;
}

const nb_option *nb_option_find(const char *argument)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);
    const char *name = bare_name(argument);

    for (size_t i = 0; name && i < count; i++)
        if (named(&table[i], name))
            return &table[i];
    return NULL;
}

size_t nb_option_index(const nb_option *option)
{
    size_t count;
    return (size_t)(option - nb_option_table(&count));
}

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

#define NAME_MAX_LENGTH 48

/** Levenshtein distance without regard to case; two equal texts give 0. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_MAX_LENGTH + 1];
    int n = (int)strlen(b);

    if (n > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
            int here = least(row[j + 1] + 1, row[j] + 1, diagonal + !same);
            diagonal = row[j + 1];
            row[j + 1] = here;
        }
    }
    return row[n];
}

int nb_option_nearest(const char *argument, char *nearest, size_t size)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);
    const char *name = bare_name(argument);
    int best = name ? 1 + (int)strlen(name) / 2 : 0;
    int found = 0;

    for (size_t i = 0; name && i < count; i++) {
        char word[64];
        const char *cursor = table[i].synonyms;
        if (table[i].kind == NB_OPT_GROUP)
            continue;
        snprintf(word, sizeof word, "%s", table[i].name);
        do {
            int distance = edit_distance(name, word);
            if (distance < best) {
                best = distance;
                found = 1;
                snprintf(nearest, size, "%s", word);
            }
        } while (nb_next_word(&cursor, word, sizeof word));
    }
    return found;
}
