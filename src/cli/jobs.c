/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "common.h"
#include "options.h"

#include <cjson/cJSON.h>

enum {
    MAX_ARGUMENTS = 32
}; /* limit of the words of one flag; -pngrings takes one word, -cell six */

/** Arguments of the flag of a JSON member; they point into the member or this struct. */
typedef struct arguments {
    char *list[MAX_ARGUMENTS + 1];
    int count;
    char name[64], number[MAX_ARGUMENTS + 1][NB_TEXT_NUMBER];
    char *text;        /* text of a list of objects; owned */
    const char *wrong; /* reason to refuse the arguments, or NULL */
} arguments;

static nb_status no_memory(nb_error *err)
{
    return nb_fail(err, NB_ERR_NOMEM, "-jobs: out of memory");
}

static void add_value(arguments *a, const cJSON *value)
{
    const char *text = value->valuestring;
    if (a->count > MAX_ARGUMENTS) {
        a->wrong = "too many values";
        return;
    }
    if (cJSON_IsNumber(value))
        nb_text_format(value->valuedouble, a->number[a->count]);
    else if (!cJSON_IsString(value))
        a->wrong = "a value must be a number, text, a list of them, true or false";
    else if (text[0] == '-' && nb_flag_find(text))
        a->wrong = "a value must not be another flag";
    a->list[a->count] =
        cJSON_IsNumber(value) ? a->number[a->count] : (char *)(uintptr_t)text;
    a->count += !a->wrong;
}

static nb_status add_member(arguments *a, const cJSON *member, nb_error *err)
{
    const cJSON *value;
    a->list[a->count++] = a->name;
    if (cJSON_IsArray(member) && cJSON_IsObject(member->child)) {
        /* -crystals takes the list as text */
        if (!(a->text = cJSON_PrintUnformatted(member)))
            return no_memory(err);
        a->list[a->count++] = a->text;
    } else if (cJSON_IsArray(member)) {
        cJSON_ArrayForEach(value, member) if (!a->wrong) add_value(a, value);
    } else if (!cJSON_IsTrue(member)) {
        add_value(a, member);
    }
    return NB_OK;
}

void nb_jobs_place(const nb_jobs *jobs, int frame, char *text, size_t size)
{
    snprintf(text, size, "-jobs %.120s:%d", jobs->path, jobs->list[frame].line);
}

static nb_status fail(const nb_jobs *jobs, int frame, nb_error *err, const char *why)
{
    char place[160];

    nb_jobs_place(jobs, frame, place, sizeof place);
    return nb_cli_fail(err, "%s: %.300s", place, why);
}

static nb_status fail_member(const nb_jobs *jobs, int frame, nb_error *err,
                             const char *name, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "\"%.40s\": %s", name, why);
    return fail(jobs, frame, err, text);
}

/** True if the member is `false` for a switch, which is then not set. */
static int is_off(const cJSON *member, const nb_flag *flag)
{
    return cJSON_IsFalse(member) && flag && nb_flag_is_switch(flag);
}

static nb_status apply_member(const nb_jobs *jobs, int frame, const cJSON *member,
                              nb_cli *cli, nb_error *err)
{
    arguments a = {.count = 1};
    nb_error why = {0};
    nb_status st;
    const nb_flag *flag;

    snprintf(a.name, sizeof a.name, "-%.62s", member->string);
    flag = nb_flag_find(a.name);
    if (flag && cli->typed[nb_flag_index(flag)])
        return fail_member(jobs, frame, err, member->string, "is in the line twice");
    if (is_off(member, flag))
        return NB_OK;
    st = add_member(&a, member, err);
    if (!st && flag && a.wrong)
        st = fail_member(jobs, frame, err, member->string, a.wrong);
    else if (!st && nb_cli_apply(a.count, a.list, cli, &why))
        st = fail(jobs, frame, err, why.message);
    cJSON_free(a.text);
    return st;
}

static int is_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p == end;
}

/** True if the line has a NUL byte, plain or escaped. A C string would end there. */
static int has_nul(const nb_job *j)
{
    static const char escaped[] = "\\u0000";
    const size_t n = sizeof escaped - 1;

    for (size_t i = 0; i + n <= j->bytes; i++)
        if (memcmp(j->text + i, escaped, n) == 0)
            return 1;
    return memchr(j->text, '\0', j->bytes) != NULL;
}

/** Parse the only object of a line; the caller owns *object. */
static nb_status parse_line(const nb_jobs *jobs, int frame, cJSON **object, nb_error *err)
{
    const nb_job *j = &jobs->list[frame];
    const char *end = NULL;

    if (has_nul(j))
        return fail(jobs, frame, err, "the line has a NUL byte");
    *object = cJSON_ParseWithLengthOpts(j->text, j->bytes, &end, 0);
    if (!*object && nb_json_memory("-jobs", err))
        return NB_ERR_NOMEM;
    if (!cJSON_IsObject(*object))
        return fail(jobs, frame, err, "not a JSON object like {\"phi\": 10}");
    if (!is_blank(end, j->text + j->bytes))
        return fail(jobs, frame, err,
                    "text follows the JSON object; write one object per line");
    return NB_OK;
}

static nb_status apply_line(const nb_jobs *jobs, int frame, nb_cli *cli, nb_error *err)
{
    cJSON *object = NULL;
    const cJSON *member = NULL;
    nb_series none;
    nb_truth truth = cli->cfg.truth;
    nb_status st = parse_line(jobs, frame, &object, err);

    nb_series_defaults(&none);
    if (!st)
        member = object->child;
    for (; member && !st; member = member->next)
        st = apply_member(jobs, frame, member, cli, err);
    cJSON_Delete(object);
    if (!st && (memcmp(&none, &cli->series, sizeof none) != 0 || cli->jobs_file[0] ||
                cli->cfg.truth != truth || cli->action != NB_DO_RUN || cli->show_config ||
                cli->trace || cli->printout))
        st = fail(jobs, frame, err,
                  "a flag of the whole series cannot change from frame to frame");
    return st;
}

nb_status nb_jobs_apply(const nb_jobs *jobs, int frame, nb_config *cfg, nb_error *err)
{
    nb_cli cli;
    nb_status st;

    nb_cli_begin(&cli, cfg);
    st = apply_line(jobs, frame, &cli, err);
    if (!st)
        nb_config_copy(cfg, &cli.cfg);
    nb_cli_free(&cli);
    return st;
}

/** True for a flag that has no effect in the line of a frame. */
static int does_nothing(const nb_flag *flag)
{
    return nb_flag_note(flag) || flag->flags & (NB_PARAM_RUNNING | NB_PARAM_SINGLE);
}

/** Check all lines, and record the flags without effect. */
static nb_status check_lines(nb_jobs *jobs, const nb_config *base, nb_error *err)
{
    for (int i = 0; i < jobs->count; i++) {
        nb_cli cli;
        nb_status st;
        nb_cli_begin(&cli, base);
        st = apply_line(jobs, i, &cli, err);
        nb_cli_free(&cli);
        if (st)
            return st;
        for (int k = 0; k < NB_FLAG_MAX; k++)
            jobs->ignored[k] |= cli.typed[k] != 0;
    }
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (!does_nothing(f))
            jobs->ignored[nb_flag_index(f)] = 0;
    return NB_OK;
}

/** Split the data into lines, without blank lines; 0 without memory. */
static int split(nb_jobs *jobs, size_t bytes)
{
    const char *end = jobs->data + bytes, *next;
    const int mark = bytes >= 3 && memcmp(jobs->data, "\xEF\xBB\xBF", 3) == 0;
    int line = 1, room = 0;
    for (const char *p = jobs->data + (mark ? 3 : 0); p < end; p = next + 1, line++) {
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next)
            next = end;
        if (is_blank(p, next))
            continue;
        if (jobs->count == room) {
            nb_job *more =
                realloc(jobs->list, (size_t)(room = 2 * room + 64) * sizeof *more);
            if (!more)
                return 0;
            jobs->list = more;
        }
        jobs->list[jobs->count++] = (nb_job){p, (size_t)(next - p), line};
    }
    return 1;
}

nb_status nb_jobs_parse(char *data, size_t bytes, const char *path, const nb_config *base,
                        nb_jobs **out, nb_error *err)
{
    nb_jobs *jobs = *out = calloc(1, sizeof *jobs);

    if (!jobs) {
        nb_free(data);
        return no_memory(err);
    }
    snprintf(jobs->path, sizeof jobs->path, "%s", path);
    jobs->data = data;
    if (!split(jobs, bytes))
        return no_memory(err);
    if (!jobs->count)
        return nb_cli_fail(err, "-jobs %.300s: no line with a JSON object", path);
    return check_lines(jobs, base, err);
}

nb_status nb_jobs_load(const nb_cli *cli, nb_jobs **out, nb_error *err)
{
    size_t bytes;
    char *data;
    nb_status st;

    *out = NULL;
    nb_json_watch();
    st = nb_read_text(cli->jobs_file, "-jobs", &data, &bytes, err);
    return st ? st : nb_jobs_parse(data, bytes, cli->jobs_file, &cli->cfg, out, err);
}

int nb_jobs_ignored(const nb_jobs *jobs, char *line, size_t size)
{
    size_t used = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (jobs->ignored[nb_flag_index(f)] && used < size)
            used += (size_t)snprintf(line + used, size - used, "%s%s", used ? ", " : "",
                                     f->name);
    if (used && used < size)
        snprintf(line + used, size - used, " in -jobs %.100s: no effect on a frame",
                 jobs->path);
    return used > 0;
}

void nb_jobs_free(nb_jobs *jobs)
{
    if (!jobs)
        return;
    nb_free(jobs->data);
    free(jobs->list);
    free(jobs);
}
