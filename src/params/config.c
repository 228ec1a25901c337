/* SPDX-License-Identifier: MIT */
/* The configuration by names of parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "params.h"

/* Programs that were compiled before count on it: a new member takes its bytes from `reserved`. */
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(nb_config) == 65536 && sizeof(nb_series) == 8192),
               "nb_config and nb_series keep their sizes");

static void set_default(const nb_param *p, nb_config *cfg)
{
    void *field = (char *)cfg + p->offset;
    switch (p->kind) {
    case NB_KIND_SWITCH:
    case NB_KIND_CHOICE:
    case NB_KIND_INTEGER:
        for (int i = 0; i < nb_param_elements(p); i++)
            ((int *)field)[i] = (int)p->unset;
        return;
    case NB_KIND_NUMBER:
        for (int i = 0; i < nb_param_elements(p); i++)
            ((double *)field)[i] = p->unset;
        return;
    case NB_KIND_NUMBER_OR:
        if (p->size == sizeof(int))
            *(int *)field = (int)p->unset;
        else
            *(double *)field = p->unset;
        return;
    case NB_KIND_DEPTH:
        *(double *)field = p->unset;
        return;
    case NB_KIND_FILE:
        if (p->flags & NB_PARAM_OUTPUT && p->fallback)
            snprintf(field, p->size, "%s", p->fallback);
        return;
    default: /* zero */
        return;
    }
}

void nb_config_defaults(nb_config *cfg)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    if (!cfg)
        return;
    memset(cfg, 0, sizeof *cfg);
    for (size_t i = 0; i < count; i++)
        if (!(table[i].flags & (NB_PARAM_VIEW | NB_PARAM_SERIES)))
            set_default(&table[i], cfg);
}

/** The row of a configuration's parameter; messages call it by the name that was asked for. */
static nb_status find(const char *name, nb_param *row, nb_error *err)
{
    const nb_param *p = nb_param_find(name);
    if (!p)
        return nb_fail(err, NB_ERR_INPUT, "unknown parameter '%.60s'", name);
    if (p->flags & NB_PARAM_SERIES)
        return nb_fail(err, NB_ERR_INPUT, "%.40s: belongs to nb_series, not to nb_config",
                       name);
    *row = *p;
    row->name = name;
    return NB_OK;
}

/** Cut text[] at its blanks; as many words as a value can have and one more. */
static int split(char *text, const char *words[NB_PARAM_WORDS + 1])
{
    int n = 0;
    for (char *at = text + strspn(text, " "); *at && n <= NB_PARAM_WORDS;) {
        char *end = at + strcspn(at, " ");
        words[n++] = at;
        at = end + strspn(end, " ");
        *end = 0;
    }
    return n;
}

nb_status nb_config_set(nb_config *cfg, const char *name, const char *text, nb_error *err)
{
    NB_REFUSE_NULL(cfg && name && text);
    char copy[NB_PARAM_TEXT];
    const char *words[NB_PARAM_WORDS + 1] = {text};
    nb_param row;
    nb_status st = find(name, &row, err);
    int n = 1;
    if (st)
        return st;
    if (strlen(text) >= sizeof copy)
        return nb_fail(err, NB_ERR_INPUT, "%.40s: the text is longer than %zu bytes",
                       name, sizeof copy - 1);
    if (row.kind != NB_KIND_FILE && row.kind != NB_KIND_TEXT) {
        memcpy(copy, text, strlen(text) + 1);
        n = split(copy, words);
    }
    return nb_param_set(&row, cfg, words, n, err);
}

nb_status nb_config_set_numbers(nb_config *cfg, const char *name, const double *values,
                                int n, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && name && (values || n == 0));
    char text[NB_PARAM_WORDS][40];
    const char *words[NB_PARAM_WORDS];
    nb_param row;
    nb_status st = find(name, &row, err);
    if (st)
        return st;
    if (n < 0 || n > NB_PARAM_WORDS)
        return nb_fail(err, NB_ERR_INPUT, "%.40s: no parameter has %d numbers", name, n);
    for (int i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "%.17g", values[i]);
        words[i] = text[i];
    }
    return nb_param_set(&row, cfg, words, n, err);
}

nb_status nb_config_get(const nb_config *cfg, const char *name, char *text, size_t size,
                        nb_error *err)
{
    NB_REFUSE_NULL(cfg && name);
    nb_param row;
    nb_status st = find(name, &row, err);
    return st ? st : nb_param_get(&row, cfg, " ", text, size, err);
}
