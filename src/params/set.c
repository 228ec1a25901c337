/* SPDX-License-Identifier: MIT */
/* Convert words to the field of a parameter, and refuse all that does not fit. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/error.h"
#include "params.h"

/* Enumerations of the configuration are ints in every supported ABI. */
_Static_assert(sizeof(nb_convention) == sizeof(int) && sizeof(nb_tristate) == sizeof(int),
               "enum size");

/** " (mm)", or "" without a unit. */
static const char *unit_of(const nb_param *p, char text[NB_PARAM_LABEL])
{
    snprintf(text, NB_PARAM_LABEL, p->unit ? " (%s)" : "%s", p->unit ? p->unit : "");
    return text;
}

const char *nb_param_label(const nb_param *p, char text[NB_PARAM_LABEL])
{
    snprintf(text, NB_PARAM_LABEL, "%s%.40s", p->flags & NB_PARAM_INNER ? "" : "-",
             p->name);
    return text;
}

/* --- refusals --- */

static nb_status not_a(const nb_param *p, const char *word, const char *what,
                       nb_error *err)
{
    char label[NB_PARAM_LABEL], unit[NB_PARAM_LABEL], value[160];
    nb_param_label(p, label);
    return nb_fail(err, NB_ERR_INPUT, "%s '%.60s': not %s; write %s %s%s", label, word,
                   what, label, nb_param_form(p, value, sizeof value), unit_of(p, unit));
}

static nb_status too_large(const nb_param *p, const char *word, nb_error *err)
{
    char label[NB_PARAM_LABEL];
    return nb_fail(err, NB_ERR_INPUT, "%s %.60s: the number is too large",
                   nb_param_label(p, label), word);
}

/** False for a limit that only keeps products finite: messages do not mention it. */
static int is_practical(double limit)
{
    return fabs(limit) < 1e100;
}

static double as_said(double limit)
{
    return fabs(limit) < 1e-20 ? 0 : limit;
}

nb_status nb_param_refuse(const nb_param *p, const char *text, nb_error *err)
{
    const char *low = p->open & NB_OPEN_LOW ? "greater than" : "at least";
    const char *high = p->open & NB_OPEN_HIGH ? "less than" : "at most";
    char label[NB_PARAM_LABEL], unit[NB_PARAM_LABEL], limits[96];

    nb_param_label(p, label);
    if (!strcasecmp(text, "nan") || !strcasecmp(text, "-nan"))
        return nb_fail(err, NB_ERR_INPUT, "%s: not a number (NaN)", label);
    if (!is_practical(p->low) && !is_practical(p->high))
        snprintf(limits, sizeof limits, "finite");
    else if (!is_practical(p->high) && !(strtod(text, NULL) > p->high))
        snprintf(limits, sizeof limits, "%s %.9g", low, as_said(p->low));
    else
        snprintf(limits, sizeof limits, "%s %.9g and %s %.9g", low, as_said(p->low), high,
                 p->high);
    return nb_fail(err, NB_ERR_INPUT, "%s %.60s: the value must be %s%s", label, text,
                   limits, unit_of(p, unit));
}

nb_status nb_param_refuse_choice(const nb_param *p, const char *text, nb_error *err)
{
    char label[NB_PARAM_LABEL], list[160] = "";
    for (int i = 0; p->choices[i]; i++) {
        size_t used = strlen(list);
        if (p->choices[i][0])
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                     p->choices[i]);
    }
    return nb_fail(err, NB_ERR_INPUT, "%s %.62s: must be one of %s",
                   nb_param_label(p, label), text, list);
}

nb_status nb_param_check_direction(const nb_param *p, const double v[3], nb_error *err)
{
    char label[NB_PARAM_LABEL];
    if (p->kind != NB_KIND_VECTOR || v[0] != 0 || v[1] != 0 || v[2] != 0)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "%s 0 0 0: a zero vector has no direction; give one with a length",
                   nb_param_label(p, label));
}

static nb_status refuse_word(const nb_param *p, const char *word, nb_error *err)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "'%.60s'", word);
    return nb_param_refuse_choice(p, quoted, err);
}

static nb_status bad_form(const nb_param *p, const char *word, nb_error *err)
{
    char label[NB_PARAM_LABEL], unit[NB_PARAM_LABEL], value[160];
    return nb_fail(err, NB_ERR_INPUT, "%s '%.60s': must be %s%s", nb_param_label(p, label),
                   word, nb_param_form(p, value, sizeof value), unit_of(p, unit));
}

/* --- numbers --- */

/** Read a decimal number and nothing else. Returns 0 for another text. strtod alone takes
 * leading blanks, hexadecimal, "nan" and "infinity". */
static int number_of(const char *word, double *out)
{
    char *end;
    if (!*word || word[strspn(word, "0123456789+-.eE")])
        return 0;
    *out = strtod(word, &end);
    return end != word && !*end;
}

static nb_status read_number(const nb_param *p, const char *word, double *out,
                             nb_error *err)
{
    if (!number_of(word, out))
        return not_a(p, word, "a number", err);
    if (!isfinite(*out))
        return too_large(p, word, err);
    return nb_param_allows(p, *out) ? NB_OK : nb_param_refuse(p, word, err);
}

static nb_status read_numbers(const nb_param *p, const char *const *words, int n,
                              double *out, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < n && !st; i++)
        st = read_number(p, words[i], &out[i], err);
    return st;
}

static nb_status read_whole(const nb_param *p, const char *word, int64_t *out,
                            nb_error *err)
{
    char *end;
    long long n;
    errno = 0;
    n = word[strspn(word, "0123456789+-")] ? 0 : strtoll(word, &end, 10);
    if (!*word || word[strspn(word, "0123456789+-")] || end == word || *end)
        return not_a(p, word, "a whole number", err);
    *out = n;
    return errno == ERANGE ? too_large(p, word, err) : NB_OK;
}

static nb_status read_element(const nb_param *p, const char *word, double *out,
                              nb_error *err)
{
    int64_t n = 0;
    nb_status st;
    if (nb_param_is_double(p))
        return read_number(p, word, out, err);
    for (int i = 0; p->choices && p->choices[i]; i++)
        if (!strcmp(word, p->choices[i])) {
            *out = atoi(word);
            return NB_OK;
        }
    if (p->choices)
        return refuse_word(p, word, err);
    NB_FORWARD(read_whole(p, word, &n, err));
    *out = (double)n;
    return nb_param_allows(p, *out) ? NB_OK : nb_param_refuse(p, word, err);
}

/* --- kinds --- */

static void *field(const nb_param *p, void *base)
{
    return (char *)base + p->offset;
}

static nb_status set_switch(const nb_param *p, int *out, const char *const *words, int n,
                            nb_error *err)
{
    static const char *const yes[] = {"1", "true", "on"}, *const no[] = {"0", "false",
                                                                         "off"};
    char label[NB_PARAM_LABEL];
    int on = n ? -1 : 1;
    for (int i = 0; i < 3 && n; i++)
        on = !strcasecmp(words[0], yes[i]) ? 1 : !strcasecmp(words[0], no[i]) ? 0 : on;
    if (on < 0)
        return nb_fail(err, NB_ERR_INPUT, "%s '%.60s': must be 1 or 0",
                       nb_param_label(p, label), words[0]);
    if (p->kind == NB_KIND_SWITCH)
        *out = on;
    else if (on)
        *out = (int)p->low;
    return NB_OK;
}

/** Set the elements from one word for all, or from one word for each element. */
static nb_status set_elements(const nb_param *p, void *base, const char *const *words,
                              int n, nb_error *err)
{
    double v[NB_PARAM_WORDS] = {0};
    nb_status st = NB_OK;
    for (int i = 0; i < n; i++)
        NB_TRY(read_element(p, words[i], &v[i], err));
    for (int i = 0; i < nb_param_elements(p) && !st; i++)
        nb_param_put_element(p, base, i, v[n == 1 ? 0 : i]);
    return st;
}

static nb_status set_three(const nb_param *p, nb_opt3 *out, const char *const *words,
                           nb_error *err)
{
    double v[3];
    nb_status st = read_numbers(p, words, 3, v, err);
    NB_TRY(nb_param_check_direction(p, v, err));
    if (st)
        return st;
    for (int i = 0; i < 3 && p->kind == NB_KIND_POINT_MM; i++)
        v[i] /= 1000.0;
    out->set = 1; /* member by member, so that the padding keeps its bytes */
    memcpy(out->v, v, sizeof v);
    return NB_OK;
}

static nb_status set_choice(const nb_param *p, int *out, const char *word, nb_error *err)
{
    for (int i = 0; p->choices[i]; i++)
        if (*word && !strcasecmp(word, p->choices[i])) {
            *out = i;
            return NB_OK;
        }
    return refuse_word(p, word, err);
}

static nb_status set_text(const nb_param *p, nb_text *out, const char *word, nb_error *err)
{
    const char *what = p->kind == NB_KIND_FILE ? "file name" : "text";
    const int checked = p->kind == NB_KIND_FILE || !(p->flags & NB_PARAM_INNER);
    char label[NB_PARAM_LABEL];
    nb_param_label(p, label);
    if (checked && !*word)
        return nb_fail(err, NB_ERR_INPUT, "%s '': the %s is empty", label, what);
    if (checked && strlen(word) >= (size_t)p->high)
        return nb_fail(err, NB_ERR_INPUT, "%s %.60s...: the %s is longer than %.0f bytes",
                       label, word, what, p->high - 1);
    return nb_text_put(out, word, err);
}

static nb_status set_number_or(const nb_param *p, void *base, const char *const *words,
                               nb_error *err)
{
    nb_param plain = *p;
    plain.choices = NULL;
    if (strcasecmp(words[0], p->choices[0]) != 0)
        return set_elements(&plain, base, words, 1, err);
    nb_param_put_element(p, base, 0, -1);
    return NB_OK;
}

static nb_status set_seed(const nb_param *p, nb_seed *out, const char *word, nb_error *err)
{
    int64_t n = 0;
    nb_status st;
    NB_FORWARD(read_whole(p, word, &n, err));
    out->set = 1;
    out->value = n;
    return NB_OK;
}

static nb_status set_cell(const nb_param *p, nb_config *cfg, const char *const *words,
                          int n, nb_error *err)
{
    nb_param angle = *p;
    double v[6];
    nb_status st = read_numbers(p, words, n < 3 ? n : 3, v, err);
    angle.low = 0;
    angle.high = 180;
    angle.open = NB_OPEN_HIGH;
    if (!st && n > 3)
        st = read_numbers(&angle, words + 3, n - 3, v + 3, err);
    for (int i = 0; i < n && !st; i++)
        cfg->cell[i] = i >= 3 && v[i] == 0.0 ? 90.0 : v[i];
    if (!st)
        cfg->cell_count = n;
    return st;
}

static nb_status set_misset(const nb_param *p, nb_config *cfg, const char *const *words,
                            int n, nb_error *err)
{
    double v[3];
    nb_status st;
    if (n == 1 && strstr(words[0], "rand")) {
        cfg->misset_mode = NB_MISSET_RANDOM;
        return NB_OK;
    }
    st = read_numbers(p, words, n, v, err);
    if (!st && n < 3)
        st = bad_form(p, words[0], err);
    if (st)
        return st;
    memcpy(cfg->misset_deg, v, sizeof v);
    cfg->misset_mode = NB_MISSET_FIXED;
    return NB_OK;
}

static nb_status set_roi(const nb_param *p, nb_config *cfg, const char *const *words,
                         nb_error *err)
{
    nb_status st;
    NB_FORWARD(set_elements(p, cfg, words, 4, err));
    cfg->roi_set = 1;
    return NB_OK;
}

static nb_status set_png_scale(const nb_param *p, nb_png_options *png, const char *word,
                               nb_error *err)
{
    size_t colon = strcspn(word, ":");
    char low[NB_PARAM_LABEL];
    double lo = 0, hi = 0;

    if (!strcmp(word, "auto")) {
        png->scale = NB_PNG_AUTO;
    } else if (!word[colon]) {
        if (!number_of(word, &lo) || !(lo > 0 && lo <= 100))
            return bad_form(p, word, err);
        png->scale = NB_PNG_PERCENTILE;
        png->percentile = lo;
    } else {
        snprintf(low, sizeof low, "%.*s", (int)colon, word);
        if (colon >= sizeof low || !number_of(low, &lo) ||
            !number_of(word + colon + 1, &hi) ||
            !(isfinite(lo) && isfinite(hi) && lo < hi))
            return bad_form(p, word, err);
        png->scale = NB_PNG_RANGE;
        png->low = lo;
        png->high = hi;
    }
    return NB_OK;
}

static nb_status set_png_rings(const nb_param *p, nb_png_options *png, const char *text,
                               nb_error *err)
{
    double v[NB_RINGS_MAX];
    char word[NB_PARAM_LABEL];
    const char *at = text;
    for (int n = 0; n < NB_RINGS_MAX;) {
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length >= sizeof word || !number_of(word, &v[n]) ||
            !nb_param_allows(p, v[n++]))
            return bad_form(p, text, err);
        if (!at[length]) {
            png->rings = n;
            memcpy(png->ring_A, v, (size_t)n * sizeof *v);
            return NB_OK;
        }
        at += length + 1;
    }
    return bad_form(p, text, err);
}

static nb_status needs(const nb_param *p, int n, nb_error *err)
{
    char label[NB_PARAM_LABEL], unit[NB_PARAM_LABEL], value[160];
    nb_param_label(p, label);
    return nb_fail(err, NB_ERR_INPUT, "%s needs %d values (%d given); write %s %s%s",
                   label, nb_param_words(p, NULL), n, label,
                   nb_param_form(p, value, sizeof value), unit_of(p, unit));
}

/** Store a value whose words have commas between. */
static nb_status store_list(const nb_param *p, void *base, const char *text, nb_error *err)
{
    char copy[256];
    const char *words[NB_PARAM_WORDS + 1] = {copy};
    int n = 1;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return bad_form(p, text, err);
    for (char *at = copy; (at = strchr(at, ',')) && n <= NB_PARAM_WORDS; n++) {
        *at++ = '\0';
        words[n] = at;
    }
    return nb_param_store(p, base, words, n, err);
}

nb_status nb_param_store(const nb_param *p, void *base, const char *const *words, int n,
                         nb_error *err)
{
    static const char *const no_depth[] = {"0"};
    int least, limit = nb_param_words(p, &least);
    int partial = n > least && n < limit && p->kind != NB_KIND_CELL;
    nb_config *cfg = base;

    if (n == 1 && limit > 1 && strchr(words[0], ','))
        return store_list(p, base, words[0], err);
    if (n < least || n > limit || partial)
        return needs(p, n, err);
    switch (p->kind) {
    case NB_KIND_SWITCH:
    case NB_KIND_PRESET:
        return set_switch(p, field(p, base), words, n, err);
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
        return set_elements(p, base, words, n, err);
    case NB_KIND_VECTOR:
    case NB_KIND_POINT:
    case NB_KIND_POINT_MM:
        return set_three(p, field(p, base), words, err);
    case NB_KIND_CHOICE:
        return set_choice(p, field(p, base), words[0], err);
    case NB_KIND_FILE:
    case NB_KIND_TEXT:
    case NB_KIND_DEVICE:
        return set_text(p, field(p, base), words[0], err);
    case NB_KIND_SEED:
        return set_seed(p, field(p, base), words[0], err);
    case NB_KIND_CELL:
        return set_cell(p, cfg, words, n, err);
    case NB_KIND_MISSET:
        return set_misset(p, cfg, words, n, err);
    case NB_KIND_ROI:
        return set_roi(p, cfg, words, err);
    case NB_KIND_DEPTH:
        return set_elements(p, base, strstr(words[0], "inf") ? no_depth : words, 1, err);
    case NB_KIND_PNG_SCALE:
        return set_png_scale(p, &cfg->png, words[0], err);
    case NB_KIND_PNG_RINGS:
        return set_png_rings(p, &cfg->png, words[0], err);
    case NB_KIND_NUMBER_OR:
        return set_number_or(p, base, words, err);
    }
    return nb_fail(err, NB_ERR_INTERNAL, "parameter %.40s has no kind", p->name);
}

nb_status nb_param_put(const nb_param *p, void *base, const char *const *words, int n,
                       nb_error *err)
{
    nb_status st = nb_param_store(p, base, words, n, err);
    if (!st && p->after)
        p->after(base);
    return st;
}
