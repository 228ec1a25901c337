/* SPDX-License-Identifier: MIT */
/** Write figures to JSON and read them. A figure that is not finite is left out. */
#ifndef NB_BENCH_JSON_H
#define NB_BENCH_JSON_H

#include <cjson/cJSON.h>

#include "check.h"
#include "stats.h"

/** Number root[group][key] of a JSON text, or the fallback. */
double nb_bench_json_number(const char *text, const char *group, const char *key,
                            double fallback);

void nb_bench_add(cJSON *to, const char *key, double value);
/** {"repeats", "median", "min", "max", "q1", "q3", "values"}, seconds. */
void nb_bench_add_times(cJSON *to, const char *key, const nb_bench_series *s);
/** {"images", "rows", "of_rows", "correlation", "max_error", "mean_relative_error"} */
void nb_bench_add_check(cJSON *to, const nb_bench_figures *f, int images, int rows,
                        int of_rows);

/** Number object[key], or the fallback; of object[group][key]. */
double nb_bench_get(const cJSON *object, const char *key, double fallback);
double nb_bench_get_in(const cJSON *object, const char *group, const char *key,
                       double fallback);

#endif
