/* SPDX-License-Identifier: MIT */
/* Write the field of a parameter as text, and the form of its values for help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

/** A text that is being written. */
typedef struct writer {
    char *text;
    size_t size, used;
    const char *between;
} writer;

static void add(writer *w, const char *word)
{
    const char *between = w->used ? w->between : "";
    int n = w->used < w->size
                ? snprintf(w->text + w->used, w->size - w->used, "%s%s", between, word)
                : 0;
    w->used += (size_t)(n > 0 ? n : 0);
}

static void add_number(writer *w, double value)
{
    char text[NB_TEXT_NUMBER];
    nb_text_format(value, text);
    add(w, text);
}

static void add_numbers(writer *w, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        add_number(w, v[i]);
}

int nb_param_is_double(const nb_param *p)
{
    return p->kind == NB_KIND_NUMBER || p->kind == NB_KIND_DEPTH ||
           (p->kind == NB_KIND_NUMBER_OR && p->size == sizeof(double));
}

int nb_param_elements(const nb_param *p)
{
    return (int)(p->size / (nb_param_is_double(p) ? sizeof(double) : sizeof(int)));
}

double nb_param_element(const nb_param *p, const void *base, int i)
{
    const char *field = (const char *)base + p->offset;
    return nb_param_is_double(p) ? ((const double *)(const void *)field)[i]
                                 : ((const int *)(const void *)field)[i];
}

void nb_param_put_element(const nb_param *p, void *base, int i, double value)
{
    char *field = (char *)base + p->offset;
    if (nb_param_is_double(p))
        ((double *)(void *)field)[i] = value;
    else
        ((int *)(void *)field)[i] = (int)value;
}

int nb_param_is_unset(const nb_param *p, double x)
{
    return isnan(p->unset) ? isnan(x) : x == p->unset;
}

int nb_param_is_set(const nb_param *p, const void *base)
{
    const void *field = (const char *)base + p->offset;
    const nb_config *cfg = base;
    switch (p->kind) {
    case NB_KIND_PRESET:
        return *(const int *)field == (int)p->low;
    case NB_KIND_SWITCH:
    case NB_KIND_CHOICE:
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
    case NB_KIND_NUMBER_OR:
    case NB_KIND_DEPTH:
        for (int i = 0; i < nb_param_elements(p); i++)
            if (!nb_param_is_unset(p, nb_param_element(p, base, i)))
                return 1;
        return 0;
    case NB_KIND_VECTOR:
    case NB_KIND_POINT:
    case NB_KIND_POINT_MM:
        return ((const nb_opt3 *)field)->set != 0;
    case NB_KIND_FILE:
    case NB_KIND_TEXT:
    case NB_KIND_DEVICE:
        return **(const nb_text *)field != 0;
    case NB_KIND_SEED:
        return ((const nb_seed *)field)->set != 0;
    case NB_KIND_CELL:
        return cfg->cell_count > 0;
    case NB_KIND_MISSET:
        return cfg->misset_mode != NB_MISSET_NONE;
    case NB_KIND_ROI:
        return cfg->roi_set != 0;
    case NB_KIND_PNG_SCALE:
        return cfg->png.scale != NB_PNG_AUTO;
    case NB_KIND_PNG_RINGS:
        return cfg->png.rings > 0;
    }
    return 0;
}

static void add_elements(writer *w, const nb_param *p, const void *base)
{
    for (int i = 0; i < nb_param_elements(p); i++)
        add_number(w, nb_param_element(p, base, i));
}

static void add_three(writer *w, const nb_param *p, const nb_opt3 *three)
{
    for (int i = 0; i < 3; i++)
        add_number(w, p->kind == NB_KIND_POINT_MM ? three->v[i] * 1000.0 : three->v[i]);
}

static void add_png_scale(writer *w, const nb_png_options *png)
{
    w->between = ":";
    if (png->scale == NB_PNG_PERCENTILE) {
        add_number(w, png->percentile);
    } else {
        add_number(w, png->low);
        add_number(w, png->high);
    }
}

/** Add `word` if the value equals `number`, or else the value. */
static void add_word_or(writer *w, const nb_param *p, const void *base, double number,
                        const char *word)
{
    if (nb_param_element(p, base, 0) == number)
        add(w, word);
    else
        add_elements(w, p, base);
}

static void add_seed(writer *w, const nb_seed *seed)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)seed->value);
    add(w, text);
}

/** Add the value of a field that is set, or whose unset value is a value too. */
static void add_field(writer *w, const nb_param *p, const void *base)
{
    const void *field = (const char *)base + p->offset;
    const nb_config *cfg = base;
    switch (p->kind) {
    case NB_KIND_SWITCH:
        add(w, *(const int *)field ? "1" : "0");
        return;
    case NB_KIND_PRESET:
        add(w, *(const int *)field == (int)p->low ? "1" : "0");
        return;
    case NB_KIND_CHOICE:
        add(w, nb_param_choice(p->name, *(const int *)field));
        return;
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
    case NB_KIND_ROI:
        add_elements(w, p, base);
        return;
    case NB_KIND_VECTOR:
    case NB_KIND_POINT:
    case NB_KIND_POINT_MM:
        add_three(w, p, field);
        return;
    case NB_KIND_FILE:
    case NB_KIND_TEXT:
    case NB_KIND_DEVICE:
        add(w, *(const nb_text *)field);
        return;
    case NB_KIND_SEED:
        add_seed(w, field);
        return;
    case NB_KIND_CELL:
        add_numbers(w, cfg->cell, cfg->cell_count);
        return;
    case NB_KIND_MISSET:
        if (cfg->misset_mode == NB_MISSET_RANDOM)
            add(w, "random");
        else
            add_numbers(w, cfg->misset_deg, 3);
        return;
    case NB_KIND_DEPTH: /* 0 means that nothing is absorbed */
        add_word_or(w, p, base, 0, "inf");
        return;
    case NB_KIND_PNG_SCALE:
        add_png_scale(w, &cfg->png);
        return;
    case NB_KIND_PNG_RINGS:
        w->between = ",";
        add_numbers(w, cfg->png.ring_A, cfg->png.rings);
        return;
    case NB_KIND_NUMBER_OR:
        add_word_or(w, p, base, -1, p->choices[0]);
        return;
    }
}

int nb_param_allows(const nb_param *p, double x)
{
    int low = p->open & NB_OPEN_LOW ? x > p->low : x >= p->low;
    int high = p->open & NB_OPEN_HIGH ? x < p->high : x <= p->high;
    return low && high;
}

/** True if the unset value is a value that is written. */
static int unset_is_value(const nb_param *p)
{
    switch (p->kind) {
    case NB_KIND_SWITCH:
        return p->unset >= 0;
    case NB_KIND_PRESET:
        return 1;
    case NB_KIND_CHOICE:
        return p->choices[(int)p->unset][0] != 0;
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
    case NB_KIND_NUMBER_OR:
        return nb_param_allows(p, p->unset);
    default:
        return 0;
    }
}

nb_status nb_param_get(const nb_param *p, const void *base, const char *between,
                       char *text, size_t size, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(p && base && between && text && size);
    writer w = {text, size, 0, between};
    text[0] = 0;
    if (nb_param_is_set(p, base) || unset_is_value(p))
        add_field(&w, p, base);
    return w.used < size
               ? NB_OK
               : nb_fail(err, NB_ERR_INPUT, "%s: its value has more than %zu bytes",
                         p->name, size - 1);
}

/* --- forms of values --- */

/** For each kind: limits of the number of words of a value (0: one word per element), and
 * the form of the value. */
static const struct {
    int least, limit;
    const char *form;
} forms[] = {[NB_KIND_SWITCH] = {0, 1, ""},        [NB_KIND_PRESET] = {0, 1, ""},
             [NB_KIND_CHOICE] = {1, 1, "text"},    [NB_KIND_INTEGER] = {1, 0, "n"},
             [NB_KIND_NUMBER] = {1, 0, "x"},       [NB_KIND_VECTOR] = {3, 3, "x y z"},
             [NB_KIND_POINT] = {3, 3, "x y z"},    [NB_KIND_POINT_MM] = {3, 3, "x y z"},
             [NB_KIND_FILE] = {1, 1, "file"},      [NB_KIND_TEXT] = {1, 1, "text"},
             [NB_KIND_DEVICE] = {1, 1, "word"},    [NB_KIND_SEED] = {1, 1, "n"},
             [NB_KIND_CELL] = {1, 6, "x"},         [NB_KIND_MISSET] = {1, 3, "text"},
             [NB_KIND_ROI] = {4, 4, "x"},          [NB_KIND_DEPTH] = {1, 1, "text"},
             [NB_KIND_PNG_SCALE] = {1, 1, "text"}, [NB_KIND_PNG_RINGS] = {1, 1, "text"},
             [NB_KIND_NUMBER_OR] = {1, 1, "text"}};

const char *nb_param_kind_form(const nb_param *p)
{
    return forms[p->kind].form;
}

int nb_param_words(const nb_param *p, int *least)
{
    const int limit = forms[p->kind].limit ? forms[p->kind].limit : nb_param_elements(p);
    const int all = !forms[p->kind].limit && !(p->flags & NB_PARAM_FILLS);
    if (least)
        *least = all ? limit : forms[p->kind].least;
    return limit;
}

const char *nb_param_form(const nb_param *p, char *text, size_t size)
{
    const char *form = p->value ? p->value : p->choices ? "" : forms[p->kind].form;
    writer w = {text, size, 0, " | "};
    if (!size)
        return text;
    text[0] = 0;
    if (*form)
        add(&w, form);
    for (int i = 0; !p->value && p->choices && p->choices[i]; i++)
        if (p->choices[i][0])
            add(&w, p->choices[i]);
    return text;
}

/** True if the name is one of the words. */
static int is_among(const char *words, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = words; at && *at; at += *at == ' ') {
        if (*at == *name && !strncmp(at, name, length) &&
            (!at[length] || at[length] == ' '))
            return 1;
        while (*at && *at != ' ')
            at++;
    }
    return 0;
}

int nb_param_is_named(const nb_param *p, const char *name)
{
    return !strcmp(p->name, name) || is_among(p->synonyms, name);
}

/* For speed, names are compared before synonyms, and the first two letters before the
 * whole name. */
const nb_param *nb_param_find(const char *name)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    if (!name || !*name)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (table[i].name[0] == name[0] && table[i].name[1] == name[1] &&
            !strcmp(table[i].name, name))
            return &table[i];
    for (size_t i = 0; i < count; i++)
        if (is_among(table[i].synonyms, name))
            return &table[i];
    return NULL;
}

int nb_param_is(const nb_param *p, nb_member member)
{
    return !(p->flags & NB_PARAM_SERIES) && p->offset == member.offset &&
           p->size == member.size;
}

const nb_param *nb_param_of(nb_member member)
{
    size_t count;
    const nb_param *table = nb_params(&count), *view = NULL;
    for (size_t i = 0; i < count; i++)
        if (nb_param_is(&table[i], member)) {
            if (!(table[i].flags & NB_PARAM_VIEW))
                return &table[i];
            view = view ? view : &table[i];
        }
    return view;
}

const nb_param *nb_param_next(const nb_param *last, unsigned bits)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    for (const nb_param *p = last ? last + 1 : table; p < table + count; p++)
        if (p->flags & bits)
            return p;
    return NULL;
}

const nb_param *nb_param_first_set(unsigned bits, const nb_config *cfg)
{
    const nb_param *p = NULL;
    while ((p = nb_param_next(p, bits)) && !nb_param_is_set(p, cfg))
        ;
    return p;
}

int nb_param_makes_factors(const nb_param *p)
{
    return p->flags & NB_PARAM_FACTORS && !NB_IS(p, default_F) && !NB_IS(p, interpolate);
}

const char *nb_param_choice(const char *name, int value)
{
    const nb_param *p = nb_param_find(name);
    for (int i = 0; p && p->choices && p->choices[i]; i++)
        if (i == value)
            return p->choices[i];
    return "";
}
