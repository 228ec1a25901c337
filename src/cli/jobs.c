/* SPDX-License-Identifier: MIT */
#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_memory.h"
#include "options.h"
#include "values.h"

#ifdef NB_HAVE_CJSON
#include <cjson/cJSON.h>

enum { MAX_ARGUMENTS = 256 };

typedef struct job {
    const char *text; /* into nb_jobs.data */
    int line;         /* in the file, from 1 */
} job;

struct nb_jobs {
    char *data; /* cut into lines */
    char *text; /* as it was */
    job *list;
    int count;
    uint64_t tag;
    char path[NB_PATH_MAX];
};

/** The arguments that a line stands for. */
typedef struct arguments {
    char *list[MAX_ARGUMENTS + 1]; /* owned, but for the first */
    int count;
    int no_memory, too_many;
} arguments;

static nb_status no_memory(nb_error *err)
{
    nb_cli_fail(err, "-jobs: out of memory");
    err->code = NB_ERR_NOMEM;
    return NB_ERR_NOMEM;
}

static void add(arguments *a, const char *before, const char *text)
{
    size_t size = strlen(before) + strlen(text) + 1;
    char *word = a->count < MAX_ARGUMENTS ? malloc(size) : NULL;
    a->too_many |= a->count >= MAX_ARGUMENTS;
    a->no_memory |= !word;
    if (!word)
        return;
    snprintf(word, size, "%s%s", before, text);
    a->list[a->count++] = word;
}

static void add_number(arguments *a, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    add(a, "", text);
}

/** One value of a member; 0 if it is of no use. */
static int add_value(arguments *a, const cJSON *value)
{
    if (cJSON_IsNumber(value))
        add_number(a, value->valuedouble);
    else if (cJSON_IsString(value))
        add(a, "", value->valuestring);
    else
        return 0;
    return 1;
}

static int add_member(arguments *a, const cJSON *member)
{
    const cJSON *value;
    if (cJSON_IsFalse(member))
        return 1;
    add(a, "-", member->string);
    if (cJSON_IsTrue(member))
        return 1;
    if (!cJSON_IsArray(member))
        return add_value(a, member);
    cJSON_ArrayForEach(value, member) if (!add_value(a, value)) return 0;
    return 1;
}

static nb_status fail(const nb_jobs *jobs, int frame, nb_error *err, const char *why)
{
    return nb_cli_fail(err, "-jobs %.120s:%d: %.300s", jobs->path, jobs->list[frame].line,
                       why);
}

static nb_status parse_line(const nb_jobs *jobs, int frame, arguments *a, nb_error *err)
{
    cJSON *object = cJSON_Parse(jobs->list[frame].text);
    const cJSON *member;
    nb_status status = NB_OK;

    if (!object && nb_json_memory("-jobs", err))
        status = NB_ERR_NOMEM;
    else if (!cJSON_IsObject(object))
        status = fail(jobs, frame, err, "not a JSON object like {\"phi\": 10}");
    else
        cJSON_ArrayForEach(member, object) if (!status && !add_member(a, member)) status =
            fail(jobs, frame, err,
                 "a member must be a number, text, a list, true or false");
    cJSON_Delete(object);
    return status;
}

nb_status nb_jobs_apply(const nb_jobs *jobs, int frame, nb_config *cfg, nb_error *err)
{
    arguments a = {.count = 1};
    nb_cli cli = {0};
    nb_series none = {0};
    nb_error why = {0};
    nb_status status = parse_line(jobs, frame, &a, err);

    if (!status && a.too_many)
        status = fail(jobs, frame, err, "too many words (limit 256)");
    else if (!status && a.no_memory)
        status = no_memory(err);
    cli.cfg = *cfg;
    a.list[0] = NULL;
    if (!status && nb_cli_apply(a.count, a.list, &cli, &why))
        status = fail(jobs, frame, err, why.message);
    if (!status && (memcmp(&none, &cli.series, sizeof none) != 0 || cli.jobs_file[0] ||
                    cli.cfg.truth != cfg->truth || cli.action != NB_DO_RUN ||
                    cli.show_config || cli.trace || cli.printout))
        status =
            fail(jobs, frame, err, "a flag of the whole series cannot change by frame");
    if (!status)
        *cfg = cli.cfg;
    for (int i = 1; i < a.count; i++)
        free(a.list[i]);
    return status;
}

static char *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16, used = 0, n = 1;
    char *data = file ? malloc(room + 1) : NULL;

    while (data && n > 0) {
        n = fread(data + used, 1, room - used, file);
        used += n;
        if (used == room) {
            char *more = realloc(data, 2 * room + 1);
            if (!more)
                free(data);
            data = more;
            room *= 2;
        }
    }
    if (file)
        fclose(file);
    if (data)
        data[used] = '\0';
    *bytes = used;
    return data;
}

/** Cut the data into lines; blank ones do not count. */
static int split(nb_jobs *jobs)
{
    int line = 1, room = 0;
    for (char *p = jobs->data, *end; *p; p = end, line++) {
        end = p + strcspn(p, "\n");
        if (*end)
            *end++ = '\0';
        if (!p[strspn(p, " \t\r")])
            continue;
        if (jobs->count == room) {
            job *more = realloc(jobs->list, (size_t)(room = 2 * room + 64) * sizeof *more);
            if (!more)
                return 0;
            jobs->list = more;
        }
        jobs->list[jobs->count].text = p;
        jobs->list[jobs->count++].line = line;
    }
    return 1;
}

nb_status nb_jobs_load(const nb_cli *cli, nb_jobs **out, nb_error *err)
{
    nb_jobs *jobs = calloc(1, sizeof *jobs);
    nb_status status = NB_OK;
    nb_config scratch;
    size_t bytes;

    *out = jobs;
    if (!jobs)
        return no_memory(err);
    nb_json_watch();
    snprintf(jobs->path, sizeof jobs->path, "%s", cli->jobs_file);
    errno = 0;
    jobs->data = read_whole(jobs->path, &bytes);
    if (!jobs->data && errno == ENOMEM)
        return no_memory(err);
    if (!jobs->data)
        return nb_cli_fail(err, "-jobs %.300s: cannot be read", jobs->path);
    jobs->tag = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        jobs->tag = (jobs->tag ^ (unsigned char)jobs->data[i]) * 0x100000001b3u;
    jobs->text = strdup(jobs->data);
    if (!jobs->text || !split(jobs))
        return no_memory(err);
    if (!jobs->count)
        return nb_cli_fail(err, "-jobs %.300s: no line with a JSON object", jobs->path);
    for (int i = 0; !status && i < jobs->count; i++) {
        scratch = cli->cfg;
        status = nb_jobs_apply(jobs, i, &scratch, err);
    }
    return status;
}

void nb_jobs_free(nb_jobs *jobs)
{
    if (!jobs)
        return;
    free(jobs->data);
    free(jobs->text);
    free(jobs->list);
    free(jobs);
}

int nb_jobs_count(const nb_jobs *jobs)
{
    return jobs->count;
}

uint64_t nb_jobs_tag(const nb_jobs *jobs)
{
    return jobs->tag;
}

const char *nb_jobs_text(const nb_jobs *jobs)
{
    return jobs->text;
}

#else

nb_status nb_jobs_load(const nb_cli *cli, nb_jobs **jobs, nb_error *err)
{
    (void)cli;
    *jobs = NULL;
    nb_cli_fail(err, "-jobs: this build has no JSON (install libcjson-dev and rebuild)");
    err->code = NB_ERR_UNSUPPORTED;
    return NB_ERR_UNSUPPORTED;
}

void nb_jobs_free(nb_jobs *jobs)
{
    (void)jobs;
}

int nb_jobs_count(const nb_jobs *jobs)
{
    (void)jobs;
    return 0;
}

uint64_t nb_jobs_tag(const nb_jobs *jobs)
{
    (void)jobs;
    return 0;
}

const char *nb_jobs_text(const nb_jobs *jobs)
{
    (void)jobs;
    return NULL;
}

nb_status nb_jobs_apply(const nb_jobs *jobs, int frame, nb_config *cfg, nb_error *err)
{
    (void)jobs;
    (void)frame;
    (void)cfg;
    return nb_cli_fail(err, "-jobs: this build has no JSON");
}
#endif
