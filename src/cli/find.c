/* SPDX-License-Identifier: MIT */
/* Looking flags up by their exact names. */
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

const char *nb_bare_name(const char *argument)
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
    const char *name = nb_bare_name(argument);

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
