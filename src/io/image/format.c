/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../base/text.h"

#define ADDRESS_OF(name) &nb_format_##name,
static const nb_format *const formats[] = {NB_FORMATS(ADDRESS_OF)};

enum { N_FORMATS = sizeof formats / sizeof *formats };

/** True if `word` is one of the words. */
static int is_among(const char *word, const char *words)
{
    char one[NB_TEXT_WORD];
    while (nb_text_word(&words, one))
        if (strcasecmp(one, word) == 0)
            return 1;
    return 0;
}

const nb_format *nb_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < N_FORMATS; i++)
        if (is_among(dot, formats[i]->extensions))
            return formats[i];
    return NULL;
}

const nb_writer *nb_format_writer(const nb_format *format, int bits)
{
    return format->narrow && bits == 16 ? format->narrow : format->writer;
}

void nb_format_extensions(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < N_FORMATS && used < size; i++) {
        const char *before = i == 0 ? "" : i + 1 < N_FORMATS ? ", " : " or ";
        const char *words = formats[i]->extensions;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", before,
                                 (int)strcspn(words, " "), words);
    }
}
