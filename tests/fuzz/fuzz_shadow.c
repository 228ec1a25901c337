/* SPDX-License-Identifier: MIT */
/* The words of -beamstop and of -absorb: accepted words have sizes and factors within
 * their limits. */
#include <math.h>
#include <string.h>

#include "../../src/params/params.h"
#include "fuzz.h"

static int is_stop(const char *text)
{
    nb_beamstop_words items[NB_BEAMSTOP_MAX];
    nb_error err = {0};
    int n = -1;
    const nb_status st = nb_beamstop_read(text, items, &n, &err);
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0]));
    NB_FUZZ_CHECK(n >= 0 && n <= NB_BEAMSTOP_MAX);
    for (int i = 0; st == NB_OK && i < n; i++) {
        NB_FUZZ_CHECK(items[i].size_mm > 0 && isfinite(items[i].size_mm));
        NB_FUZZ_CHECK(isfinite(items[i].angle_deg));
        NB_FUZZ_CHECK(items[i].transmission >= 0 && items[i].transmission <= 1);
    }
    return st == NB_OK && n > 0;
}

static int is_body(const char *text)
{
    nb_absorb_words words;
    nb_error err = {0};
    const nb_status st = nb_absorb_read(text, &words, &err);
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0]));
    for (int i = 0; st == NB_OK && words.given && i < (words.box ? 3 : 1); i++)
        NB_FUZZ_CHECK(words.size_um[i] > 0 && words.size_um[i] <= 1e6);
    return st == NB_OK && words.given;
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    int good;
    NB_FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    good = is_stop(text) + is_body(text);
    NB_FUZZ_CHECK(good < 2);
    free(text);
    return good;
}

NB_FUZZ_ENTRY
