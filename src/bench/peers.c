/* SPDX-License-Identifier: MIT */
/* Figures of programs that have another command line, from a file (docs/bench.md):
 * {"program": "NAME", "points": [{"case", "size", "device", "cold": s or [s, ...],
 *  "warm": likewise, "correlation", "max_error"}, ...]} */
#include <math.h>
#include <string.h>

#include "../cli/common.h"
#include "json.h"
#include "results.h"

/** One number or a list of them, all greater than 0; 0 for anything else. */
static int take_times(const cJSON *value, nb_bench_series *s)
{
    const cJSON *one;
    s->count = 0;
    if (cJSON_IsNumber(value))
        nb_bench_series_add(s, value->valuedouble);
    for (one = nb_bench_child(value); one; one = one->next) {
        if (!cJSON_IsNumber(one))
            return 0;
        nb_bench_series_add(s, one->valuedouble);
    }
    for (int i = 0; i < s->count; i++)
        if (!(s->v[i] > 0 && isfinite(s->v[i])))
            return 0;
    return s->count > 0;
}

/** Times and figures of a point; 0 when they cannot be used. */
static int read_point(const cJSON *point, nb_bench_series *cold, nb_bench_series *warm,
                      nb_bench_figures *f)
{
    const cJSON *c = cJSON_GetObjectItem(point, "cold"),
                *w = cJSON_GetObjectItem(point, "warm");
    cold->count = warm->count = 0;
    f->correlation = nb_bench_get(point, "correlation", NAN);
    f->max_error = nb_bench_get(point, "max_error", NAN);
    f->mean_relative = nb_bench_get(point, "mean_relative_error", NAN);
    return nb_bench_text(point, "case")[0] && nb_bench_get(point, "size", 0) >= 1 &&
           (c || w) && (!c || take_times(c, cold)) && (!w || take_times(w, warm)) &&
           isfinite(f->correlation) && isfinite(f->max_error);
}

static void add_point(cJSON *points, const char *program, const cJSON *from)
{
    static const char *const kept[] = {"case", "device"};
    nb_bench_series cold, warm;
    nb_bench_figures f;
    double size = nb_bench_get(from, "size", 0);
    cJSON *o = cJSON_CreateObject();
    read_point(from, &cold, &warm, &f);
    cJSON_AddItemToArray(points, o);
    cJSON_AddStringToObject(o, "sweep", "size");
    cJSON_AddStringToObject(o, "program", program);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        cJSON_AddStringToObject(o, kept[i], nb_bench_text(from, kept[i]));
    nb_bench_add(o, "size", size);
    nb_bench_add(o, "pixels", size * size);
    if (cold.count)
        nb_bench_add_times(o, "cold", &cold);
    if (warm.count)
        nb_bench_add_times(o, "warm", &warm);
    nb_bench_add_check(o, &f, cold.count + warm.count, (int)size, (int)size);
}

/** Read one file; points NULL: only check whether it can be used. */
static nb_status take_file(const char *path, cJSON *points, cJSON *sources, nb_error *err)
{
    nb_bench_bounds bounds = nb_bench_bounds_of_peer();
    const cJSON *list, *one;
    cJSON *root;
    int k = 0;
    nb_status st = nb_bench_read_json("-peer-results", path, &root, err);
    if (st)
        return st;
    list = cJSON_GetObjectItem(root, "points");
    if (!nb_bench_text(root, "program")[0] || !cJSON_IsArray(list))
        st = nb_cli_fail(err, "-peer-results %.300s: it needs \"program\" and \"points\"",
                         path);
    for (one = nb_bench_child(list); one; one = one->next) {
        nb_bench_series cold, warm;
        nb_bench_figures f;
        if (st)
            break;
        k++;
        if (!read_point(one, &cold, &warm, &f))
            st = nb_cli_fail(err,
                             "-peer-results %.300s: point %d needs case, size, cold or "
                             "warm in seconds, correlation and max_error",
                             path, k);
        else if (!nb_bench_is_right(&f, &bounds))
            st = nb_cli_fail(err,
                             "-peer-results %.300s: the image of point %d is wrong: "
                             "correlation %.9g, largest difference %.3g of the brightest "
                             "pixel",
                             path, k, f.correlation, f.max_error);
        else if (points)
            add_point(points, nb_bench_text(root, "program"), one);
    }
    if (!st && sources) {
        cJSON_DeleteItemFromObject(root, "points");
        cJSON_AddItemToArray(sources, root);
    } else {
        cJSON_Delete(root);
    }
    return st;
}

nb_status nb_bench_check_peers(const nb_bench_options *o, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < o->peer_results_count && !st; i++)
        st = take_file(o->peer_results[i], NULL, NULL, err);
    return st;
}

nb_status nb_bench_add_peers(const nb_bench_options *o, cJSON *root, nb_error *err)
{
    cJSON *points = cJSON_GetObjectItem(root, "points");
    cJSON *sources = cJSON_GetObjectItem(root, "peer_results"); /* of -from */
    nb_status st = NB_OK;
    if (!sources)
        sources = cJSON_AddArrayToObject(root, "peer_results");
    for (int i = 0; i < o->peer_results_count && !st; i++)
        st = take_file(o->peer_results[i], points, sources, err);
    return st;
}
