/* SPDX-License-Identifier: MIT */
#include "stale.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 18 }; /* of a number that fits 64 bits */

/** The number in a file's name of this pattern; -1: another form. */
static long long number_of(const char *name, const char *before, int digits,
                           const char *after)
{
    size_t skip = strlen(before), n;
    char again[MOST_DIGITS + 16];
    long long number;
    if (strncmp(name, before, skip) != 0)
        return -1;
    n = strspn(name + skip, "0123456789");
    if (n == 0 || n > MOST_DIGITS || strcmp(name + skip + n, after) != 0)
        return -1;
    number = strtoll(name + skip, NULL, 10);
    snprintf(again, sizeof again, "%0*lld", digits, number);
    return strlen(again) == n ? number : -1;
}

int nb_stale_count(const char *before, int digits, const char *after, int last,
                   char *first)
{
    const char *slash = strrchr(before, '/'), *prefix = slash ? slash + 1 : before;
    char folder[NB_PATH_MAX];
    long long lowest = 0;
    struct dirent *entry;
    int count = 0;
    DIR *dir;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - before) + 1 : 1,
             slash ? before : ".");
    if (strchr(after, '/') || digits > MOST_DIGITS || !(dir = opendir(folder)))
        return 0;
    while ((entry = readdir(dir)) != NULL) {
        long long number = number_of(entry->d_name, prefix, digits, after);
        if (number <= last)
            continue;
        if (count++ == 0 || number < lowest) {
            lowest = number;
            snprintf(first, NB_PATH_MAX, "%.*s%.255s", (int)(prefix - before), before,
                     entry->d_name);
        }
    }
    closedir(dir);
    return count;
}
