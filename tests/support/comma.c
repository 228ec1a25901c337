/* SPDX-License-Identifier: MIT */
#include "comma.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "picture.h"

/* A locale for localedef, which also reads a charmap. No package is needed. */
static const char source[] = "comment_char %\nescape_char /\nLC_NUMERIC\n"
                             "decimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
                             "END LC_NUMERIC\n";

static int write_charmap(const char *path)
{
    FILE *file = fopen(path, "w");
    int i;
    if (!file)
        return 0;
    fputs("<code_set_name> ASCII\n<escape_char> /\nCHARMAP\n", file);
    for (i = 0; i < 128; i++)
        fprintf(file, "<U%04X> /x%02x c\n", (unsigned)i, (unsigned)i);
    fputs("END CHARMAP\n", file);
    return fclose(file) == 0;
}

int nb_set_comma_locale(void)
{
    char text[NB_PATH_MAX], charmap[NB_PATH_MAX], folder[NB_PATH_MAX],
        command[5 * NB_PATH_MAX];
    nb_scratch_path(text, "comma.src");
    nb_scratch_path(charmap, "comma.cm");
    nb_scratch_path(folder, "locales");
    if (!nb_scratch_write(text, source, sizeof source - 1) || !write_charmap(charmap))
        return 0;
    snprintf(command, sizeof command,
             "mkdir -p '%s' && localedef -c -f '%s' -i '%s' '%s/comma' >/dev/null 2>&1",
             folder, charmap, text, folder);
    (void)!system(command); /* the status is 1 because some categories are left out */
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_NUMERIC, "comma") && localeconv()->decimal_point[0] == ',';
}

void nb_unset_comma_locale(void)
{
    char folder[NB_PATH_MAX], command[2 * NB_PATH_MAX];
    setlocale(LC_NUMERIC, "C");
    nb_scratch_path(folder, "locales");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    (void)!system(command);
}
