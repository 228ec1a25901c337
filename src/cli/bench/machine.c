/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../../nanobragg.h"
#include "json.h"

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

void nb_bench_add_machine(cJSON *root)
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
