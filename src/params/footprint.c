/* SPDX-License-Identifier: MIT */
/* The words of -footprint. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

static const double WIDEST = 1000; /* mm */

static nb_status refuse(const char *text, const char *why, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "-footprint '%.60s': %s; give gauss:a:b:angle (full widths at half "
                   "maximum, mm) or box:a:b:angle (edges, mm), angle in deg",
                   text, why);
}

nb_status nb_footprint_read(const char *text, nb_footprint_words *out, nb_error *err)
{
    const char *at = text + strcspn(text, ":"), *end = text + strlen(text);
    double v[3] = {0};
    int n = 0;
    *out = (nb_footprint_words){0};
    if (!*text)
        return NB_OK;
    out->box = at - text == 3 && !memcmp(text, "box", 3);
    if (!out->box && (at - text != 5 || memcmp(text, "gauss", 5)))
        return refuse(text, "an unknown shape", err);
    for (; *at == ':' && n < 3; n++) {
        const char *number = at + 1;
        at = nb_text_double(number, end, &v[n]);
        if (!at)
            return refuse(text, "a number is missing or unreadable", err);
    }
    if (*at || n < 2)
        return refuse(text, n < 2 ? "two widths are needed" : "too many words", err);
    if (!(v[0] >= 0 && v[0] <= WIDEST && v[1] >= 0 && v[1] <= WIDEST))
        return refuse(text, "widths must be 0 to 1000 mm", err);
    if (!(fabs(v[2]) <= 1e6))
        return refuse(text, "the angle must be within 1e6 deg", err);
    out->a_mm = v[0];
    out->b_mm = v[1];
    out->angle_deg = v[2];
    return NB_OK;
}

const char *nb_footprint_write(const nb_footprint_words *words, char *text, size_t size)
{
    const double v[3] = {words->a_mm, words->b_mm, words->angle_deg};
    snprintf(text, size, "%s", words->box ? "box" : "gauss");
    for (int i = 0; i < 3; i++) {
        char number[NB_TEXT_NUMBER];
        size_t n = strlen(text);
        nb_text_format(v[i], number);
        snprintf(text + n, size - n, ":%s", number);
    }
    return text;
}

nb_status nb_config_check_footprint(const nb_config *cfg, nb_error *err)
{
    nb_footprint_words words;
    nb_status st = nb_footprint_read(cfg->footprint, &words, err);
    if (!st && cfg->compat && cfg->footprint[0])
        st =
            nb_fail(err, NB_ERR_INPUT,
                    "-footprint contradicts -compat: the old program has none; leave one "
                    "of them out");
    return st;
}
