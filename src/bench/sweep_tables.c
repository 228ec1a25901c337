/* SPDX-License-Identifier: MIT */
/* Tables of the sweeps that change one quantity. */
#include <string.h>

#include "json.h"
#include "query.h"
#include "report.h"

static double ns_per_step(const cJSON *p)
{
    double rate = nb_bench_get(p, "steps_per_s", 0);
    return rate > 0 ? 1e9 / rate : 0;
}

static void figures(FILE *out, const cJSON *p)
{
    fprintf(out, " %.12f | %.2g | %.2g |\n", nb_bench_get_in(p, "check", "correlation", 0),
            nb_bench_get_in(p, "check", "max_error", 0),
            nb_bench_get_in(p, "check", "mean_relative_error", 0));
}

static void digits(FILE *out, double value)
{
    char text[32];
    fprintf(out, " %s |", nb_bench_digits(value, text));
}

static void precision(FILE *out, const cJSON *root)
{
    nb_query q = {"precision", NULL, NULL, NULL, NULL, NULL, 0};
    const cJSON *p = nb_query_first(root, &q);
    if (!p)
        return;
    fprintf(out, "## Precision and instruction set\n\n%.0f x %.0f pixels.\n\n",
            nb_bench_get(p, "size", 0), nb_bench_get(p, "size", 0));
    nb_bench_header(
        out, "| case | device | instructions | precision | warm ms | ns per step | "
             "correlation | largest error | mean relative error |");
    for (; p; p = nb_query_next(root, &q, p)) {
        int cpu = nb_bench_is(p, "device", "cpu");
        fprintf(out, "| %s | %s | %s | %s |", nb_bench_text(p, "case"),
                nb_bench_text(p, "device"), cpu ? nb_bench_text(p, "isa") : "-",
                nb_bench_text(p, "precision"));
        digits(out, 1e3 * nb_query_median(p, "warm"));
        digits(out, ns_per_step(p));
        figures(out, p);
    }
    fputc('\n', out);
}

static void threads(FILE *out, const cJSON *root)
{
    nb_query q = {"threads", NULL, NULL, NULL, NULL, NULL, 0};
    const cJSON *p = nb_query_first(root, &q), *one = p;
    char a[32];
    if (!p)
        return;
    fprintf(out, "## Threads\n\n%.0f x %.0f pixels.\n\n", nb_bench_get(p, "size", 0),
            nb_bench_get(p, "size", 0));
    nb_bench_header(out,
                    "| case | threads | warm ms | times faster than the first row of the "
                    "case | correlation |");
    for (; p; p = nb_query_next(root, &q, p)) {
        if (strcmp(nb_bench_text(p, "case"), nb_bench_text(one, "case")) != 0)
            one = p;
        fprintf(out, "| %s | %.0f |", nb_bench_text(p, "case"),
                nb_bench_get(p, "threads", 0));
        digits(out, 1e3 * nb_query_median(p, "warm"));
        fprintf(
            out, " %s | %.12f |\n",
            nb_bench_digits(nb_query_median(one, "warm") / nb_query_median(p, "warm"), a),
            nb_bench_get_in(p, "check", "correlation", 0));
    }
    fputc('\n', out);
}

/** Sub-pixels and domains: the time of a step against their number. */
static void steps(FILE *out, const cJSON *root, const char *sweep, const char *title,
                  const char *column)
{
    nb_query q = {sweep, NULL, NULL, NULL, NULL, NULL, 0};
    const cJSON *p = nb_query_first(root, &q);
    char line[256];
    if (!p)
        return;
    fprintf(out, "## %s\n\n%s case, %.0f x %.0f pixels.\n\n", title,
            nb_bench_text(p, "case"), nb_bench_get(p, "size", 0),
            nb_bench_get(p, "size", 0));
    snprintf(
        line, sizeof line,
        "| device | %s | steps per pixel | warm ms | ns per step | correlation | largest "
        "error | mean relative error |",
        column);
    nb_bench_header(out, line);
    for (; p; p = nb_query_next(root, &q, p)) {
        fprintf(out, "| %s | %.0f | %.0f |", nb_bench_text(p, "device"),
                nb_bench_get(p, sweep, 0), nb_bench_get(p, "steps_per_pixel", 0));
        digits(out, 1e3 * nb_query_median(p, "warm"));
        digits(out, ns_per_step(p));
        figures(out, p);
    }
    fputc('\n', out);
}

static void batches(FILE *out, const cJSON *root)
{
    const cJSON *list = cJSON_GetObjectItem(root, "batches"), *p;
    if (!list || !list->child)
        return;
    fprintf(out,
            "## Frames of a series\n\nOne call of nb_series_run for a rotation of "
            "%.0f x %.0f pixels (%s case), with one float file per frame.\n\n",
            nb_bench_get(list->child, "size", 0), nb_bench_get(list->child, "size", 0),
            nb_bench_text(list->child, "case"));
    nb_bench_header(out, "| device | frames | s | frames per second | images checked | "
                         "correlation | largest error | mean relative error |");
    for (p = nb_bench_child(list); p; p = p->next) {
        fprintf(out, "| %s | %.0f |", nb_bench_text(p, "device"),
                nb_bench_get(p, "frames", 0));
        digits(out, nb_bench_get_in(p, "seconds", "median", 0));
        digits(out, nb_bench_get(p, "frames_per_s", 0));
        fprintf(out, " %.0f |", nb_bench_get_in(p, "check", "images", 0));
        figures(out, p);
    }
    fputc('\n', out);
}

static double stage_of(const cJSON *breakdown, const char *name)
{
    const cJSON *one;
    for (one = nb_bench_child(cJSON_GetObjectItem(breakdown, "stages")); one;
         one = one->next) {
        if (nb_bench_is(one, "name", name))
            return nb_bench_get_in(one, "seconds", "median", 0);
    }
    return 0;
}

/** A row for each stage of the longest list, a column for each process. */
static void breakdowns(FILE *out, const cJSON *root)
{
    const cJSON *list = cJSON_GetObjectItem(root, "breakdowns"), *p, *stage, *most = NULL;
    char line[1024] = "| stage, ms |";
    int stages = 0;
    for (p = nb_bench_child(list); p; p = p->next) {
        int n = cJSON_GetArraySize(cJSON_GetObjectItem(p, "stages"));
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, " %s, %s |", nb_bench_text(p, "case"),
                 nb_bench_text(p, "device"));
        most = n > stages ? p : most;
        stages = n > stages ? n : stages;
    }
    if (!most)
        return;
    fprintf(
        out,
        "## One process by its stages\n\n`-time json` of a new process, %.0f x %.0f "
        "pixels, structure factors from a text file of 117,649 reflections, float and "
        "16-bit image written; medians.\n\n",
        nb_bench_get(most, "size", 0), nb_bench_get(most, "size", 0));
    nb_bench_header(out, line);
    for (stage = nb_bench_child(cJSON_GetObjectItem(most, "stages")); stage;
         stage = stage->next) {
        fprintf(out, "| %s |", nb_bench_text(stage, "name"));
        for (p = nb_bench_child(list); p; p = p->next)
            digits(out, 1e3 * stage_of(p, nb_bench_text(stage, "name")));
        fputc('\n', out);
    }
    fputc('\n', out);
}

void nb_bench_sweep_tables(FILE *out, const cJSON *root)
{
    precision(out, root);
    threads(out, root);
    steps(out, root, "oversample", "Sub-pixels", "sub-pixels along an edge");
    steps(out, root, "domains", "Mosaic domains", "domains");
    batches(out, root);
    breakdowns(out, root);
}
