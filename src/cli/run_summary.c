/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "difference_report.h"
#include "json_memory.h"
#include "run_compare.h"

int nb_trial_path(const nb_trial *trial, const char *folder, const char *name,
                  char path[NB_PATH_MAX])
{
    return snprintf(path, NB_PATH_MAX, "%s%s%s/%s", trial->out, folder ? "/" : "",
                    folder ? folder : "", name) < NB_PATH_MAX;
}

#include <cjson/cJSON.h>

static const char *outcome_name(nb_trial_outcome outcome)
{
    switch (outcome) {
    case NB_TRIAL_PASSED:
        return "passed";
    case NB_TRIAL_FAILED:
        return "comparison failed";
    case NB_TRIAL_MISSING:
        return "program missing";
    case NB_TRIAL_CRASHED:
        return "program crashed";
    case NB_TRIAL_STATUS:
        return "program failed";
    case NB_TRIAL_SIZE:
        return "sizes differ";
    }
    return "unknown";
}

static void add_side(cJSON *root, const nb_trial_side *s)
{
    cJSON *one = cJSON_AddObjectToObject(root, s->name);

    cJSON_AddStringToObject(one, "program", s->program);
    cJSON_AddBoolToObject(one, "ran", s->ran);
    if (!s->ran)
        return;
    cJSON_AddNumberToObject(one, "exit_status", s->end.exit_status);
    cJSON_AddNumberToObject(one, "signal", s->end.signal);
    cJSON_AddNumberToObject(one, "seconds", s->end.seconds);
    cJSON_AddNumberToObject(one, "user_seconds", s->end.user_seconds);
    cJSON_AddNumberToObject(one, "system_seconds", s->end.system_seconds);
    cJSON_AddNumberToObject(one, "peak_mib", s->end.peak_mib);
    cJSON_AddNumberToObject(one, "image_bytes", (double)s->image_bytes);
}

static void add_comparison(cJSON *root, const nb_trial *trial)
{
    nb_compared what = {"ours/floatimage.bin",
                        "ref/floatimage.bin",
                        "float",
                        "float",
                        &trial->difference,
                        &trial->thresholds,
                        trial->outcome == NB_TRIAL_PASSED};
    if (trial->compared)
        cJSON_AddItemToObject(root, "comparison", nb_difference_object(&what));
    else
        cJSON_AddNullToObject(root, "comparison");
}

static char *print_summary(const nb_trial *trial)
{
    cJSON *root = cJSON_CreateObject(), *flags = cJSON_AddArrayToObject(root, "flags");
    char *text;

    for (int i = 1; i < trial->flags.count; i++)
        cJSON_AddItemToArray(flags, cJSON_CreateString(trial->flags.argv[i]));
    cJSON_AddStringToObject(root, "version", nb_version());
    cJSON_AddStringToObject(root, "outcome", outcome_name(trial->outcome));
    cJSON_AddNumberToObject(root, "status", trial->outcome);
    cJSON_AddStringToObject(root, "message", trial->message);
    cJSON_AddNumberToObject(root, "fast", trial->fast);
    cJSON_AddNumberToObject(root, "slow", trial->slow);
    add_side(root, &trial->ref);
    add_side(root, &trial->ours);
    add_comparison(root, trial);
    text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

nb_status nb_trial_summary(const nb_trial *trial, nb_error *err)
{
    char path[NB_PATH_MAX], *text = print_summary(trial);
    nb_status st = nb_json_memory("summary.json", err);
    FILE *file =
        !st && nb_trial_path(trial, NULL, "summary.json", path) ? fopen(path, "w") : NULL;
    int ok = text && file && fprintf(file, "%s\n", text) > 0;

    ok = (!file || !fclose(file)) && ok;
    free(text);
    if (ok || st)
        return st;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "%.300s cannot be written", path);
    return err->code;
}

int nb_trial_size(const char *config, int *fast, int *slow)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(config, "r");
    char *text = file ? calloc(MOST, 1) : NULL;
    const cJSON *detector, *f, *s;
    cJSON *root = NULL;
    int found = 0;

    if (text && fread(text, 1, MOST - 1, file) > 0)
        root = cJSON_Parse(text);
    detector = cJSON_GetObjectItem(root, "detector");
    f = cJSON_GetObjectItem(detector, "fpixels");
    s = cJSON_GetObjectItem(detector, "spixels");
    if (cJSON_IsNumber(f) && cJSON_IsNumber(s)) {
        *fast = f->valueint;
        *slow = s->valueint;
        found = *fast > 0 && *slow > 0;
    }
    cJSON_Delete(root);
    free(text);
    if (file)
        fclose(file);
    return found;
}
