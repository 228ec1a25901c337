/* SPDX-License-Identifier: MIT */
#include "difference_report.h"

#include <math.h>
#include <stdlib.h>

static const double percents[NB_RELATIVE_COUNT] = NB_RELATIVE_PERCENTS;

static void print_thresholds(FILE *out, const nb_compared *c)
{
    nb_threshold_result r;
    int any = 0;

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++) {
        if (!nb_thresholds_result(c->thresholds, c->difference, k, &r))
            continue;
        fprintf(out, "%-12s%-6s %.12g, %s %.9g: %s\n", any++ ? "" : "thresholds", r.key,
                r.value, r.at_least ? "at least" : "at most", r.limit,
                r.passed ? "passed" : "FAILED");
    }
    if (!any)
        fputs("thresholds  none\n", out);
}

static void print_figures(FILE *out, const nb_difference *d)
{
    fprintf(out, "correlation %.12g\n", d->correlation);
    fprintf(out, "rmse        %.9g\n", d->rmse);
    fprintf(out, "difference  largest %+.9g at pixel %d %d (fast slow)",
            d->max_difference, d->max_fast, d->max_slow);
    if (d->max_panel >= 0)
        fprintf(out, " = %d %d of panel %s", d->max_panel_fast, d->max_panel_slow,
                d->max_panel_name);
    fprintf(out, ", %.3g of max(B)\n", d->maxrel);
    fprintf(out, "sum         A %.9g, B %.9g, ratio %.9g; scale %.9g by least squares\n",
            d->sum_a, d->sum_b, d->sum_ratio, d->scale);
    fprintf(out, "relative    over %lld pixels of B:", (long long)d->relative_pixels);
    for (int i = 0; i < NB_RELATIVE_COUNT; i++)
        fprintf(out, "%s %g %% %.3g", i ? "," : "", percents[i], d->relative[i]);
    fprintf(out, "\npeaks       %d of A, %d of B, %d paired (%.4g)", d->peaks_a,
            d->peaks_b, d->peaks_matched, d->peaks_fraction);
    fprintf(out, ", rms shift %.3g pixels, mean %.3g %.3g\n", d->peaks_rms_shift,
            d->peaks_mean_shift[0], d->peaks_mean_shift[1]);
    fprintf(
        out,
        "radial      about %.2f %.2f: difference %.3g over %d rings, largest %+.3g at "
        "radius %g\n",
        d->radial_centre[0], d->radial_centre[1], d->radial_difference, d->radial_rings,
        d->radial_worst, d->radial_worst_radius);
}

void nb_difference_text(FILE *out, const nb_compared *c)
{
    const nb_difference *d = c->difference;

    fprintf(out, "A           %s (%s)\nB           %s (%s)\n", c->a_name, c->a_format,
            c->b_name, c->b_format);
    fprintf(out, "pixels      %lld of %d x %d, fast %d to %d, slow %d to %d\n",
            (long long)d->pixels, d->fast, d->slow, d->roi[0], d->roi[1], d->roi[2],
            d->roi[3]);
    if (d->left_out)
        fprintf(out, "left out    %lld pixels: %s\n", (long long)d->left_out,
                d->left_out_why);
    if (!d->nonfinite_a && !d->nonfinite_b)
        print_figures(out, d);
    if (d->verdict[0])
        fprintf(out, "verdict     %s\n", d->verdict);
    print_thresholds(out, c);
    fprintf(out, "result      %s\n", c->passed ? "passed" : "FAILED");
}

#include <cjson/cJSON.h>
#include "common.h"
#include "json_memory.h"

static void number(cJSON *to, const char *name, double value)
{
    char text[NB_CLI_NUMBER];

    if (!isfinite(value)) {
        cJSON_AddNullToObject(to, name);
        return;
    }
    nb_write_number(value, text);
    cJSON_AddRawToObject(to, name, text);
}

static void pair(cJSON *to, const char *name, double x, double y)
{
    cJSON *list = cJSON_AddArrayToObject(to, name);
    double values[2] = {x, y};

    for (int i = 0; i < 2; i++) {
        char text[NB_CLI_NUMBER];
        nb_write_number(values[i], text);
        cJSON_AddItemToArray(list, isfinite(values[i]) ? cJSON_CreateRaw(text)
                                                       : cJSON_CreateNull());
    }
}

static void add_pixels(cJSON *to, const nb_difference *d)
{
    cJSON *list;

    pair(to, "size", d->fast, d->slow);
    list = cJSON_AddArrayToObject(to, "roi");
    for (int i = 0; i < 4; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(d->roi[i]));
    number(to, "pixels", (double)d->pixels);
    number(to, "left_out", (double)d->left_out);
    cJSON_AddStringToObject(to, "left_out_why", d->left_out_why);
    number(to, "nonfinite_a", (double)d->nonfinite_a);
    number(to, "nonfinite_b", (double)d->nonfinite_b);
    number(to, "correlation", d->correlation);
    number(to, "rmse", d->rmse);
    number(to, "max_difference", d->max_difference);
    pair(to, "max_difference_pixel", d->max_fast, d->max_slow);
    if (d->max_panel >= 0) {
        cJSON_AddStringToObject(to, "max_difference_panel", d->max_panel_name);
        pair(to, "max_difference_panel_pixel", d->max_panel_fast, d->max_panel_slow);
    }
    number(to, "maxrel", d->maxrel);
    number(to, "sum_a", d->sum_a);
    number(to, "sum_b", d->sum_b);
    number(to, "sum_ratio", d->sum_ratio);
    number(to, "max_a", d->max_a);
    number(to, "max_b", d->max_b);
    number(to, "scale", d->scale);
    number(to, "scaled_rmse", d->scaled_rmse);
    number(to, "transposed_correlation", d->transposed_correlation);
    number(to, "relative_pixels", (double)d->relative_pixels);
    list = cJSON_AddObjectToObject(to, "relative_percentiles");
    for (int i = 0; i < NB_RELATIVE_COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "%g", percents[i]);
        number(list, name, d->relative[i]);
    }
}

static void add_peaks(cJSON *to, const nb_difference *d)
{
    cJSON *peaks = cJSON_AddObjectToObject(to, "peaks"), *radial;

    number(peaks, "a", d->peaks_a);
    number(peaks, "b", d->peaks_b);
    number(peaks, "matched", d->peaks_matched);
    number(peaks, "fraction", d->peaks_fraction);
    number(peaks, "rms_shift", d->peaks_rms_shift);
    pair(peaks, "mean_shift", d->peaks_mean_shift[0], d->peaks_mean_shift[1]);
    radial = cJSON_AddObjectToObject(to, "radial");
    pair(radial, "centre", d->radial_centre[0], d->radial_centre[1]);
    number(radial, "rings", d->radial_rings);
    number(radial, "difference", d->radial_difference);
    number(radial, "worst", d->radial_worst);
    number(radial, "worst_radius", d->radial_worst_radius);
}

static void add_thresholds(cJSON *to, const nb_compared *c)
{
    cJSON *list = cJSON_AddArrayToObject(to, "thresholds");
    nb_threshold_result r;

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++) {
        cJSON *one;
        if (!nb_thresholds_result(c->thresholds, c->difference, k, &r))
            continue;
        one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "key", r.key);
        cJSON_AddStringToObject(one, "kind", r.at_least ? "at least" : "at most");
        number(one, "limit", r.limit);
        number(one, "value", r.value);
        cJSON_AddBoolToObject(one, "passed", r.passed);
        cJSON_AddItemToArray(list, one);
    }
}

static cJSON *difference_object(const nb_compared *c)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "a", c->a_name);
    cJSON_AddStringToObject(root, "b", c->b_name);
    cJSON_AddStringToObject(root, "a_format", c->a_format);
    cJSON_AddStringToObject(root, "b_format", c->b_format);
    add_pixels(root, c->difference);
    add_peaks(root, c->difference);
    add_thresholds(root, c);
    cJSON_AddStringToObject(root, "verdict", c->difference->verdict);
    cJSON_AddBoolToObject(root, "passed", c->passed);
    return root;
}

nb_status nb_difference_json(const nb_compared *c, char **json, nb_error *err)
{
    cJSON *root = difference_object(c);

    *json = root ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (*json && !nb_json_memory("JSON", err))
        return NB_OK;
    free(*json);
    *json = NULL;
    return nb_json_memory("JSON", err);
}
