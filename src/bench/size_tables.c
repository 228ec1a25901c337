/* SPDX-License-Identifier: MIT */
/* Tables of the size sweep: times of all programs, rates, and checks. */
#include <string.h>

#include <math.h>

#include "json.h"
#include "query.h"
#include "report.h"

const char *nb_bench_digits(double value, char text[32])
{
    int decimals;
    if (!(value > 0) || isinf(value)) {
        snprintf(text, 32, "-");
        return text;
    }
    decimals = 2 - (int)floor(log10(value));
    snprintf(text, 32, "%.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, value);
    return text;
}

enum { PROGRAMS_MAX = 8, LINE = 1024 };

/** Another program, compared with one of our devices. */
typedef struct beside {
    const char *program;
    const char *device; /* of its points; "" if it has no choice of device */
    int has_warm;
} beside;

typedef struct table {
    const cJSON *root;
    const char *which, *device;
    int resident; /* there are times of pictures that stay on the GPU */
    int count;
    beside others[PROGRAMS_MAX];
} table;

/** Several calls write one line. */
static void cell(char *line, const char *format, const char *text)
{
    size_t used = strlen(line);
    snprintf(line + used, LINE - used, format, text);
}

void nb_bench_header(FILE *out, const char *line)
{
    fprintf(out, "%s\n|", line);
    for (const char *c = line + 1; *c; c++)
        if (*c == '|')
            fputs(" --- |", out);
    fputc('\n', out);
}

/** Programs to compare with this device: on the same kind of device, or without a choice. */
static void find_others(table *t)
{
    nb_query q = {"size", t->which, NULL, NULL, NULL, NULL, 0};
    const char *programs[NB_QUERY_MAX], *devices[NB_QUERY_MAX];
    int n = nb_query_texts(t->root, &q, "program", programs);
    for (int i = 0; i < n; i++) {
        int kinds;
        q.program = programs[i];
        q.device = NULL;
        kinds = strcmp(programs[i], "nanobragg")
                    ? nb_query_texts(t->root, &q, "device", devices)
                    : 0;
        for (int d = 0; d < kinds && t->count < PROGRAMS_MAX; d++) {
            beside *o = &t->others[t->count];
            if (devices[d][0] && strncmp(devices[d], t->device, 4))
                continue;
            *o = (beside){programs[i], devices[d], 0};
            q.device = devices[d];
            for (const cJSON *p = nb_query_first(t->root, &q); p;
                 p = nb_query_next(t->root, &q, p))
                o->has_warm |= nb_query_median(p, "warm") > 0;
            t->count++;
        }
    }
}

static const cJSON *ours(const table *t, double size, int scalar)
{
    nb_query q = {"size", t->which, "nanobragg", t->device, NULL, NULL, size};
    const cJSON *p = nb_query_first(t->root, &q);
    while (p && nb_bench_is(p, "isa", "scalar") != scalar)
        p = nb_query_next(t->root, &q, p);
    return p;
}

static const cJSON *theirs(const table *t, const beside *o, double size)
{
    nb_query q = {"size", t->which, o->program, o->device, NULL, NULL, size};
    return nb_query_first(t->root, &q);
}

static void times_header(FILE *out, const table *t)
{
    char line[LINE] = "| size | pixels |";
    for (int i = 0; i < t->count; i++) {
        cell(line, t->others[i].has_warm ? " %s cold s |" : " %s s |",
             t->others[i].program);
        if (t->others[i].has_warm)
            cell(line, " %s warm s |", t->others[i].program);
    }
    cell(line, " ours cold s | ours warm s | spread |%s", "");
    cell(line, t->resident ? " ours, left there s |%s" : "%s", "");
    for (int i = 0; i < t->count; i++) {
        cell(line, " %s / ours cold |", t->others[i].program);
        cell(line, t->others[i].has_warm ? " %s warm / ours warm |" : " %s / ours warm |",
             t->others[i].program);
        if (t->resident && t->others[i].has_warm)
            cell(line, " %s warm / ours, left there |", t->others[i].program);
    }
    cell(line, " correlation |%s", "");
    nb_bench_header(out, line);
}

static void seconds(FILE *out, double value)
{
    char text[32];
    fprintf(out, " %s |", nb_bench_digits(value, text));
}

static void ratio(FILE *out, double theirs, double ours)
{
    seconds(out, theirs > 0 && ours > 0 ? theirs / ours : 0);
}

static void times_row(FILE *out, const table *t, double size)
{
    const cJSON *own = ours(t, size, 0);
    double cold = nb_query_median(own, "cold"), warm = nb_query_median(own, "warm");
    double resident = nb_query_median(own, "resident");
    double q1 = nb_bench_get_in(own, "warm", "q1", 0),
           q3 = nb_bench_get_in(own, "warm", "q3", 0);
    fprintf(out, "| %.0f | %.0f |", size, size * size);
    for (int i = 0; i < t->count; i++) {
        const cJSON *p = theirs(t, &t->others[i], size);
        seconds(out, nb_query_median(p, "cold"));
        if (t->others[i].has_warm)
            seconds(out, nb_query_median(p, "warm"));
    }
    seconds(out, cold);
    seconds(out, warm);
    fprintf(out, warm > 0 ? " %.0f %% |" : " - |", warm > 0 ? 100 * (q3 - q1) / warm : 0);
    if (t->resident)
        seconds(out, resident);
    for (int i = 0; i < t->count; i++) {
        const cJSON *p = theirs(t, &t->others[i], size);
        ratio(out, nb_query_median(p, "cold"), cold);
        ratio(out, nb_query_best(p), warm);
        if (t->resident && t->others[i].has_warm)
            ratio(out, nb_query_median(p, "warm"), resident);
    }
    if (own)
        fprintf(out, " %.12f |\n", nb_bench_get_in(own, "check", "correlation", 0));
    else
        fputs(" - |\n", out);
}

/** The same renders as rates of pixels and steps, and the reference renderer. */
static void rates(FILE *out, const table *t, const double *sizes, int count)
{
    char a[32];
    nb_bench_header(
        out, "| size | steps | Mpixel/s | Gstep/s | scalar renderer s | peak MiB | "
             "images checked | rows of each | largest error | mean relative "
             "error |");
    for (int i = 0; i < count; i++) {
        const cJSON *p = ours(t, sizes[i], 0);
        double pixels = sizes[i] * sizes[i];
        if (!p)
            continue;
        fprintf(out, "| %.0f | %.3g |", sizes[i],
                pixels * nb_bench_get(p, "steps_per_pixel", 0));
        fprintf(out, " %s |",
                nb_bench_digits(nb_bench_get(p, "pixels_per_s", 0) / 1e6, a));
        fprintf(out, " %s |", nb_bench_digits(nb_bench_get(p, "steps_per_s", 0) / 1e9, a));
        seconds(out, nb_query_median(ours(t, sizes[i], 1), "warm"));
        fprintf(out, " %.0f | %.0f | %.0f of %.0f | %.2g | %.2g |\n",
                nb_bench_get(p, "peak_mib", 0), nb_bench_get_in(p, "check", "images", 0),
                nb_bench_get_in(p, "check", "rows", 0),
                nb_bench_get_in(p, "check", "of_rows", 0),
                nb_bench_get_in(p, "check", "max_error", 0),
                nb_bench_get_in(p, "check", "mean_relative_error", 0));
    }
    fputc('\n', out);
}

/** The difference of other programs' images from the same reference. */
static void others_checked(FILE *out, const table *t, const double *sizes, int count)
{
    if (!t->count)
        return;
    nb_bench_header(
        out, "| program | size | images | correlation | largest error | peak MiB |");
    for (int k = 0; k < t->count; k++)
        for (int i = 0; i < count; i++) {
            const cJSON *p = theirs(t, &t->others[k], sizes[i]);
            char a[32];
            if (p)
                fprintf(out, "| %s | %.0f | %.0f | %.10f | %.2g | %s |\n",
                        t->others[k].program, sizes[i],
                        nb_bench_get_in(p, "check", "images", 0),
                        nb_bench_get_in(p, "check", "correlation", 0),
                        nb_bench_get_in(p, "check", "max_error", 0),
                        nb_bench_digits(nb_bench_get(p, "peak_mib", 0), a));
        }
    fputc('\n', out);
}

static void one_table(FILE *out, table *t)
{
    nb_query q = {"size", t->which, NULL, NULL, NULL, NULL, 0};
    double sizes[NB_QUERY_MAX];
    int count = nb_query_numbers(t->root, &q, "size", sizes);
    const cJSON *any = NULL;
    find_others(t);
    for (int i = 0; i < count && !any; i++)
        any = ours(t, sizes[i], 0);
    if (!any)
        return;
    for (int i = 0; i < count; i++)
        t->resident |= nb_query_median(ours(t, sizes[i], 0), "resident") > 0;
    fprintf(out, "### %s case, %s\n\n%s.%s\n\n", t->which, t->device,
            nb_bench_text(any, "backend"),
            t->resident ? "  Left there: warm, the image stays in the GPU's memory." : "");
    times_header(out, t);
    for (int i = 0; i < count; i++)
        times_row(out, t, sizes[i]);
    fputc('\n', out);
    rates(out, t, sizes, count);
    others_checked(out, t, sizes, count);
}

void nb_bench_size_tables(FILE *out, const cJSON *root)
{
    nb_query q = {"size", NULL, "nanobragg", NULL, NULL, NULL, 0};
    const char *cases[NB_QUERY_MAX], *devices[NB_QUERY_MAX];
    int n_cases = nb_query_texts(root, &q, "case", cases);
    int n_devices = nb_query_texts(root, &q, "device", devices);
    if (n_cases)
        fputs(
            "## Time against size\n\n"
            "The time of a program is that of its whole process, with start-up and files "
            "(float and 16-bit image).\n"
            "Cold: a new process of nanobragg with the same files. Warm: one more render "
            "into memory, in a process that\n"
            "has rendered before. All times are medians. Spread: range between the "
            "quartiles over the median.\n"
            "\"X / ours\": time of X over time of nanobragg.\n\n",
            out);
    for (int c = 0; c < n_cases; c++)
        for (int d = 0; d < n_devices; d++) {
            table t;
            memset(&t, 0, sizeof t);
            t.root = root;
            t.which = cases[c];
            t.device = devices[d];
            one_table(out, &t);
        }
}
