/* SPDX-License-Identifier: MIT */
#include "thresholds.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

/** A figure of nb_difference, and how it is compared with its limit. */
typedef struct key {
    const char *name;
    int at_least;
    double from; /* compare |figure - from| */
    size_t offset;
} key;

#define AT(member) offsetof(nb_difference, member)

static const key keys[NB_THRESHOLD_KEYS] = {
    {"corr", 1, 0, AT(correlation)},
    {"peaks", 1, 0, AT(peaks_fraction)},
    {"sum", 0, 1, AT(sum_ratio)},
    {"rmse", 0, 0, AT(rmse)},
    {"max", 0, 0, AT(max_difference)},
    {"maxrel", 0, 0, AT(maxrel)},
    {"rel99", 0, 0, AT(relative[2])},
    {"rel", 0, 0, AT(relative[NB_RELATIVE_COUNT - 1])},
    {"shift", 0, 0, AT(peaks_rms_shift)},
    {"radial", 0, 0, AT(radial_difference)},
};

static nb_status parse_one(const char *word, nb_thresholds *out, nb_error *err)
{
    const char *equals = strchr(word, '=');
    char known[160] = "";

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                 keys[k].name);
        if (!equals || strlen(keys[k].name) != (size_t)(equals - word) ||
            strncmp(keys[k].name, word, (size_t)(equals - word)))
            continue;
        if (!nb_read_number(equals + 1, &out->limit[k]))
            return nb_cli_fail(err, "-threshold %.60s: '%.40s' is not a number", word,
                               equals + 1);
        out->set[k] = 1;
        return NB_OK;
    }
    return nb_cli_fail(err, "-threshold '%.60s': must be KEY=NUMBER, KEY one of %s", word,
                       known);
}

nb_status nb_thresholds_parse(const char *text, nb_thresholds *out, nb_error *err)
{
    char word[80];
    nb_status status = NB_OK;

    memset(out, 0, sizeof *out);
    if (!strcmp(text, "none"))
        return NB_OK;
    for (;;) {
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", length < 79 ? (int)length : 79, text);
        status = parse_one(word, out, err);
        if (status || !text[length])
            return status;
        text += length + 1;
    }
}

int nb_thresholds_result(const nb_thresholds *t, const nb_difference *d, int k,
                         nb_threshold_result *out)
{
    double figure;

    if (!t->set[k])
        return 0;
    memcpy(&figure, (const char *)d + keys[k].offset, sizeof figure);
    out->key = keys[k].name;
    out->at_least = keys[k].at_least;
    out->limit = t->limit[k];
    out->value = out->at_least ? figure : fabs(figure - keys[k].from);
    /* NaN fails */
    out->passed = out->at_least ? out->value >= out->limit : out->value <= out->limit;
    return 1;
}

int nb_thresholds_passed(const nb_thresholds *t, const nb_difference *d)
{
    nb_threshold_result r;

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++)
        if (nb_thresholds_result(t, d, k, &r) && !r.passed)
            return 0;
    return !d->nonfinite_a && !d->nonfinite_b;
}
