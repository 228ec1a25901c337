/* SPDX-License-Identifier: MIT */
/** Queries of the tree of results.json, for tables and plots. */
#ifndef NB_BENCH_QUERY_H
#define NB_BENCH_QUERY_H

#include <cjson/cJSON.h>
#include <stddef.h>

#define NB_QUERY_MAX 32

/** Conditions for a point; NULL and 0: any value. */
typedef struct nb_query {
    const char *sweep, *which, *program, *device, *isa, *precision;
    double size;
} nb_query;

/** The next matching point after `after` (NULL: the first); NULL: none. */
const cJSON *nb_query_next(const cJSON *root, const nb_query *q, const cJSON *after);
#define nb_query_first(root, q) nb_query_next(root, q, NULL)

/** Different texts of a key over matching points, in order of appearance; their number. */
int nb_query_texts(const cJSON *root, const nb_query *q, const char *key,
                   const char *out[NB_QUERY_MAX]);
/** Different numbers, ascending. */
int nb_query_numbers(const cJSON *root, const nb_query *q, const char *key,
                     double out[NB_QUERY_MAX]);

/** Median seconds of a point's "cold" or "warm"; 0: none.  point may be NULL. */
double nb_query_median(const cJSON *point, const char *how);
/** The time that represents a program: its warm call if it has one, else its process. */
double nb_query_best(const cJSON *point);

#endif
