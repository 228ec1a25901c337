/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <math.h>

double nb_bench_json_number(const char *text, const char *group, const char *key,
                            double fallback)
{
    cJSON *root = cJSON_Parse(text);
    double value = nb_bench_get_in(root, group, key, fallback);
    cJSON_Delete(root);
    return value;
}

void nb_bench_add(cJSON *to, const char *key, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(to, key, value);
}

void nb_bench_add_times(cJSON *to, const char *key, const nb_bench_series *s)
{
    nb_bench_summary m = nb_bench_summarize(s);
    cJSON *o = cJSON_AddObjectToObject(to, key);
    cJSON *values;
    nb_bench_add(o, "repeats", m.count);
    nb_bench_add(o, "median", m.median);
    nb_bench_add(o, "min", m.low);
    nb_bench_add(o, "max", m.high);
    nb_bench_add(o, "q1", m.q1);
    nb_bench_add(o, "q3", m.q3);
    values = cJSON_AddArrayToObject(o, "values");
    for (int i = 0; i < s->count; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(s->v[i]));
}

void nb_bench_add_check(cJSON *to, const nb_bench_figures *f, int images, int rows,
                        int of_rows)
{
    cJSON *o = cJSON_AddObjectToObject(to, "check");
    nb_bench_add(o, "images", images);
    nb_bench_add(o, "rows", rows);
    nb_bench_add(o, "of_rows", of_rows);
    nb_bench_add(o, "correlation", f->correlation);
    nb_bench_add(o, "max_error", f->max_error);
    nb_bench_add(o, "mean_relative_error", f->mean_relative);
}

double nb_bench_get(const cJSON *object, const char *key, double fallback)
{
    const cJSON *o = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(o) && isfinite(o->valuedouble) ? o->valuedouble : fallback;
}

double nb_bench_get_in(const cJSON *object, const char *group, const char *key,
                       double fallback)
{
    return nb_bench_get(cJSON_GetObjectItem(object, group), key, fallback);
}
