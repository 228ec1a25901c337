/* SPDX-License-Identifier: MIT */
/* Lines of flags, one for each crystal of an image. */
#include "load.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/store.h"
#include "../base/text.h"
#include "../model/crystal.h"
#include "../model/units.h"
#include "../params/params.h"

struct nb_crystal_line {
    const char *text;
    size_t bytes;
    int number; /* line number in the file, from 1 */
};

nb_crystals_kind nb_crystals_kind_of(const char *text, int *n)
{
    double number;
    *n = 1;
    if (!text[0])
        return NB_CRYSTALS_NUMBER;
    if (text[0] == '[')
        return NB_CRYSTALS_LIST;
    if (!nb_text_number(text, &number))
        return NB_CRYSTALS_FILE;
    *n = number >= 0 && number <= NB_CRYSTALS_MAX && number == (int)number ? (int)number
                                                                           : -1;
    return NB_CRYSTALS_NUMBER;
}

void nb_crystal_lines_name(const nb_crystal_lines *l, int m, char *name, size_t size)
{
    if (l->path[0])
        snprintf(name, size, "%.255s:%d", l->path, l->line[m].number);
}

static nb_status fail(const nb_crystal_lines *l, int m, const char *why, nb_error *err)
{
    return l->path[0]
               ? nb_fail_at(err, NB_ERR_INPUT, l->path, l->line[m].number,
                            "-crystals: %.300s", why)
               : nb_fail(err, NB_ERR_INPUT, "crystal %d: -crystals: %.300s", m + 1, why);
}

/* --- cutting --- */

static int is_blank(const char *p, const char *end)
{
    while (p < end && nb_text_blank(*p))
        p++;
    return p == end;
}

/** Cut the text into up to `limit` lines; returns their number, or more than `limit`. */
static int cut(nb_crystal_lines *l, size_t bytes, int limit)
{
    int number = 0, n = 0;
    char *end = l->text + bytes, *next;
    for (char *p = end - (end - nb_text_body(l->text, end)); p < end && n <= limit;
         p = next + 1) {
        next = memchr(p, '\n', (size_t)(end - p));
        next = next ? next : end;
        number++;
        *next = '\0';
        if (!is_blank(p, next) && n++ < limit)
            l->line[n - 1] = (struct nb_crystal_line){p, (size_t)(next - p), number};
    }
    return n;
}

nb_status nb_crystal_lines_cut(char *text, size_t bytes, const char *path,
                               nb_crystal_lines *l, nb_error *err)
{
    const size_t lines = nb_text_lines(text, bytes);
    const int limit = lines < NB_CRYSTALS_MAX ? (int)lines : NB_CRYSTALS_MAX;
    nb_status st = NB_OK;
    memset(l, 0, sizeof *l);
    snprintf(l->path, sizeof l->path, "%s", path);
    l->text = text;
    if (!(l->line = nb_alloc((size_t)limit, sizeof *l->line, "-crystals", err)))
        st = NB_ERR_NOMEM;
    else if (memchr(text, '\0', bytes))
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0, "-crystals: the file has a NUL byte");
    else if ((l->n = cut(l, bytes, limit)) < 1 || l->n > limit)
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0,
                        l->n < 1 ? "-crystals: no line with a JSON object"
                                 : "-crystals: more than %d lines",
                        NB_CRYSTALS_MAX);
    if (st)
        nb_crystal_lines_free(l);
    return st;
}

const char *nb_crystal_line_text(const nb_crystal_lines *l, int m)
{
    return l->line[m].text;
}

void nb_crystal_lines_free(nb_crystal_lines *l)
{
    nb_free(l->text);
    nb_free(l->line);
    memset(l, 0, sizeof *l);
}

/** Write each object of a list as a line of text. */
static nb_status spread(const char *list, char *text, nb_error *err)
{
    cJSON *all = cJSON_Parse(list);
    const cJSON *one;
    nb_status st = NB_OK;
    size_t used = 0;
    if (!cJSON_IsArray(all) || !all->child)
        st = nb_fail(err, NB_ERR_INPUT,
                     "-crystals %.60s: not a list of JSON objects like [{\"N\": 10}, "
                     "{\"N\": 20}]",
                     list);
    cJSON_ArrayForEach(one, all)
    {
        char *line = st ? NULL : cJSON_PrintUnformatted(one);
        if (line)
            used += (size_t)sprintf(text + used, "%s\n", line);
        cJSON_free(line);
    }
    cJSON_Delete(all);
    return st;
}

static nb_status read_list(const char *list, nb_crystal_lines *l, nb_error *err)
{
    /* a number may be printed with more digits than were typed */
    char *text = nb_alloc(strlen(list) + 1, 32, "-crystals", err);
    nb_status st = text ? spread(list, text, err) : NB_ERR_NOMEM;
    if (!st)
        return nb_crystal_lines_cut(text, strlen(text), "", l, err);
    nb_free(text);
    return st;
}

nb_status nb_crystal_lines_read(const char *crystals, nb_crystal_lines *l, nb_error *err)
{
    char *data;
    size_t bytes;
    int n;
    nb_status st;
    memset(l, 0, sizeof *l);
    switch (nb_crystals_kind_of(crystals, &n)) {
    case NB_CRYSTALS_LIST:
        return read_list(crystals, l, err);
    case NB_CRYSTALS_FILE:
        st = nb_read_file(crystals, "-crystals", 1 << 24, &data, &bytes, err);
        return st ? st : nb_crystal_lines_cut(data, bytes, crystals, l, err);
    default:
        return NB_OK;
    }
}

/* --- applying --- */

/** True for a flag that may differ between crystals of an image. */
static int is_of_crystal(const nb_param *p)
{
    return (p->flags & (NB_PARAM_CRYSTAL | NB_PARAM_IMAGE | NB_PARAM_INNER |
                        NB_PARAM_OUTPUT | NB_PARAM_SERIES)) == NB_PARAM_CRYSTAL;
}

/** Split a JSON value into words of a flag; returns their number, or -1 if wrong. */
static int words_of(const cJSON *value, char number[][NB_TEXT_NUMBER], const char **words)
{
    const cJSON *one = cJSON_IsArray(value) ? value->child : value;
    int n = 0;
    for (; one && n < NB_PARAM_WORDS; one = cJSON_IsArray(value) ? one->next : NULL) {
        if (cJSON_IsNumber(one))
            nb_text_format(one->valuedouble, number[n]);
        else if (!cJSON_IsString(one))
            return -1;
        words[n] = cJSON_IsString(one) ? one->valuestring : number[n];
        n++;
    }
    return one ? -1 : n;
}

static nb_status apply_member(const cJSON *member, nb_config *cfg, nb_error *err)
{
    char number[NB_PARAM_WORDS][NB_TEXT_NUMBER];
    const char *words[NB_PARAM_WORDS];
    const nb_param *p = nb_param_find(member->string);
    int n;
    if (!p || !is_of_crystal(p))
        return nb_fail(err, NB_ERR_INPUT, "\"%.40s\": %s", member->string,
                       p ? "this flag is not one of a single crystal" : "unknown flag");
    if (cJSON_IsTrue(member))
        return nb_param_put(p, cfg, words, 0, err);
    if (cJSON_IsFalse(member) && (p->kind == NB_KIND_SWITCH || p->kind == NB_KIND_PRESET))
        return NB_OK;
    n = words_of(member, number, words);
    return n > 0 ? nb_param_put(p, cfg, words, n, err)
                 : nb_fail(err, NB_ERR_INPUT,
                           "\"%.40s\": a value must be a number, text, a list of them, "
                           "true or false",
                           member->string);
}

static int has(const cJSON *object, const nb_param *row)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, object) if (nb_param_find(member->string) == row) return 1;
    return 0;
}

/** Clear the settings that a line replaces. */
static void clear_for(const cJSON *object, nb_config *cfg)
{
    if (has(object, NB_ROW(hkl_file)) || has(object, NB_ROW(pdb_file)) ||
        has(object, NB_ROW(cif_file)) || has(object, NB_ROW(mtz_file))) {
        nb_text *const files[] = {&cfg->hkl_file, &cfg->pdb_file, &cfg->cif_file,
                                  &cfg->mtz_file};
        for (int i = 0; i < 4; i++)
            /* this cannot fail, because an empty text needs no memory */
            (void)nb_text_put(files[i], "", NULL);
        if (cfg->cell_from_file)
            memset(cfg->cell, 0, sizeof cfg->cell);
        cfg->cell_count = cfg->cell_from_file ? 0 : cfg->cell_count;
        cfg->cell_from_file = 0;
    }
    if (has(object, NB_ROW(mat_file))) {
        cfg->misset_mode = NB_MISSET_NONE;
        memset(cfg->misset_deg, 0, sizeof cfg->misset_deg);
    }
    if (has(object, NB_ROW(blocks)))
        cfg->crystal_volume_um3 = NB_ROW(crystal_volume_um3)->unset;
    if (has(object, NB_ROW(crystal_volume_um3)))
        cfg->blocks = NB_ROW(blocks)->unset;
}

/** Name of a flag that is in the line twice, or NULL. */
static const char *doubled(const cJSON *object)
{
    const cJSON *a, *b;
    cJSON_ArrayForEach(a, object) for (b = a->next; b; b = b->next)
    {
        const nb_param *p = nb_param_find(a->string);
        if (p && p == nb_param_find(b->string))
            return a->string;
    }
    return NULL;
}

static nb_status apply(const nb_crystal_lines *l, int m, const cJSON *object,
                       nb_config *cfg, nb_error *err)
{
    const cJSON *member;
    char text[96];
    nb_error why = {0};
    nb_status st = NB_OK;
    if (doubled(object)) {
        snprintf(text, sizeof text, "\"%.40s\": is in the line twice", doubled(object));
        return fail(l, m, text, err);
    }
    clear_for(object, cfg);
    cJSON_ArrayForEach(member, object)
    {
        NB_TRY(apply_member(member, cfg, &why));
    }
    return st == NB_ERR_INPUT ? fail(l, m, why.message, err) : st;
}

nb_status nb_crystal_lines_apply(const nb_crystal_lines *l, int m, nb_config *cfg,
                                 nb_error *err)
{
    const struct nb_crystal_line *at = &l->line[m];
    const char *end = NULL;
    cJSON *object;
    nb_status st;
    if (strstr(at->text, "\\u0000"))
        return fail(l, m, "the line has a NUL byte", err);
    object = cJSON_ParseWithLengthOpts(at->text, at->bytes, &end, 0);
    if (!cJSON_IsObject(object))
        st = fail(l, m, "not a JSON object like {\"N\": 10}", err);
    else if (!is_blank(end, at->text + at->bytes))
        st = fail(l, m, "text follows the JSON object; write one object per line", err);
    else
        st = apply(l, m, object, cfg, err);
    cJSON_Delete(object);
    return st;
}

/* --- the records of the crystals of an image --- */

static void free_lines(void *object)
{
    nb_crystal_lines_free(object);
}

static nb_status make_lines(void *user, void **object, size_t *bytes, nb_error *err)
{
    nb_crystal_lines *lines = nb_shared_new(sizeof *lines, free_lines, "-crystals", err);
    *object = lines;
    *bytes = 0;
    return lines ? nb_crystal_lines_read(user, lines, err) : NB_ERR_NOMEM;
}

nb_status nb_crystals_lines(const nb_inputs *in, const nb_config *cfg,
                            nb_crystal_lines **lines, nb_error *err)
{
    nb_key key = nb_key_of("crystals");
    void *object = NULL;
    nb_status st = NB_OK;
    int n;
    if (nb_crystals_kind_of(cfg->crystals, &n) != NB_CRYSTALS_NUMBER) {
        NB_READING(in->store);
        nb_key_file(&key, in->store, cfg->crystals);
        st = nb_store_take(in->store, &key, make_lines, (void *)(uintptr_t)cfg->crystals,
                           &object, err);
    }
    *lines = object;
    return st;
}

nb_status nb_crystals_count(const nb_inputs *in, const nb_config *cfg, int *n,
                            nb_error *err)
{
    nb_crystal_lines *lines;
    nb_status st = nb_crystals_lines(in, cfg, &lines, err);
    (void)nb_crystals_kind_of(cfg->crystals, n);
    if (lines)
        *n = lines->n;
    else if (!st && *n < 0)
        st = nb_fail(err, NB_ERR_INPUT,
                     "-crystals %.40s: must be a whole number from 0 to %d, "
                     "or a file",
                     cfg->crystals, NB_CRYSTALS_MAX);
    nb_shared_drop(lines);
    return st;
}

static nb_status refuse(const nb_config *cfg, nb_error *err)
{
    const char *flag = cfg->crystals[0] ? "-crystals" : "-twin";
    const char *text = cfg->crystals[0] ? cfg->crystals : cfg->twin;
    return cfg->compat ? nb_fail(err, NB_ERR_INPUT,
                                 "%s %.60s: not with -compat, whose images have one "
                                 "crystal",
                                 flag, text)
                       : NB_OK;
}

nb_status nb_crystals_check(const nb_inputs *in, const nb_config *cfg, nb_error *err)
{
    int n;
    nb_status st;
    if (!cfg->crystals[0] && !cfg->twin[0])
        return NB_OK;
    st = refuse(cfg, err);
    return st ? st : nb_crystals_count(in, cfg, &n, err);
}

nb_status nb_crystal_place(int m, int64_t seed, nb_config *cfg, nb_error *err)
{
    double angles[3];
    nb_status st;
    if (m == 0)
        return NB_OK;
    if (cfg->misset_seed.set)
        seed = cfg->misset_seed.value;
    NB_FORWARD(nb_misset_random(seed, m, angles, err));
    cfg->misset_mode = NB_MISSET_FIXED;
    for (int i = 0; i < 3; i++)
        cfg->misset_deg[i] = nb_typeable(angles[i] / NB_DEG);
    return NB_OK;
}

nb_status nb_crystal_line(const nb_inputs *in, int m, nb_config *cfg, nb_error *err)
{
    nb_crystal_lines *lines;
    nb_status st = nb_crystals_lines(in, cfg, &lines, err);
    if (!st && lines && m < lines->n)
        st = nb_crystal_lines_apply(lines, m, cfg, err);
    nb_shared_drop(lines);
    /* the line sets this orientation */
    if (!st && m > 0 && cfg->misset_mode == NB_MISSET_RANDOM)
        st = nb_crystal_place(m, cfg->seed.set ? cfg->seed.value : 0, cfg, err);
    return st;
}

void nb_crystal_name(const nb_inputs *in, const nb_config *cfg, int m, char *name,
                     size_t size)
{
    nb_crystal_lines *lines;
    snprintf(name, size, "crystal %d", m + 1);
    if (!nb_crystals_lines(in, cfg, &lines, NULL) && lines && m < lines->n)
        nb_crystal_lines_name(lines, m, name, size);
    nb_shared_drop(lines);
}
