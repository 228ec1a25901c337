/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <string.h>

#include "json.h"

static int fits(const cJSON *o, const char *key, const char *wanted)
{
    return !wanted || nb_bench_is(o, key, wanted);
}

static int matches(const cJSON *o, const nb_query *q)
{
    return fits(o, "sweep", q->sweep) && fits(o, "case", q->which) &&
           fits(o, "program", q->program) && fits(o, "device", q->device) &&
           fits(o, "isa", q->isa) && fits(o, "precision", q->precision) &&
           (q->size <= 0 || nb_bench_get(o, "size", 0) == q->size);
}

const cJSON *nb_query_next(const cJSON *root, const nb_query *q, const cJSON *after)
{
    const cJSON *points = cJSON_GetObjectItem(root, "points");
    const cJSON *o = after ? after->next : points ? points->child : NULL;
    while (o && !matches(o, q))
        o = o->next;
    return o;
}

int nb_query_texts(const cJSON *root, const nb_query *q, const char *key,
                   const char *out[NB_QUERY_MAX])
{
    int n = 0;
    for (const cJSON *o = nb_query_first(root, q); o; o = nb_query_next(root, q, o)) {
        const char *text = nb_bench_text(o, key);
        int known = 0;
        for (int i = 0; i < n; i++)
            known |= !strcmp(out[i], text);
        if (!known && n < NB_QUERY_MAX)
            out[n++] = text;
    }
    return n;
}

int nb_query_numbers(const cJSON *root, const nb_query *q, const char *key,
                     double out[NB_QUERY_MAX])
{
    int n = 0;
    for (const cJSON *o = nb_query_first(root, q); o; o = nb_query_next(root, q, o)) {
        double value = nb_bench_get(o, key, 0);
        int at = 0;
        while (at < n && out[at] < value)
            at++;
        if ((at < n && out[at] == value) || n == NB_QUERY_MAX)
            continue;
        memmove(out + at + 1, out + at, (size_t)(n - at) * sizeof *out);
        out[at] = value;
        n++;
    }
    return n;
}

double nb_query_median(const cJSON *point, const char *how)
{
    return nb_bench_get_in(point, how, "median", 0);
}

double nb_query_best(const cJSON *point)
{
    double warm = nb_query_median(point, "warm");
    return warm > 0 ? warm : nb_query_median(point, "cold");
}
