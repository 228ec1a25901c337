/* SPDX-License-Identifier: MIT */
/* results.json (format: docs/bench.md), the plain table, the machine, and statistics. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../common.h"
#include "bench.h"

void nb_bench_series_add(nb_bench_series *s, double value)
{
    if (s->count < NB_BENCH_REPEATS_MAX)
        s->v[s->count++] = value;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double nb_bench_quantile(const nb_bench_series *s, double q)
{
    nb_bench_series sorted = *s;
    const double at = q * (s->count - 1);
    const int i = (int)at, next = i + 1 < s->count ? i + 1 : i;
    if (!s->count)
        return 0;
    qsort(sorted.v, (size_t)s->count, sizeof *sorted.v, ascending);
    return sorted.v[i] + (at - i) * (sorted.v[next] - sorted.v[i]);
}

double nb_bench_median(const nb_bench_series *s)
{
    return nb_bench_quantile(s, 0.5);
}

void nb_bench_add(cJSON *to, const char *key, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(to, key, value);
}

void nb_bench_add_times(cJSON *to, const char *key, const nb_bench_series *s)
{
    cJSON *o = cJSON_AddObjectToObject(to, key), *values;
    nb_bench_add(o, "repeats", s->count);
    nb_bench_add(o, "median", nb_bench_median(s));
    nb_bench_add(o, "min", nb_bench_quantile(s, 0));
    nb_bench_add(o, "max", nb_bench_quantile(s, 1));
    nb_bench_add(o, "q1", nb_bench_quantile(s, 0.25));
    nb_bench_add(o, "q3", nb_bench_quantile(s, 0.75));
    values = cJSON_AddArrayToObject(o, "values");
    for (int i = 0; i < s->count; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(s->v[i]));
}

/* The makefile defines them only for this file. Other builds do not have them. */
#ifndef NB_BUILD_COMMIT
#define NB_BUILD_COMMIT "unknown"
#define NB_BUILD_COMPILER "unknown"
#define NB_BUILD_FLAGS "unknown"
#endif

int nb_bench_cores(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
}

void nb_bench_date(char text[16])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(text, 16, "%Y-%m-%d", &utc))
        snprintf(text, 16, "undated");
}

/** The first "key : value" of a file of such lines. */
static void look_up(const char *path, const char *key, char *value, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "r");
    snprintf(value, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && !strncmp(line, key, strlen(key))) {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
            break;
        }
    }
    if (file)
        fclose(file);
}

static void add_features(cJSON *to)
{
    const nb_feature *part;
    cJSON *o = cJSON_AddObjectToObject(to, "features");
    for (int i = 0; (part = nb_feature_at(i)); i++)
        cJSON_AddStringToObject(o, part->name, part->present ? part->detail : "absent");
}

/* Adds "machine", "build" and "date" to root. */
static void bench_add_machine(cJSON *root)
{
    cJSON *m = cJSON_AddObjectToObject(root, "machine"), *b;
    char text[256], date[16];
    struct utsname os;
    double load[3];
    look_up("/proc/cpuinfo", "model name", text, sizeof text);
    cJSON_AddStringToObject(m, "processor", text);
    nb_bench_add(m, "cores", nb_bench_cores());
    nb_bench_add(m, "memory_mib",
                 (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p20);
    if (!uname(&os)) {
        snprintf(text, sizeof text, "%.60s %.120s %.60s", os.sysname, os.release,
                 os.machine);
        cJSON_AddStringToObject(m, "system", text);
    }
    if (getloadavg(load, 3) == 3)
        nb_bench_add(m, "load_at_start", load[0]);
    look_up("/proc/driver/nvidia/version", "NVRM version", text, sizeof text);
    if (strcmp(text, "unknown"))
        cJSON_AddStringToObject(m, "gpu_driver", text);
    b = cJSON_AddObjectToObject(root, "build");
    cJSON_AddStringToObject(b, "version", nb_version());
    cJSON_AddStringToObject(b, "commit", NB_BUILD_COMMIT);
    cJSON_AddStringToObject(b, "compiler", NB_BUILD_COMPILER);
    cJSON_AddStringToObject(b, "flags", NB_BUILD_FLAGS);
    add_features(b);
    nb_bench_date(date);
    cJSON_AddStringToObject(root, "date", date);
}

/** Members of a row that do not depend on the measurement. */
static void add_point(const nb_bench *b, cJSON *list, nb_bench_point *p)
{
    const nb_bench_job *job = &p->job;
    cJSON *o = p->found, *check;
    p->found = NULL; /* the list owns it */
    cJSON_AddItemToArray(list, o);
    cJSON_AddStringToObject(o, "sweep", nb_bench_sweep_name(p->sweep));
    cJSON_AddStringToObject(o, "program", nb_bench_program(b, p));
    cJSON_AddStringToObject(o, "case", nb_bench_case_name(job->which));
    nb_bench_add(o, "size", job->size);
    nb_bench_add(o, "pixels", (double)job->size * job->size);
    if (job->oversample)
        nb_bench_add(o, "oversample", job->oversample);
    if (job->domains)
        nb_bench_add(o, "domains", job->domains);
    if (p->peer < 0) {
        cJSON_AddStringToObject(o, "device", job->device);
        cJSON_AddStringToObject(o, "isa", nb_bench_isa_name(job->isa));
        cJSON_AddStringToObject(o, "precision", nb_bench_precision_name(job->precision));
        nb_bench_add(o, "threads", job->threads);
    }
    if (p->sweep == NB_SWEEP_GAIN)
        return;
    check = cJSON_AddObjectToObject(o, "check");
    nb_bench_add(check, "images", p->images);
    nb_bench_add(check, "rows", p->rows);
    nb_bench_add(check, "of_rows", p->of_rows);
    nb_bench_add(check, "correlation", p->worst.correlation);
    nb_bench_add(check, "max_error", p->worst.max_error);
    nb_bench_add(check, "mean_relative_error", p->worst.mean_relative);
}

static void add_left_out(const nb_bench *b, cJSON *list, const nb_bench_point *p)
{
    char text[240];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToArray(list, o);
    nb_bench_job_text(&p->job, text, sizeof text);
    if (p->peer >= 0)
        text[strcspn(text + strcspn(text, " ") + 1, " ") + strcspn(text, " ") + 1] = 0;
    cJSON_AddStringToObject(o, "sweep", nb_bench_sweep_name(p->sweep));
    cJSON_AddStringToObject(o, "program", nb_bench_program(b, p));
    cJSON_AddStringToObject(o, "what", text);
    cJSON_AddStringToObject(o, "why", p->left_out);
}

static void add_lists(const nb_bench *b, cJSON *root)
{
    cJSON *points = cJSON_AddArrayToObject(root, "points");
    cJSON *left_out = cJSON_AddArrayToObject(root, "left_out");
    cJSON *batches = cJSON_AddArrayToObject(root, "batches");
    cJSON *breakdowns = cJSON_AddArrayToObject(root, "breakdowns");
    cJSON *gains = cJSON_CreateArray();
    for (int i = 0; i < b->count; i++) {
        nb_bench_point *p = &b->points[i];
        if (p->left_out[0])
            add_left_out(b, left_out, p);
        else
            add_point(b,
                      p->sweep == NB_SWEEP_BATCH       ? batches
                      : p->sweep == NB_SWEEP_BREAKDOWN ? breakdowns
                      : p->sweep == NB_SWEEP_GAIN      ? gains
                                                       : points,
                      p);
    }
    if (cJSON_GetArraySize(gains))
        cJSON_AddItemToObject(root, "gains", gains);
    else
        cJSON_Delete(gains);
}

nb_status nb_bench_write_results(const nb_bench *b, nb_error *err)
{
    cJSON *root = cJSON_CreateObject(), *cases;
    char text[2048], *json;
    nb_status st;
    cJSON_AddStringToObject(root, "format", "nanobragg-bench-1");
    cJSON_AddStringToObject(root, "name", b->opt->name);
    cJSON_AddStringToObject(root, "command", b->command);
    bench_add_machine(root);
    cases = cJSON_AddObjectToObject(root, "cases");
    for (int i = 0; i < b->opt->cases.count; i++) {
        nb_bench_case which = (nb_bench_case)b->opt->cases.v[i];
        nb_bench_case_text(which, &b->opt->own, text, sizeof text);
        cJSON_AddStringToObject(cases, nb_bench_case_name(which), text);
    }
    add_lists(b, root);
    json = cJSON_Print(root);
    cJSON_Delete(root);
    st = nb_json_memory("results.json", err);
    if (!st)
        st = json ? nb_bench_write_text(&b->folder, "results.json", json, err)
                  : nb_bench_no_memory(err);
    free(json);
    return st;
}

void nb_bench_print_plain(const nb_bench *b)
{
    for (int i = 0; i < b->count; i++) {
        const nb_bench_point *p = &b->points[i];
        char text[240];
        nb_bench_job_text(&p->job, text, sizeof text);
        printf("%-11s %s: %s", nb_bench_sweep_name(p->sweep), nb_bench_program(b, p),
               text);
        if (p->frames)
            printf(", %d frames", p->frames);
        if (p->cold.count)
            printf(", cold %.3g ms", 1e3 * nb_bench_median(&p->cold));
        if (p->warm.count)
            printf(", warm %.3g ms", 1e3 * nb_bench_median(&p->warm));
        printf("%s%s\n", p->left_out[0] ? ", left out: " : "", p->left_out);
    }
}
