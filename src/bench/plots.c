/* SPDX-License-Identifier: MIT */
/* The charts of a report; gnuplot draws them from plots.gp. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "chart.h"
#include "json.h"
#include "process.h"
#include "query.h"
#include "report.h"

typedef struct drawing {
    const cJSON *root;
    nb_bench_plots *made;
    nb_chart *chart;
    FILE *out; /* plots.gp */
} drawing;

static void begin(const drawing *d, const char *title, const char *x, const char *y)
{
    const cJSON *m = cJSON_GetObjectItem(d->root, "machine");
    nb_chart *c = d->chart;
    memset(c, 0, sizeof *c);
    snprintf(c->title, sizeof c->title, "%s", title);
    snprintf(c->x_title, sizeof c->x_title, "%s", x);
    snprintf(c->y_title, sizeof c->y_title, "%s", y);
    snprintf(c->subtitle, sizeof c->subtitle, "%.70s, %.0f cores; %.40s, %.12s",
             nb_bench_text(m, "processor"), nb_bench_get(m, "cores", 0),
             nb_bench_text(d->root, "name"), nb_bench_text(d->root, "date"));
}

/** Write its commands if there is data to draw. */
static void finish(const drawing *d, const char *name, const double *x, int count,
                   const char *y_format)
{
    nb_bench_plots *made = d->made;
    nb_chart *c = d->chart;
    if (!nb_chart_tidy(c) || made->count == NB_BENCH_PLOTS_MAX)
        return;
    c->y_format = y_format;
    nb_chart_write(d->out, c, name, x, count);
    snprintf(made->names[made->count], sizeof made->names[0], "%s", name);
    snprintf(made->captions[made->count], sizeof made->captions[0], "%s", c->title);
    made->count++;
}

static int same_line(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"program", "device", "isa"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!nb_bench_is(a, keys[i], nb_bench_text(b, keys[i])))
            return 0;
    return 1;
}

/** Is it the first of its line? */
static int leads(const cJSON *root, const nb_query *q, const cJSON *point)
{
    const cJSON *p = nb_query_first(root, q);
    while (p != point && !same_line(p, point))
        p = nb_query_next(root, q, p);
    return p == point;
}

/** Colours by program and device, the same in every chart. */
static nb_chart_colour colour_of(const drawing *d, const cJSON *point)
{
    static const nb_chart_colour theirs[] = {NB_COLOUR_ORANGE, NB_COLOUR_PURPLE,
                                             NB_COLOUR_RED, NB_COLOUR_SKY};
    nb_query all = {"size", NULL, NULL, NULL, NULL, NULL, 0};
    int k = 0;
    if (nb_bench_is(point, "program", "nanobragg")) {
        if (nb_bench_is(point, "isa", "scalar"))
            return NB_COLOUR_GREY;
        return nb_bench_is(point, "device", "cpu") ? NB_COLOUR_BLUE : NB_COLOUR_GREEN;
    }
    for (const cJSON *p = nb_query_first(d->root, &all); p && !same_line(p, point);
         p = nb_query_next(d->root, &all, p))
        k += !nb_bench_is(p, "program", "nanobragg") && leads(d->root, &all, p);
    return theirs[k % 4];
}

/** The name of a point in the legend. */
static void name_of(const cJSON *point, const char *how, char *label, size_t size)
{
    int is_ours = nb_bench_is(point, "program", "nanobragg");
    const char *device = nb_bench_text(point, "device");
    if (is_ours && nb_bench_is(point, "isa", "scalar"))
        snprintf(label, size, "scalar renderer, warm");
    else if (!is_ours && !cJSON_GetObjectItem(point, "warm"))
        snprintf(label, size, "%s, process", nb_bench_text(point, "program"));
    else
        snprintf(label, size, "%s%s%s, %s", nb_bench_text(point, "program"),
                 device[0] ? " " : "", device, how);
}

static void add_times(const drawing *d, const nb_query *q, const cJSON *first,
                      const char *how)
{
    int stays = strcmp(how, "resident") == 0;
    nb_chart_line *line =
        nb_chart_add(d->chart, stays ? NB_COLOUR_BLACK : colour_of(d, first),
                     strcmp(how, "cold") == 0);
    name_of(first, stays ? "left there" : how, line->label, sizeof line->label);
    for (const cJSON *p = first; p; p = nb_query_next(d->root, q, p))
        if (same_line(p, first))
            nb_chart_point(line, nb_bench_get(p, "size", 0), nb_query_median(p, how));
}

static void draw_times(const drawing *d, const char *which)
{
    nb_query q = {"size", which, NULL, NULL, NULL, NULL, 0};
    double sizes[NB_QUERY_MAX];
    int count = nb_query_numbers(d->root, &q, "size", sizes);
    char title[128], name[64];
    snprintf(title, sizeof title, "Time of an image against its size, %s case", which);
    snprintf(name, sizeof name, "time-%s", which);
    begin(d, title, "detector size, pixels along an edge", "time of an image (median)");
    for (const cJSON *p = nb_query_first(d->root, &q); p;
         p = nb_query_next(d->root, &q, p))
        if (leads(d->root, &q, p)) {
            if (cJSON_GetObjectItem(p, "resident"))
                add_times(d, &q, p, "resident");
            add_times(d, &q, p, "warm");
            add_times(d, &q, p, "cold");
        }
    finish(d, name, sizes, count, "%.0s %cs");
}

/** The ratio of another program's times to ours on a device. */
static void add_ratios(const drawing *d, const nb_query *q, const cJSON *other,
                       const char *device, const char *how)
{
    int warm = !strcmp(how, "warm");
    const char *theirs = cJSON_GetObjectItem(other, "warm") ? how : "process";
    nb_chart_line *line = nb_chart_add(d->chart, colour_of(d, other), !warm);
    snprintf(line->label, sizeof line->label, "%s %s / ours %s",
             nb_bench_is(other, "isa", "scalar") ? "scalar renderer"
                                                 : nb_bench_text(other, "program"),
             theirs, how);
    for (const cJSON *p = other; p; p = nb_query_next(d->root, q, p)) {
        nb_query own = {"size",
                        q->which,
                        "nanobragg",
                        device,
                        "auto",
                        NULL,
                        nb_bench_get(p, "size", 0)};
        double ours = nb_query_median(nb_query_first(d->root, &own), how);
        double time = warm ? nb_query_best(p) : nb_query_median(p, "cold");
        if (same_line(p, other) && ours > 0)
            nb_chart_point(line, own.size, time / ours);
    }
}

static void draw_ratios(const drawing *d, const char *which, const char *ours)
{
    nb_query q = {"size", which, NULL, NULL, NULL, NULL, 0};
    double sizes[NB_QUERY_MAX];
    int count = nb_query_numbers(d->root, &q, "size", sizes);
    char title[128], name[64];
    snprintf(title, sizeof title, "Speed-up against size, %s case on %s", which, ours);
    snprintf(name, sizeof name, "speedup-%s-%.4s", which, ours);
    begin(d, title, "detector size, pixels along an edge", "their time / our time");
    for (const cJSON *p = nb_query_first(d->root, &q); p;
         p = nb_query_next(d->root, &q, p)) {
        const char *device = nb_bench_text(p, "device");
        int is_ours = nb_bench_is(p, "program", "nanobragg");
        int belongs = is_ours ? nb_bench_is(p, "isa", "scalar")
                              : !device[0] || !strncmp(device, ours, 4);
        if (!belongs || !leads(d->root, &q, p))
            continue;
        add_ratios(d, &q, p, ours, "warm");
        if (!is_ours)
            add_ratios(d, &q, p, ours, "cold");
    }
    finish(d, name, sizes, count, "%g \xc3\x97");
}

static void draw_threads(const drawing *d)
{
    nb_query q = {"threads", NULL, NULL, NULL, NULL, NULL, 0};
    const char *cases[NB_QUERY_MAX];
    double threads[NB_QUERY_MAX];
    int n = nb_query_texts(d->root, &q, "case", cases);
    int count = nb_query_numbers(d->root, &q, "threads", threads);
    const cJSON *any = nb_query_first(d->root, &q);
    nb_chart_line *ideal;
    char title[128];
    snprintf(title, sizeof title, "Scaling with threads, %.0f \xc3\x97 %.0f pixels",
             nb_bench_get(any, "size", 0), nb_bench_get(any, "size", 0));
    begin(d, title, "threads", "speed over that of the fewest threads");
    for (int i = 0; i < n; i++) {
        nb_chart_line *line =
            nb_chart_add(d->chart, i ? NB_COLOUR_ORANGE : NB_COLOUR_BLUE, 0);
        const cJSON *first;
        q.which = cases[i];
        first = nb_query_first(d->root, &q);
        snprintf(line->label, sizeof line->label, "%s case", cases[i]);
        for (const cJSON *p = first; p; p = nb_query_next(d->root, &q, p))
            nb_chart_point(line, nb_bench_get(p, "threads", 0),
                           nb_query_median(first, "warm") / nb_query_median(p, "warm"));
    }
    ideal = nb_chart_add(d->chart, NB_COLOUR_GREY, 1);
    ideal->plain = 1;
    snprintf(ideal->label, sizeof ideal->label, "every thread a full share");
    for (int i = 0; i < count; i++)
        nb_chart_point(ideal, threads[i], threads[i] / threads[0]);
    finish(d, "threads", threads, count, "%g \xc3\x97");
}

static void draw_batches(const drawing *d)
{
    const cJSON *list = cJSON_GetObjectItem(d->root, "batches"), *p;
    const cJSON *first = list ? list->child : NULL;
    nb_chart_line *line = NULL;
    double frames[NB_CHART_POINTS_MAX];
    const char *device = "";
    char title[128];
    int count = 0;
    snprintf(title, sizeof title,
             "Throughput against frames in a series, %.0f \xc3\x97 %.0f "
             "pixels, %s case",
             nb_bench_get(first, "size", 0), nb_bench_get(first, "size", 0),
             nb_bench_text(first, "case"));
    begin(d, title, "frames in one call", "frames per second");
    for (p = nb_bench_child(list); p; p = p->next) {
        double n = nb_bench_get(p, "frames", 0);
        int known = 0;
        if (!line || strcmp(device, nb_bench_text(p, "device")) != 0) {
            device = nb_bench_text(p, "device");
            line = nb_chart_add(d->chart, colour_of(d, p), 0);
            line->colour = strcmp(device, "cpu") ? NB_COLOUR_GREEN : NB_COLOUR_BLUE;
            snprintf(line->label, sizeof line->label, "%s", device);
        }
        nb_chart_point(line, n, nb_bench_get(p, "frames_per_s", 0));
        for (int i = 0; i < count; i++)
            known |= frames[i] == n;
        if (!known && count < NB_CHART_POINTS_MAX)
            frames[count++] = n;
    }
    finish(d, "batches", frames, count, "%g");
}

static void draw_every(const drawing *d)
{
    nb_query q = {"size", NULL, NULL, NULL, NULL, NULL, 0};
    nb_query own = {"size", NULL, "nanobragg", NULL, "auto", NULL, 0};
    const char *cases[NB_QUERY_MAX], *devices[NB_QUERY_MAX];
    int n = nb_query_texts(d->root, &q, "case", cases);
    int n_devices = nb_query_texts(d->root, &own, "device", devices);
    for (int i = 0; i < n; i++) {
        draw_times(d, cases[i]);
        for (int k = 0; k < n_devices; k++)
            draw_ratios(d, cases[i], devices[k]);
    }
    draw_threads(d);
    draw_batches(d);
}

static nb_status run_gnuplot(const nb_bench_folder *f, nb_error *err)
{
    char *argv[] = {(char *)"gnuplot", (char *)"plots.gp", NULL};
    char log[NB_PATH_MAX];
    nb_child_end end;
    nb_status st;
    nb_bench_path(f->scratch, "gnuplot.log", log);
    st = nb_child_run(argv, f->part, log, log, &end, err);
    if (st || !end.missing)
        return st ? st : nb_bench_ended_well("gnuplot", log, &end, err);
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "no plots: gnuplot is not installed (package gnuplot-nox); it draws them "
             "from plots.gp");
    return err->code;
}

nb_status nb_bench_draw_plots(const nb_bench_folder *f, const cJSON *root,
                              nb_bench_plots *made, nb_error *err)
{
    char *text = NULL;
    size_t size;
    nb_chart *chart = calloc(1, sizeof *chart);
    drawing d = {root, made, chart, chart ? open_memstream(&text, &size) : NULL};
    nb_status st;
    if (!d.out) {
        free(chart);
        return nb_bench_no_memory(err);
    }
    draw_every(&d);
    fclose(d.out);
    st = text ? nb_bench_write_text(f, "plots.gp", text, err) : nb_bench_no_memory(err);
    if (!st && made->count)
        st = run_gnuplot(f, err);
    if (st)
        made->count = 0;
    free(text);
    free(chart);
    return st;
}
