/* SPDX-License-Identifier: MIT */
/* The words of -beamstop, and what goes together with shadows and added light. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

static const double WIDEST = 1e6; /* mm */

static nb_status refuse(const char *text, const char *why, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_INPUT,
        "-beamstop '%.60s': %s; give disc:diameter[:t] or bar:width:angle[:t], "
        "mm and deg, with commas between; t: transmission, 0",
        text, why);
}

/** One item, up to `end`. */
static nb_status read_item(const char *text, const char *end, nb_beamstop_words *out,
                           nb_error *err)
{
    const char *at = memchr(text, ':', (size_t)(end - text));
    double v[3] = {0};
    int n = 0, numbers;
    at = at ? at : end;
    out->bar = at - text == 3 && !memcmp(text, "bar", 3);
    if (!out->bar && (at - text != 4 || memcmp(text, "disc", 4)))
        return refuse(text, "an unknown shape", err);
    numbers = out->bar ? 2 : 1;
    for (; at < end && *at == ':' && n < numbers + 1; n++) {
        const char *number = at + 1;
        at = nb_text_double(number, end, &v[n]);
        if (!at)
            return refuse(text, "a number is missing or unreadable", err);
    }
    if (at != end || n < numbers)
        return refuse(text, n < numbers ? "a number is missing" : "too many words", err);
    out->size_mm = v[0];
    out->angle_deg = out->bar ? v[1] : 0;
    out->transmission = n > numbers ? v[numbers] : 0;
    if (!(v[0] > 0 && v[0] <= WIDEST))
        return refuse(text, "the size must be above 0, up to 1e6 mm", err);
    if (!(fabs(out->angle_deg) <= 1e6))
        return refuse(text, "the angle must be within 1e6 deg", err);
    if (!(out->transmission >= 0 && out->transmission <= 1))
        return refuse(text, "the transmission must be 0 to 1", err);
    return NB_OK;
}

nb_status nb_beamstop_read(const char *text, nb_beamstop_words out[NB_BEAMSTOP_MOST],
                           int *n, nb_error *err)
{
    nb_status st = NB_OK;
    *n = 0;
    while (*text && !st) {
        const char *end = text + strcspn(text, ",");
        if (*n == NB_BEAMSTOP_MOST)
            return refuse(text, "more than 16 items", err);
        st = read_item(text, end, &out[(*n)++], err);
        if (!st && *end && !end[1])
            return refuse(text, "an item is missing behind the last comma", err);
        text = end + (*end != 0);
    }
    return st;
}

nb_status nb_config_check_shadow(const nb_config *cfg, nb_error *err)
{
    const nb_param *const rows[] = {NB_ROW(beamstop), NB_ROW(transmission_file),
                                    NB_ROW(add_file)};
    nb_beamstop_words words[NB_BEAMSTOP_MOST];
    int n;
    nb_status st = nb_beamstop_read(cfg->beamstop, words, &n, err);
    for (size_t i = 0; !st && cfg->compat && i < sizeof rows / sizeof *rows; i++)
        if (nb_param_is_set(rows[i], cfg))
            st = nb_fail(err, NB_ERR_INPUT,
                         "-%s contradicts -compat: the old program has none; leave one "
                         "of them out",
                         rows[i]->name);
    return st;
}
