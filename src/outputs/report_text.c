/* SPDX-License-Identifier: MIT */
/* Make text from facts. */
#include "report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/text.h"

nb_status nb_report_end(nb_draft *t, char **out, nb_error *err)
{
    nb_draft_bytes(t, "", 1); /* append the final NUL */
    *out = t->data;
    if (!t->failed)
        return NB_OK;
    nb_free(t->data);
    *out = NULL;
    return nb_fail_memory(err, t->room, "the report");
}

nb_status nb_draft_write(nb_draft *t, const char *path, const char *what, nb_status st,
                         nb_error *err)
{
    if (t->failed)
        NB_TRY(nb_fail_memory(err, t->room, what));
    NB_TRY(nb_outfile_put(path, t->data, t->n, err));
    nb_free(t->data);
    return st;
}

nb_status nb_json_file(nb_json root, const char *what, const char *path, const char *end,
                       nb_error *err)
{
    nb_draft t = {0};
    char *text = NULL;
    nb_status st = nb_json_print(root, what, &text, err);
    if (!st)
        nb_draft_bytes(&t, text, strlen(text));
    nb_free(text);
    nb_draft_bytes(&t, end, strlen(end));
    return nb_draft_write(&t, path, what, st, err);
}

/* --- lines --- */

/** Fact of a dotted name, or NULL if it is absent or null. */
static const cJSON *fact_of(const cJSON *at, const char *name, size_t length)
{
    char text[80] = "", *rest = text;
    const char *word;
    memcpy(text, name, length < sizeof text ? length : sizeof text - 1);
    while (at && (word = strsep(&rest, ".")))
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(word))
                               : cJSON_GetObjectItemCaseSensitive(at, word);
    return cJSON_IsNull(at) ? NULL : at;
}

/** Fact as text, or "" for a list. number: memory for the text of a number. */
static const char *text_of(const cJSON *fact, char number[NB_TEXT_NUMBER])
{
    if (cJSON_IsNumber(fact))
        nb_text_format(fact->valuedouble, number);
    else
        return fact && fact->valuestring ? fact->valuestring : "";
    return number;
}

static int is_true(const cJSON *fact)
{
    if (!fact || cJSON_IsFalse(fact))
        return 0;
    if (cJSON_IsString(fact))
        return fact->valuestring[0] != '\0';
    return !cJSON_IsNumber(fact) || fact->valuedouble != 0;
}

/** True if the fact passes the test, which ends with "}". */
static int holds(const cJSON *fact, const char *test)
{
    const size_t n = strcspn(test, "}");
    char number[NB_TEXT_NUMBER];
    const char *text;
    if (*test == '?' || *test == '!')
        return is_true(fact) == (*test == '?');
    if (!fact || (*test != '=' && *test != '#'))
        return fact != NULL;
    text = text_of(fact, number);
    return (strlen(text) == n - 1 && !memcmp(text, test + 1, n - 1)) == (*test == '=');
}

static void put_text(nb_draft *t, const char *text)
{
    nb_draft_bytes(t, text, strlen(text));
}

static void put_fact(nb_draft *t, const cJSON *fact, const char *form)
{
    const double value = fact->valuedouble * (strncmp(form, ":%", 2) ? 1 : 100);
    const char *digits = form + strspn(form, ":%");
    char number[NB_TEXT_NUMBER];
    if (cJSON_IsArray(fact))
        for (const cJSON *item = fact->child; item; item = item->next) {
            put_fact(t, item, form);
            nb_draft_bytes(t, " ", item->next != NULL);
        }
    else if (!cJSON_IsNumber(fact) || !strncmp(form, ":}", 2))
        put_text(t, text_of(fact, number));
    else if (*digits == '.')
        nb_draft_put(t, "%.*f", atoi(digits + 1), value);
    else
        nb_draft_put(t, "%.*g", isdigit(*digits) ? atoi(digits) : 6, value);
}

/** Facts of a line. */
typedef struct scope {
    const cJSON *all, *item; /* names are searched first in `item`, which may be NULL */
} scope;

static const char *put_list(nb_draft *t, scope in, const char *p);

/** Append the part, or nothing if a test fails.  Returns the end of the part. */
static const char *put_part(nb_draft *t, scope in, const char *p)
{
    const size_t before = t->n;
    int whole = 1;
    for (; *p && *p != ']'; p++) {
        if (*p == '[') {
            p = p[1] == '@' ? put_list(t, in, p + 2) : put_part(t, in, p + 1);
        } else if (*p == '{') {
            const char *name = p + 1, *test = name + strcspn(name, ":?!=#}");
            const cJSON *fact = fact_of(in.item, name, (size_t)(test - name));
            if (!fact)
                fact = fact_of(in.all, name, (size_t)(test - name));
            whole &= holds(fact, test);
            if (fact && (*test == ':' || *test == '}'))
                put_fact(t, fact, test);
            p += strcspn(p, "}");
        } else {
            const size_t n = strcspn(p, "[]{");
            nb_draft_bytes(t, p, n);
            p += n - 1;
        }
    }
    t->n = whole ? t->n : before;
    return p;
}

/** Append a part for each item of a list. */
static const char *put_list(nb_draft *t, scope in, const char *p)
{
    const size_t name = strcspn(p, "|"), before = t->n;
    const char *between = p + name + 1, *part = between + strcspn(between, "|") + 1;
    const cJSON *list = fact_of(in.all, p, name);
    const char *end = put_part(t, in, part);
    t->n = before;
    for (in.item = list ? list->child : NULL; in.item; in.item = in.item->next) {
        if (in.item != list->child)
            nb_draft_bytes(t, between, (size_t)(part - between - 1));
        put_part(t, in, part);
    }
    return end;
}

void nb_report_lines(nb_draft *t, nb_json facts, const char *const *lines)
{
    for (; *lines; lines++) {
        const size_t before = t->n;
        put_part(t, (scope){facts.json, NULL}, *lines);
        nb_draft_bytes(t, "\n", t->n > before);
    }
    t->failed |= *facts.failed;
}
