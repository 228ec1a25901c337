/* SPDX-License-Identifier: MIT */
/* Defaults: a configuration without typed values, and settings with all defaults. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/text.h"
#include "../physics/shapes.h"
#include "params.h"

static void set_default(const nb_param *p, void *base)
{
    const int keeps = p->kind == NB_KIND_FILE && p->flags & NB_PARAM_OUTPUT &&
                      p->fallback && !(p->flags & NB_PARAM_SERIES);
    if (nb_param_is_text(p))
        *(nb_text *)(void *)((char *)base + p->offset) = keeps ? p->fallback : nb_no_text;
    else
        for (int i = 0; i < nb_param_elements(p); i++)
            nb_param_put_element(p, base, i, p->unset);
}

static void set_defaults(void *base, size_t bytes, unsigned of_series)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    memset(base, 0, bytes);
    for (size_t i = 0; i < count; i++)
        if ((table[i].flags & (NB_PARAM_VIEW | NB_PARAM_SERIES)) == of_series)
            set_default(&table[i], base);
}

void nb_config_defaults(nb_config *cfg)
{
    if (cfg)
        set_defaults(cfg, sizeof *cfg, 0);
}

void nb_series_defaults(nb_series *series)
{
    if (series)
        set_defaults(series, sizeof *series, NB_PARAM_SERIES);
}

nb_config *nb_configs_new(size_t n, nb_error *err)
{
    nb_config *all = nb_alloc(n, sizeof *all, "configurations", err);
    for (size_t i = 0; all && i < n; i++)
        nb_config_defaults(&all[i]);
    return all;
}

nb_status nb_config_create(nb_config **cfg, nb_error *err)
{
    return (*cfg = nb_configs_new(1, err)) ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_series_create(nb_series **series, nb_error *err)
{
    if (!(*series = nb_alloc(1, sizeof **series, "a series", err)))
        return NB_ERR_NOMEM;
    nb_series_defaults(*series);
    return NB_OK;
}

/* Make nb_settings from an nb_config. */

/** Number or choice at the start of a fallback. NaN if the fallback is a rule, such as
 * "10 with -mosaic". */
static double fallback_of(const nb_param *p)
{
    const char *text = p->fallback ? p->fallback : "", *end = text;
    double value;
    if (p->kind != NB_KIND_CHOICE && !(*text >= '0' && *text <= '9'))
        return NAN;
    while (*end && !strchr(" ,;", *end))
        end++;
    if (*end == ' ' && end[1] != '(')
        return NAN;
    for (int i = 0; p->kind == NB_KIND_CHOICE && p->choices[i]; i++)
        if (end > text && strlen(p->choices[i]) == (size_t)(end - text) &&
            !memcmp(p->choices[i], text, (size_t)(end - text)))
            return i;
    return p->kind != NB_KIND_CHOICE && nb_text_double(text, end, &value) == end ? value
                                                                                 : NAN;
}

/** First row of the double at this offset in nb_config. *fallback gets the default that
 * its rows have. */
static const nb_param *row_at(size_t offset, double *fallback)
{
    size_t n;
    const nb_param *table = nb_params(&n), *found = NULL;
    *fallback = NAN;
    for (size_t i = 0; i < n && isnan(*fallback); i++)
        if (!(table[i].flags & NB_PARAM_SERIES) &&
            offset - table[i].offset < table[i].size && nb_param_is_double(&table[i])) {
            found = found ? found : &table[i];
            *fallback = fallback_of(&table[i]);
        }
    return found;
}

static double value_at(const nb_config *cfg, size_t offset)
{
    double value;
    memcpy(&value, (const char *)cfg + offset, sizeof value);
    return value;
}

int nb_config_given(const nb_config *cfg, size_t offset)
{
    double fallback;
    const nb_param *row = row_at(offset, &fallback);
    return row && !nb_param_is_unset(row, value_at(cfg, offset));
}

double nb_config_value_or(const nb_config *cfg, size_t offset, double other)
{
    return nb_config_given(cfg, offset) ? value_at(cfg, offset) : other;
}

double nb_config_value(const nb_config *cfg, size_t offset)
{
    double fallback, value = value_at(cfg, offset);
    const nb_param *row = row_at(offset, &fallback);
    return row && !nb_param_is_unset(row, value) ? value : fallback;
}

static void mark_typed(nb_settings *s, size_t offset)
{
    s->typed[offset / 128] |= 1u << offset / 4 % 32;
}

static void resolve_elements(const nb_param *p, double fallback, const nb_config *typed,
                             nb_settings *out)
{
    const int n = nb_param_elements(p);
    const size_t bytes = p->size / (size_t)n;
    for (int i = 0; i < n; i++) {
        if (!nb_param_is_unset(p, nb_param_element(p, typed, i)))
            mark_typed(out, p->offset + (size_t)i * bytes);
        else if (!isnan(fallback))
            nb_param_put_element(p, &out->value, i, fallback);
    }
}

static void resolve_row(const nb_param *p, const nb_config *typed, nb_settings *out)
{
    const double fallback = fallback_of(p);
    switch (p->kind) {
    case NB_KIND_PRESET:
        return;
    case NB_KIND_SWITCH:
    case NB_KIND_CHOICE:
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
    case NB_KIND_NUMBER_OR:
    case NB_KIND_DEPTH:
        resolve_elements(p, fallback, typed, out);
        return;
    default:
        if (nb_param_is_set(p, typed))
            mark_typed(out, p->offset);
        else if (p->kind == NB_KIND_SEED && !isnan(fallback))
            *(nb_seed *)(void *)((char *)&out->value + p->offset) =
                (nb_seed){1, (int64_t)fallback};
    }
}

const nb_settings *nb_resolve(const nb_config *typed, nb_settings *out)
{
    size_t n;
    const nb_param *p = nb_params(&n);
    out->value = *typed;
    memset(out->typed, 0, sizeof out->typed);
    for (size_t i = 0; i < n; i++)
        if (!(p[i].flags & NB_PARAM_SERIES))
            resolve_row(&p[i], typed, out);
    /* g for which the integral of exp(-2 g R^2/width) is 1 */
    if (typed->fudge == NB_FUDGE_DARWIN)
        out->value.fudge = nb_shape_row_of((int)typed->shape).width * NB_PI / 2;
    if (typed->compat && !NB_TYPED(out, layer_depth))
        out->value.layer_depth = NB_LAYER_FRONT;
    return out;
}

int nb_is_typed(const nb_settings *s, size_t offset)
{
    return s->typed[offset / 128] >> offset / 4 % 32 & 1;
}

void nb_settings_put(nb_settings *s, size_t offset, double value)
{
    memcpy((char *)&s->value + offset, &value, sizeof value);
    mark_typed(s, offset);
}

int nb_mosaic_widen(double to, double from, int typed, nb_config *cfg)
{
    double *const aniso = cfg->mosaic_aniso_deg.v, *const tensor = cfg->mosaic_tensor_deg2;
    const int n = cfg->mosaic_aniso_deg.set           ? 3
                  : NB_GIVEN(cfg, mosaic_tensor_deg2) ? 6
                                                      : 0;
    for (int i = 0; i < n; i++) {
        double *x = n == 3 ? &aniso[i] : &tensor[i];
        *x = n == 3 ? *x * to / from : *x * (to / from) * (to / from);
        if (typed)
            *x = nb_typeable(*x);
    }
    return n > 0;
}
