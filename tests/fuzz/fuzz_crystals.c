/* SPDX-License-Identifier: MIT */
/* Lines of -crystals: each line of an accepted text either sets the same values each
 * time, or fails each time with a message. */
#include <string.h>

#include "../../src/sim/crystals.h"
#include "../support/picture.h"
#include "fuzz.h"

/** Returns 1 if all lines can be applied. */
static int check_lines(const nb_crystal_lines *lines, const nb_config *base)
{
    static nb_config a, b;
    int good = 1;
    NB_FUZZ_CHECK(lines->n > 0 && lines->n <= NB_CRYSTALS_MAX);
    for (int i = 0; i < lines->n; i++) {
        nb_error err = {0};
        nb_status st;
        nb_config_copy(&a, base);
        nb_config_copy(&b, base);
        st = nb_crystal_lines_apply(lines, i, &a, &err);
        NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0]));
        NB_FUZZ_CHECK(nb_crystal_lines_apply(lines, i, &b, NULL) == st &&
                      (st || nb_same_config(&a, &b)));
        good = good && !st;
    }
    nb_config_drop(&a);
    nb_config_drop(&b);
    return good;
}

/** Reads the input as the text of the flag if it can be one, else as a file. */
int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    static nb_config base;
    nb_error err = {0};
    nb_crystal_lines lines = {0};
    nb_status st;
    int n, good = 0;
    char *text = malloc(size + 1);
    NB_FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&base, 0, sizeof base);
    nb_config_defaults(&base);
    if (nb_crystals_kind_of(text, &n) == NB_CRYSTALS_LIST && strlen(text) == size &&
        size < (size_t)nb_param_find("crystals")->high) {
        st = nb_crystal_lines_read(text, &lines, &err);
        free(text);
    } else {
        st = nb_crystal_lines_cut(text, size, "fuzz.jsonl", &lines, &err);
    }
    if (st == NB_OK)
        good = check_lines(&lines, &base);
    else
        NB_FUZZ_CHECK(err.code == st && err.message[0]);
    nb_crystal_lines_free(&lines);
    return good;
}

NB_FUZZ_ENTRY
