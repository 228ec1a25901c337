/* SPDX-License-Identifier: MIT */
/* The texts of nb_config and nb_series. Copies share a text; the last holder frees it. */
#include <string.h>

#include "../base/memory.h"
#include "../base/store.h"
#include "params.h"

const char nb_no_text[1] = "";

int nb_param_is_text(const nb_param *p)
{
    return p->kind == NB_KIND_FILE || p->kind == NB_KIND_TEXT || p->kind == NB_KIND_DEVICE;
}

static int has_text(const nb_param *p, unsigned of_series)
{
    return nb_param_is_text(p) &&
           (p->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW)) == of_series;
}

/** True for a shared text; false for a static text of the library. */
static int is_shared(const nb_param *p, nb_text text)
{
    return text && text != nb_no_text && text != p->fallback;
}

/** Add a holder to each text of a configuration. */
static void hold_texts(nb_config *base)
{
    size_t count;
    const nb_param *p = nb_params(&count);
    for (size_t i = 0; i < count; i++) {
        nb_text *text = (nb_text *)(void *)((char *)base + p[i].offset);
        if (has_text(&p[i], 0) && is_shared(&p[i], *text))
            nb_shared_hold(*text);
    }
}

/** Remove a holder from each text of the struct and leave nb_no_text. */
static void drop_texts(void *base, unsigned of_series)
{
    size_t count;
    const nb_param *p = nb_params(&count);
    for (size_t i = 0; i < count; i++) {
        nb_text *text = (nb_text *)(void *)((char *)base + p[i].offset);
        if (!has_text(&p[i], of_series))
            continue;
        if (is_shared(&p[i], *text))
            nb_shared_drop(*text);
        *text = nb_no_text;
    }
}

/** True for the default name of a written file, which is static memory of its row. */
static int is_default(nb_text text)
{
    size_t count;
    const nb_param *p = nb_params(&count);
    for (size_t i = 0; text && i < count; i++)
        if (text == p[i].fallback)
            return 1;
    return 0;
}

nb_status nb_text_put(nb_text *to, const char *text, nb_error *err)
{
    nb_text copy = nb_no_text;
    if (text[0] && !(copy = nb_shared_copy(text, strlen(text) + 1, "a text", err)))
        return NB_ERR_NOMEM;
    if (*to != nb_no_text && !is_default(*to))
        nb_shared_drop(*to);
    *to = copy;
    return NB_OK;
}

nb_text nb_text_at(const void *base, size_t offset)
{
    return *(const nb_text *)(const void *)((const char *)base + offset);
}

int nb_param_same(const nb_param *p, const void *a, const void *b)
{
    if (nb_param_is_text(p))
        return !strcmp(nb_text_at(a, p->offset), nb_text_at(b, p->offset));
    return !memcmp((const char *)a + p->offset, (const char *)b + p->offset, p->size);
}

void nb_param_copy(const nb_param *p, void *to, const void *from)
{
    if (nb_param_is_text(p)) {
        const nb_text old = nb_text_at(to, p->offset), text = nb_text_at(from, p->offset);
        if (is_shared(p, text))
            nb_shared_hold(text);
        if (is_shared(p, old))
            nb_shared_drop(old);
    }
    memcpy((char *)to + p->offset, (const char *)from + p->offset, p->size);
}

void nb_config_copy(nb_config *to, const nb_config *from)
{
    nb_config old = *to;
    if (to == from)
        return;
    *to = *from;
    hold_texts(to);
    drop_texts(&old, 0);
}

void nb_config_drop(nb_config *cfg)
{
    if (cfg)
        drop_texts(cfg, 0);
}

void nb_configs_free(nb_config *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++)
        nb_config_drop(&all[i]);
    nb_free(all);
}

void nb_config_free(nb_config *cfg)
{
    nb_configs_free(cfg, 1);
}

void nb_series_drop(nb_series *series)
{
    if (series)
        drop_texts(series, NB_PARAM_SERIES);
}

void nb_series_free(nb_series *series)
{
    nb_series_drop(series);
    nb_free(series);
}

void nb_series_set_calls(nb_series *series, const nb_series_calls *calls)
{
    if (series && calls)
        series->calls = *calls;
}
