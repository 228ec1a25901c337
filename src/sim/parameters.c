/* SPDX-License-Identifier: MIT */
/* The public calls on parameters by name.  The words of -device are checked here, since
 * src/params does not know devices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../params/params.h"

const char *nb_param_value(const nb_param *p, char *text, size_t size)
{
    const char *word;
    size_t used = 0;
    if (p->kind != NB_KIND_DEVICE || !size)
        return nb_param_form(p, text, size);
    text[0] = 0;
    for (int i = 0; (word = nb_device_word(i)) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " | " : "", word);
    return text;
}

const char *nb_param_default(const nb_param *p, char *text, size_t size)
{
    int numeric = p->kind == NB_KIND_NUMBER || p->kind == NB_KIND_INTEGER;

    text[0] = '\0';
    if (p->fallback)
        snprintf(text, size, "%s", p->fallback);
    else if (p->kind == NB_KIND_CHOICE)
        snprintf(text, size, "%s", p->choices[(int)p->unset]);
    else if (numeric && isfinite(p->unset) && p->unset != 0)
        snprintf(text, size, "%g", p->unset);
    return text;
}

nb_status nb_param_set(const nb_param *p, void *base, const char *const *words, int n,
                       nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(p && base && (words || n == 0));
    char label[NB_PARAM_LABEL], list[160];
    if (p->kind == NB_KIND_DEVICE &&
        (n != 1 || !words[0][0] || nb_device_check(words[0], NULL)))
        return nb_fail(err, NB_ERR_INPUT, "%s '%.60s': must be one of %s",
                       nb_param_label(p, label), n ? words[0] : "",
                       nb_param_value(p, list, sizeof list));
    return nb_param_put(p, base, words, n, err);
}

nb_status nb_config_check(const nb_config *cfg, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg);
    nb_status st = nb_config_check_rules(cfg, err);
    return st ? st : nb_device_check(cfg->device, err);
}

/** Copy the row of a parameter, with the name that the caller used.  of_series:
 * NB_PARAM_SERIES for a member of nb_series, 0 for a member of nb_config. */
static nb_status find(const char *name, unsigned of_series, nb_param *row, nb_error *err)
{
    const nb_param *p = nb_param_find(name);
    if (!p)
        return nb_fail(err, NB_ERR_INPUT, "unknown parameter '%.60s'", name);
    if ((p->flags & NB_PARAM_SERIES) != of_series)
        return nb_fail(err, NB_ERR_INPUT, "%.40s: belongs to %s", name,
                       of_series ? "nb_config, not to nb_series"
                                 : "nb_series, not to nb_config");
    *row = *p;
    row->name = name;
    return NB_OK;
}

/** Cut text[] at its blanks into words, up to one more than a value can have. */
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

static nb_status set_text(void *base, unsigned of_series, const char *name,
                          const char *text, nb_error *err)
{
    NB_REFUSE_NULL(base && name && text);
    char copy[NB_PARAM_TEXT];
    const char *words[NB_PARAM_WORDS + 1] = {text};
    nb_param row;
    nb_status st = find(name, of_series, &row, err);
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
    return nb_param_set(&row, base, words, n, err);
}

nb_status nb_config_set(nb_config *cfg, const char *name, const char *text, nb_error *err)
{
    return set_text(cfg, 0, name, text, err);
}

nb_status nb_series_set(nb_series *series, const char *name, const char *text,
                        nb_error *err)
{
    return set_text(series, NB_PARAM_SERIES, name, text, err);
}

nb_status nb_config_set_number(nb_config *cfg, const char *name, double value,
                               nb_error *err)
{
    return nb_config_set_array(cfg, name, &value, 1, err);
}

nb_status nb_config_set_array(nb_config *cfg, const char *name, const double *values,
                              int n, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && name && (values || n == 0));
    char text[NB_PARAM_WORDS][40];
    const char *words[NB_PARAM_WORDS];
    nb_param row;
    nb_status st;
    NB_FORWARD(find(name, 0, &row, err));
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
    nb_status st = find(name, 0, &row, err);
    return st ? st : nb_param_get(&row, cfg, " ", text, size, err);
}
