/* SPDX-License-Identifier: MIT */
/* The words of -absorb. */
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

static nb_status refuse(const char *text, const char *why, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "-absorb '%.60s': %s; give sphere:diameter or box:x:y:z, um", text,
                   why);
}

nb_status nb_absorb_read(const char *text, nb_absorb_words *out, nb_error *err)
{
    const char *at = text + strcspn(text, ":"), *end = text + strlen(text);
    int n = 0, numbers;
    *out = (nb_absorb_words){0};
    if (!*text)
        return NB_OK;
    out->given = 1;
    out->box = at - text == 3 && !memcmp(text, "box", 3);
    if (!out->box && (at - text != 6 || memcmp(text, "sphere", 6)))
        return refuse(text, "an unknown shape", err);
    numbers = out->box ? 3 : 1;
    for (; *at == ':' && n < numbers; n++) {
        at = nb_text_double(at + 1, end, &out->size_um[n]);
        if (!at)
            return refuse(text, "a number is missing or unreadable", err);
        if (!(out->size_um[n] > 0 && out->size_um[n] <= 1e6))
            return refuse(text, "sizes must be above 0, up to 1e6 um", err);
    }
    if (*at || n < numbers)
        return refuse(text, n < numbers ? "a number is missing" : "too many words", err);
    return NB_OK;
}

nb_status nb_config_check_absorb(const nb_config *cfg, nb_error *err)
{
    nb_absorb_words words;
    nb_status st;
    NB_FORWARD(nb_absorb_read(cfg->absorb, &words, err));
    if (words.given != (cfg->absorb_mu[0] != 0))
        return nb_fail(err, NB_ERR_INPUT, "%s",
                       words.given ? "-absorb needs -absorb_mu, 1/mm or formula:density"
                                   : "-absorb_mu needs -absorb");
    if (words.given && cfg->compat)
        return nb_fail(err, NB_ERR_INPUT,
                       "-absorb contradicts -compat: the old program has none; leave one "
                       "of them out");
    return NB_OK;
}
