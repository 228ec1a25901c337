/* SPDX-License-Identifier: MIT */
#include "smv_keys.h"

#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"
#include "../../params/params.h"

enum { KEY_BYTES = 64, VALUE_BYTES = 3 * NB_TEXT_NUMBER + 8 };

const nb_param *nb_smv_next(const nb_param *last)
{
    size_t count;
    const nb_param *table = nb_params(&count), *next = NULL;
    for (size_t i = 0; i < count; i++)
        if (table[i].header && (!last || table[i].place > last->place) &&
            (!next || table[i].place < next->place))
            next = &table[i];
    return next;
}

static void key_of(const nb_param *p, char key[KEY_BYTES])
{
    snprintf(key, KEY_BYTES, NB_SMV_PREFIX "%s", p->header);
}

static nb_smv_group group_of(const nb_param *p)
{
    static const struct {
        const char *name;
        nb_smv_group group;
    } groups[] = {{"distance", NB_SMV_DISTANCES},
                  {"close_distance", NB_SMV_DISTANCES},
                  {"close_twotheta", NB_SMV_DISTANCES},
                  {"lambda", NB_SMV_BEAM},
                  {"energy", NB_SMV_BEAM},
                  {"phistep", NB_SMV_STEPS},
                  {"phisteps", NB_SMV_STEPS},
                  {"detsize_f", NB_SMV_FAST},
                  {"detsize_s", NB_SMV_SLOW}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(p->name, groups[i].name))
            return groups[i].group;
    return NB_SMV_ALONE;
}

void nb_smv_typed_groups(const nb_config *cfg, int typed[NB_SMV_GROUPS])
{
    memset(typed, 0, NB_SMV_GROUPS * sizeof *typed);
    for (const nb_param *p = NULL; (p = nb_smv_next(p));)
        typed[group_of(p)] |= nb_param_is_set(p, cfg);
    typed[NB_SMV_FAST] |= cfg->detpixels[0] != 0;
    typed[NB_SMV_SLOW] |= cfg->detpixels[1] != 0;
    typed[NB_SMV_ALONE] = 0;
}

void nb_smv_write_inputs(const nb_config *cfg,
                         void (*emit)(void *user, const char *key, const char *value),
                         void *user)
{
    for (const nb_param *p = NULL; (p = nb_smv_next(p));) {
        char key[KEY_BYTES], value[VALUE_BYTES];
        key_of(p, key);
        if (strcmp(key, NB_SMV_MARK) != 0 && !nb_param_is_set(p, cfg))
            continue;
        nb_param_get(p, cfg, ",", value, sizeof value, NULL);
        emit(user, key, value[0] ? value : p->fallback);
    }
}

/** "fast,slow", 0 for an axis whose pixels nobody knows. */
static int read_pixels(const char *text, const int typed[NB_SMV_GROUPS], int *pixels)
{
    const char *end = text + strlen(text);
    int v[2];
    text = nb_text_int(text, end, &v[0]);
    if (!text || text == end || *text != ',' || nb_text_int(text + 1, end, &v[1]) != end)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (v[i] < 0 || v[i] >= 1000000)
            return 0;
        if (!typed[i ? NB_SMV_SLOW : NB_SMV_FAST])
            pixels[i] = v[i];
    }
    return 1;
}

/** Words with commas between them; 0: they are no value of the parameter. */
static int read_value(const nb_param *p, const char *text, nb_config *cfg)
{
    char copy[256], *at = copy;
    const char *words[NB_PARAM_WORDS + 1];
    int n = 0;
    if (strlen(text) >= sizeof copy)
        return 0;
    memcpy(copy, text, strlen(text) + 1);
    while (at && n <= NB_PARAM_WORDS) {
        words[n++] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
    }
    return nb_param_store(p, cfg, words, n, NULL) == NB_OK;
}

nb_status nb_smv_read_inputs(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int typed[NB_SMV_GROUPS];
    nb_smv_typed_groups(cfg, typed);
    for (const nb_param *p = NULL; (p = nb_smv_next(p));) {
        int is_size = p->offset == offsetof(nb_config, detpixels), good;
        char key[KEY_BYTES];
        const char *text;
        key_of(p, key);
        text = nb_smv_find(h, key);
        if (!text || typed[group_of(p)] || (!is_size && nb_param_is_set(p, cfg)))
            continue;
        good =
            is_size ? read_pixels(text, typed, cfg->detpixels) : read_value(p, text, cfg);
        if (!good)
            return nb_fail_at(err, NB_ERR_INPUT, h->name, 0, "%s=%.60s cannot be read",
                              key, text);
    }
    return NB_OK;
}
