/* SPDX-License-Identifier: MIT */
/* The tables of the case xfel. */
#include <string.h>

#include "json.h"
#include "report.h"

static void digits(FILE *out, double value)
{
    char text[32];
    fprintf(out, " %s |", nb_bench_digits(value, text));
}

static void gain_row(FILE *out, const cJSON *g)
{
    const char *tolerance = nb_bench_text(g, "tolerance");
    double steps = nb_bench_get(g, "steps_per_pixel", 0) * nb_bench_get(g, "pixels", 0);
    double whole = nb_bench_get_in(g, "whole", "median", 0);
    fprintf(out, "| %s | `%s` | %s |", nb_bench_text(g, "device"),
            nb_bench_text(g, "shape"), tolerance[0] ? tolerance : "unset");
    digits(out, whole);
    digits(out, nb_bench_get_in(g, "every_step", "steps_per_s", 0) / 1e9);
    fprintf(out, " %.0f of %.0f |", nb_bench_get_in(g, "every_step", "rows", 0),
            nb_bench_get(g, "size", 0));
    digits(out, whole * nb_bench_get(g, "gain", 0));
    digits(out, nb_bench_get(g, "gain", 0));
    digits(out, whole > 0 ? steps / whole / 1e9 : 0);
    fprintf(out, " %.1e | %.1e |\n", nb_bench_get(g, "too_dark", 0),
            nb_bench_get(g, "too_bright", 0));
}

static void others_rows(FILE *out, const cJSON *g)
{
    const cJSON *one = nb_bench_child(cJSON_GetObjectItem(g, "others"));
    double steps = nb_bench_get(g, "steps_per_pixel", 0) * nb_bench_get(g, "pixels", 0);
    double whole = nb_bench_get_in(g, "whole", "median", 0);
    for (; one; one = one->next) {
        double rate = nb_bench_get(one, "steps_per_s", 0);
        fprintf(out, "| %s | `%s` | %.0f |", nb_bench_text(one, "program"),
                nb_bench_text(g, "shape"), nb_bench_get(one, "rows", 0));
        digits(out, nb_bench_get(one, "seconds", 0));
        digits(out, rate / 1e9);
        digits(out, rate > 0 ? steps / rate : 0);
        fprintf(out, " %s |", nb_bench_text(g, "device"));
        digits(out, rate > 0 && whole > 0 ? steps / rate / whole : 0);
        fputc('\n', out);
    }
}

void nb_bench_gain_tables(FILE *out, const cJSON *root)
{
    const cJSON *list = nb_bench_child(cJSON_GetObjectItem(root, "gains")), *g;
    int others = 0;
    if (!list)
        return;
    fprintf(
        out,
        "## What a tolerance gains\n\n"
        "Case xfel, %.0f x %.0f pixels, %.0f steps a pixel, N = 100.  Whole images with "
        "-tolerance, warm. Every step was\n"
        "measured on some rows in the middle of the image, and its time for all rows "
        "follows from theirs. Errors: of the\n"
        "brightest pixel, in those rows, against every step.\n\n",
        nb_bench_get(list, "size", 0), nb_bench_get(list, "size", 0),
        nb_bench_get(list, "steps_per_pixel", 0));
    nb_bench_header(out,
                    "| device | shape | tolerance | whole image s | every step, Gstep/s "
                    "| rows | every step, all rows, s | gain | as Gstep/s | too dark | "
                    "too bright |");
    for (g = list; g; g = g->next) {
        gain_row(out, g);
        others |= cJSON_GetArraySize(cJSON_GetObjectItem(g, "others")) > 0;
    }
    fputc('\n', out);
    if (!others)
        return;
    fputs("Other programs, whole processes of some rows; the time for all rows follows "
          "from "
          "their rate.\n\n",
          out);
    nb_bench_header(out,
                    "| program | shape | rows | s | Gstep/s | all rows, s | beside | "
                    "times as long |");
    for (g = list; g; g = g->next)
        others_rows(out, g);
    fputc('\n', out);
}
