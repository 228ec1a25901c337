/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../base/error.h"
#include "../params/config.h"

int nb_series_part(const nb_series *s, int *first)
{
    const int frames = s->frames + s->stills;
    const char *text = s->only_frame;
    char *end;
    long from, to;
    if (first)
        *first = 0;
    if (!*text)
        return frames;
    from = to = strtol(text, &end, 10);
    if (end > text && *end == '-')
        to = strtol(end + 1, &end, 10);
    if (*end || from < 0 || to < from || to >= frames)
        return 0;
    if (first)
        *first = (int)from;
    return (int)(to - from) + 1;
}

nb_status nb_series_check_part(const nb_config *cfg, const nb_series *s, nb_error *err)
{
    const int frames = s->frames + s->stills;
    if (!s->only_frame[0] || (frames < 1 && !s->input[0]))
        return NB_OK;
    if (s->input[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-only_frame %s: given images are chosen by FILE.h5:k",
                       s->only_frame);
    if (!nb_series_part(s, NULL))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-only_frame %s: the series has frames 0 to %d; type one, or two and a "
            "minus as 0-%d",
            s->only_frame, frames - 1, frames - 1);
    if (!cfg->seed.set)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-only_frame %s needs -seed: each part of a series would have another one",
            s->only_frame);
    return NB_OK;
}

static nb_status choose_format(const char *text, nb_template *t, nb_error *err)
{
    const char *dot = strrchr(text, '.');
    char all[128];
    t->format = nb_format_of(text);
    if (t->format)
        return NB_OK;
    if (dot && (!strcasecmp(dot, ".h5") || !strcasecmp(dot, ".nxs")))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-output %.200s: HDF5 holds all frames in one master; use -hdf5 FILE", text);
    nb_format_extensions(all, sizeof all);
    return nb_fail(err, NB_ERR_INPUT,
                   "-output %.200s: the extension chooses the format and must be %s",
                   text, all);
}

/** Read "%d" or "%05d" at p. Returns its end, or NULL for another conversion. */
static const char *parse_number(const char *p, int *digits)
{
    char *end;
    long width = 0;
    p++;
    if (*p >= '0' && *p <= '9')
        width = strtol(p, &end, 10), p = end;
    if (*p != 'd' || width > 20)
        return NULL;
    *digits = (int)width;
    return p + 1;
}

nb_status nb_template_read(const char *text, const char *flag, nb_template *t,
                           nb_error *err)
{
    const char *p = text;
    char *to = t->before;
    int numbers = 0;
    memset(t, 0, sizeof *t);
    if (strlen(text) >= NB_PATH_MAX)
        return nb_fail(err, NB_ERR_INPUT, "%s %.60s...: longer than %d bytes", flag, text,
                       NB_PATH_MAX - 1);
    while (*p) {
        if (*p == '%' && p[1] == '%') {
            *to++ = '%';
            p += 2;
        } else if (*p == '%') {
            p = parse_number(p, &t->digits);
            if (!p || ++numbers > 1)
                return nb_fail(err, NB_ERR_INPUT,
                               "%s %.200s: write one %%d or %%05d for the frame's number",
                               flag, text);
            to = t->after;
        } else {
            *to++ = *p++;
        }
    }
    if (!numbers)
        return nb_fail(err, NB_ERR_INPUT,
                       "%s %.200s: the number of the frame is "
                       "missing; write %%05d in its place",
                       flag, text);
    return NB_OK;
}

nb_status nb_template_parse(const char *text, nb_template *t, nb_error *err)
{
    nb_status st = nb_template_read(text, "-output", t, err);
    return st ? st : choose_format(text, t, err);
}

/** Make a template from a single file name, which is divided before the extension. */
static nb_status take_name(const char *name, nb_template *t, nb_error *err)
{
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    const size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - name) : strlen(name);
    memset(t, 0, sizeof *t);
    t->is_name = 1;
    memcpy(t->before, name, n);
    snprintf(t->after, sizeof t->after, "%s", name + n);
    return choose_format(name, t, err);
}

nb_status nb_template_of(const nb_series *s, nb_template *t, nb_error *err)
{
    nb_status st;
    if (s->frames + s->stills == 1 && !s->only_frame[0] && !strchr(s->output, '%'))
        return take_name(s->output, t, err);
    st = nb_template_parse(s->output, t, err);
    t->is_part = s->only_frame[0] != 0;
    (void)nb_series_part(s, &t->first);
    return st;
}

const nb_format *nb_series_format(const nb_series *s)
{
    nb_template t;
    return s->output[0] && !nb_template_of(s, &t, NULL) ? t.format : NULL;
}

nb_status nb_template_name(const nb_template *t, int number, char *name, nb_error *err)
{
    int n = t->is_name ? snprintf(name, NB_PATH_MAX, "%s%s", t->before, t->after)
                       : snprintf(name, NB_PATH_MAX, "%s%0*d%s", t->before, t->digits,
                                  number + t->first, t->after);
    if (n < 0 || n >= NB_PATH_MAX)
        return nb_fail(err, NB_ERR_INPUT, "-output %.200s...: the file name is too long",
                       t->before);
    return NB_OK;
}

int nb_template_later(const nb_template *t, int number, char *name)
{
    enum { FAR = 1000 };
    for (int k = 1; k <= FAR; k++)
        if (!nb_template_name(t, number + k, name, NULL) && access(name, F_OK) == 0)
            return 1;
    return 0;
}
