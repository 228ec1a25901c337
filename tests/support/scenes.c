/* SPDX-License-Identifier: MIT */
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

static int is_name(const char *at)
{
    return at[0] == '-' && (at[1] < '0' || at[1] > '9') && at[1] != '.';
}

void nb_words(nb_config *cfg, const char *words)
{
    const char *at = words;
    while (*(at += strspn(at, " "))) {
        const char *name = at + 1, *end;
        char key[64], value[256];
        nb_error err;
        end = at += strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)(end - name), name);
        at += strspn(at, " ");
        while (*at && !is_name(at)) { /* the value ends before the next name */
            at += strcspn(at, " ");
            at += strspn(at, " ");
        }
        end += strspn(end, " ");
        snprintf(value, sizeof value, "%.*s", (int)(at - end), end);
        value[strcspn(value, "\n")] = 0;
        for (size_t n = strlen(value); n > 0 && value[n - 1] == ' '; n--)
            value[n - 1] = 0;
        if (nb_put(cfg, key, value[0] ? value : "1", &err) != NB_OK) {
            fprintf(stderr, "%s: %s\n", words, err.message);
            exit(2);
        }
    }
}
