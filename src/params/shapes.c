/* SPDX-License-Identifier: MIT */
/* The words of -footprint, -beamstop and -absorb: a shape and its numbers, as box:1:2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

enum { NUMBERS = 3 };

/** A shape that a flag accepts, with `least` to `limit` numbers. */
typedef struct shape {
    const char *name;
    int least, limit;
} shape;

/** The words of a text. */
typedef struct words {
    int which; /* index of the shape */
    int n;
    double v[NUMBERS]; /* missing numbers are 0 */
} words;

/** Split text..end into words. Returns the reason of a failure, or NULL. */
static const char *read_shape(const char *text, const char *end, const shape shapes[2],
                              words *out)
{
    const char *at = memchr(text, ':', (size_t)(end - text));
    const shape *s = shapes;
    *out = (words){0};
    at = at ? at : end;
    while (strlen(s->name) != (size_t)(at - text) ||
           memcmp(s->name, text, (size_t)(at - text)) != 0)
        if (++s == shapes + 2)
            return "an unknown shape";
    out->which = (int)(s - shapes);
    for (; at < end && *at == ':' && out->n < s->limit; out->n++)
        if (!(at = nb_text_double(at + 1, end, &out->v[out->n])))
            return "a number is missing or unreadable";
    return out->n < s->least ? "a number is missing" : at < end ? "too many words" : NULL;
}

static int is_within(double x, double limit)
{
    return x >= 0 && x <= limit;
}

/* --- -footprint --- */

nb_status nb_footprint_read(const char *text, nb_footprint_words *out, nb_error *err)
{
    static const shape shapes[] = {{"gauss", 2, 3}, {"box", 2, 3}};
    const double widest = 1000; /* mm; limit of a width */
    words w;
    const char *why;
    *out = (nb_footprint_words){0};
    if (!*text)
        return NB_OK;
    why = read_shape(text, text + strlen(text), shapes, &w);
    if (!why && !(is_within(w.v[0], widest) && is_within(w.v[1], widest)))
        why = "widths must be 0 to 1000 mm";
    else if (!why && !(fabs(w.v[2]) <= 1e6))
        why = "the angle must be within 1e6 deg";
    if (why)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-footprint '%.60s': %s; give gauss:a:b:angle (full widths at half "
            "maximum, mm) or box:a:b:angle (edges, mm), angle in deg",
            text, why);
    *out = (nb_footprint_words){w.which, w.v[0], w.v[1], w.v[2]};
    return NB_OK;
}

const char *nb_footprint_write(const nb_footprint_words *from, char *text, size_t size)
{
    const double v[NUMBERS] = {from->a_mm, from->b_mm, from->angle_deg};
    snprintf(text, size, "%s", from->box ? "box" : "gauss");
    for (int i = 0; i < NUMBERS; i++) {
        char number[NB_TEXT_NUMBER];
        size_t n = strlen(text);
        nb_text_format(v[i], number);
        snprintf(text + n, size - n, ":%s", number);
    }
    return text;
}

/* --- -beamstop --- */

static const char *read_item(const char *text, const char *end, nb_beamstop_words *out)
{
    static const shape shapes[] = {{"disc", 1, 2}, {"bar", 2, 3}};
    words w;
    const char *why = read_shape(text, end, shapes, &w);
    *out = (nb_beamstop_words){w.which, w.v[0], w.which ? w.v[1] : 0, w.v[1 + w.which]};
    if (why)
        return why;
    if (!(w.v[0] > 0 && w.v[0] <= 1e6))
        return "the size must be above 0, up to 1e6 mm";
    if (!(fabs(out->angle_deg) <= 1e6))
        return "the angle must be within 1e6 deg";
    return is_within(out->transmission, 1) ? NULL : "the transmission must be 0 to 1";
}

nb_status nb_beamstop_read(const char *text, nb_beamstop_words out[NB_BEAMSTOP_MAX],
                           int *n, nb_error *err)
{
    for (*n = 0; *text;) {
        const char *end = text + strcspn(text, ",");
        const char *why = *n == NB_BEAMSTOP_MAX ? "more than 16 items"
                                                : read_item(text, end, &out[(*n)++]);
        if (!why && *end && !end[1])
            why = "an item is missing behind the last comma";
        if (why)
            return nb_fail(
                err, NB_ERR_INPUT,
                "-beamstop '%.60s': %s; give disc:diameter[:t] or bar:width:angle[:t], "
                "mm and deg, with commas between; t: transmission, 0",
                text, why);
        text = end + (*end != 0);
    }
    return NB_OK;
}

/* --- -absorb --- */

nb_status nb_absorb_read(const char *text, nb_absorb_words *out, nb_error *err)
{
    static const shape shapes[] = {{"sphere", 1, 1}, {"box", 3, 3}};
    words w;
    const char *why;
    *out = (nb_absorb_words){0};
    if (!*text)
        return NB_OK;
    why = read_shape(text, text + strlen(text), shapes, &w);
    for (int i = 0; i < w.n && !why; i++)
        if (!(w.v[i] > 0 && w.v[i] <= 1e6))
            why = "sizes must be above 0, up to 1e6 um";
    if (why)
        return nb_fail(err, NB_ERR_INPUT,
                       "-absorb '%.60s': %s; give sphere:diameter or box:x:y:z, um", text,
                       why);
    out->given = 1;
    out->box = w.which;
    memcpy(out->size_um, w.v, sizeof w.v);
    return NB_OK;
}
