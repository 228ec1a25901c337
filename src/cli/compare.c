/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "common.h"
#include "options.h"
#include "subcommands.h"

/** Name of a figure of nb_difference, and its comparison with a limit. */
typedef struct key {
    const char *name;
    int at_least; /* 1: test figure >= limit */
    double from;  /* at_least 0: test |figure - from| <= limit */
    size_t offset;
} key;

#define AT(member) offsetof(nb_difference, member)

static const key keys[NB_THRESHOLD_KEYS] = {
    {"corr", 1, 0, AT(correlation)},
    {"peaks", 1, 0, AT(peaks_fraction)},
    {"sum", 0, 1, AT(sum_ratio)},
    {"rmse", 0, 0, AT(rmse)},
    {"max", 0, 0, AT(max_difference)},
    {"maxrel", 0, 0, AT(maxrel)},
    {"rel99", 0, 0, AT(relative[2])},
    {"rel", 0, 0, AT(relative[NB_RELATIVE_COUNT - 1])},
    {"shift", 0, 0, AT(peaks_rms_shift)},
    {"radial", 0, 0, AT(radial_difference)},
};

static nb_status parse_one(const char *word, nb_thresholds *out, nb_error *err)
{
    const char *equals = strchr(word, '=');
    char known[160] = "";

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                 keys[k].name);
        if (!equals || strlen(keys[k].name) != (size_t)(equals - word) ||
            strncmp(keys[k].name, word, (size_t)(equals - word)))
            continue;
        if (!nb_read_number(equals + 1, &out->limit[k]))
            return nb_cli_fail(err, "-threshold %.60s: '%.40s' is not a number", word,
                               equals + 1);
        out->set[k] = 1;
        return NB_OK;
    }
    return nb_cli_fail(err, "-threshold '%.60s': must be KEY=NUMBER, KEY one of %s", word,
                       known);
}

nb_status nb_thresholds_parse(const char *text, nb_thresholds *out, nb_error *err)
{
    char word[80];
    nb_status st = NB_OK;

    memset(out, 0, sizeof *out);
    if (!strcmp(text, "none"))
        return NB_OK;
    for (;;) {
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", length < 79 ? (int)length : 79, text);
        st = parse_one(word, out, err);
        if (st || !text[length])
            return st;
        text += length + 1;
    }
}

/** The compared files, for the report. */
typedef struct compared {
    const char *a_name, *b_name;
    const char *a_format, *b_format;
    const nb_difference *difference;
    const nb_thresholds *thresholds;
    int passed;
} compared;

/** Value of a key for the comparison with its limit. */
static double value_of(const nb_difference *d, int k)
{
    double figure;

    memcpy(&figure, (const char *)d + keys[k].offset, sizeof figure);
    return keys[k].at_least ? figure : fabs(figure - keys[k].from);
}

/** True if the limit of a key is met; false for NaN. */
static int is_met(const nb_thresholds *t, const nb_difference *d, int k)
{
    const double value = value_of(d, k);
    return keys[k].at_least ? value >= t->limit[k] : value <= t->limit[k];
}

/* True if all limits are met and all pixels are finite. */
static int thresholds_passed(const nb_thresholds *t, const nb_difference *d)
{
    for (int k = 0; k < NB_THRESHOLD_KEYS; k++)
        if (t->set[k] && !is_met(t, d, k))
            return 0;
    return !d->nonfinite_a && !d->nonfinite_b;
}

static const char *kind_of(int k)
{
    return keys[k].at_least ? "at least" : "at most";
}

static const double percents[NB_RELATIVE_COUNT] = NB_RELATIVE_PERCENTS;

static void print_thresholds(FILE *out, const compared *c)
{
    const nb_thresholds *t = c->thresholds;
    int any = 0;

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++)
        if (t->set[k])
            fprintf(out, "%-12s%-6s %.12g, %s %.9g: %s\n", any++ ? "" : "thresholds",
                    keys[k].name, value_of(c->difference, k), kind_of(k), t->limit[k],
                    is_met(t, c->difference, k) ? "passed" : "FAILED");
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

static void difference_text(FILE *out, const compared *c)
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

static void number(cJSON *to, const char *name, double value)
{
    char text[NB_TEXT_NUMBER] = "null";

    if (isfinite(value))
        nb_text_format(value, text);
    cJSON_AddRawToObject(to, name, text);
}

static void pair(cJSON *to, const char *name, double x, double y)
{
    char text[2][NB_TEXT_NUMBER] = {"null", "null"}, both[2 * NB_TEXT_NUMBER + 4];

    if (isfinite(x))
        nb_text_format(x, text[0]);
    if (isfinite(y))
        nb_text_format(y, text[1]);
    snprintf(both, sizeof both, "[%s, %s]", text[0], text[1]);
    cJSON_AddRawToObject(to, name, both);
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

static void add_thresholds(cJSON *to, const compared *c)
{
    cJSON *list = cJSON_AddArrayToObject(to, "thresholds");
    const nb_thresholds *t = c->thresholds;

    for (int k = 0; k < NB_THRESHOLD_KEYS; k++) {
        cJSON *one = t->set[k] ? cJSON_CreateObject() : NULL;
        if (!one)
            continue;
        cJSON_AddStringToObject(one, "key", keys[k].name);
        cJSON_AddStringToObject(one, "kind", kind_of(k));
        number(one, "limit", t->limit[k]);
        number(one, "value", value_of(c->difference, k));
        cJSON_AddBoolToObject(one, "passed", is_met(t, c->difference, k));
        cJSON_AddItemToArray(list, one);
    }
}

static cJSON *difference_object(const compared *c)
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

/* The caller owns *json (nb_free).  Errors: NB_ERR_NOMEM. */
static nb_status difference_json(const compared *c, char **json, nb_error *err)
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

/* --- nanobragg compare A B --- */

enum { FAILED = 3 };

typedef struct compare {
    nb_compare_options options;
    nb_thresholds thresholds;
    int size[2];
    int json;
    const char *picture, *mask, *page;
} compare;

static nb_status take_threshold(void *target, char **v, nb_error *err)
{
    return nb_thresholds_parse(v[0], &((compare *)target)->thresholds, err);
}

static const nb_sub_option options[] = {
    {"size", 2, "fast slow", "pixels of float images without header (default: square)",
     NB_SUB_WHOLE(compare, size, 1, 1000000)},
    {"roi", 4, "xmin xmax ymin ymax", "compare only these pixels, limits included",
     NB_SUB_WHOLE(compare, options.roi, 0, 1000000)},
    {"json", 0, NULL, "print JSON instead of text", NB_SUB_SET(compare, json)},
    {"threshold", 1, "key=x,...",
     "limits of the test: corr, peaks at least; sum, rmse, max, maxrel, rel, rel99, "
     "shift, radial at most; or none (default: " NB_THRESHOLD_DEFAULT ")",
     NB_SUB_TAKE(take_threshold)},
    {"diff", 1, "file.png", "picture of A, B and A - B", NB_SUB_NAME(compare, picture)},
    {"report", 1, "page.html", "page of A, B and A - B for a browser, with these lines",
     NB_SUB_NAME(compare, page)},
    {"mask", 1, "file", NB_CLI_MASK_HELP, NB_SUB_NAME(compare, mask)},
    {"floor", 1, "x", "relative errors where B > x max(B) (default: 1e-6)",
     NB_SUB_NUMBER(compare, options.floor, 0, 0.999999)},
    {"peak_percentile", 1, "P", "peaks are above this percentile (default: 99)",
     NB_SUB_NUMBER(compare, options.peak_percentile, 0, 100)},
    {"peak_exclusion", 1, "n", "a peak is above all pixels within n (default: 3)",
     NB_SUB_WHOLE(compare, options.peak_exclusion, 0, 1000)},
    {"peak_count", 1, "n", "the brightest n peaks, 0 all (default: 100)",
     NB_SUB_WHOLE(compare, options.peak_count, 0, 1000000000)},
    {"gate", 1, "d", "pair peaks up to d pixels apart (default: 2)",
     NB_SUB_NUMBER(compare, options.gate_px, 0, 1000)},
    {"centre", 2, "fast slow",
     "centre of the radial profile, pixels from the "
     "corner (default: beam centre, else middle)",
     NB_SUB_NUMBER(compare, options.centre, -1e6, 1e6)},
    NB_SUB_END};

static void defaults(void *target)
{
    compare *c = target;
    nb_error err;
    nb_compare_defaults(&c->options);
    c->options.roi[0] = -1; /* -1: not typed */
    nb_thresholds_parse(NB_THRESHOLD_DEFAULT, &c->thresholds, &err);
}

static nb_status report(const compare *c, const compared *what, nb_error *err)
{
    FILE *out = c->picture && nb_is_stdout(c->picture) ? stderr : stdout;
    char *json = NULL;
    nb_status st;
    if (!c->json) {
        difference_text(out, what);
        return NB_OK;
    }
    st = difference_json(what, &json, err);
    if (!st)
        fprintf(out, "%s\n", json);
    nb_free(json);
    return st;
}

/** Write a page of both images, with the lines of the comparison. */
static nb_status write_page(const compare *c, const compared *what,
                            const nb_image images[2], nb_error *err)
{
    const char *const names[] = {what->a_name, what->b_name};
    char *text = NULL;
    size_t size = 0;
    nb_page_job job = {.images = images, .names = names, .n = 2};
    FILE *out = open_memstream(&text, &size);
    nb_status st;
    if (out)
        difference_text(out, what);
    st = out && !fclose(out) ? NB_OK
                             : nb_fail(err, NB_ERR_NOMEM, "out of memory (a page)");
    job.report = text;
    NB_TRY(nb_image_page(&job, c->page, err));
    free(text);
    return st;
}

static nb_status check(const compare *c, const nb_sub_line *line, nb_error *err)
{
    const nb_config *cfg = &line->cli.cfg;
    const nb_file_use files[] = {
        {"A", line->operands[0], 0},          {"B", line->operands[1], 0},
        {"-geom", cfg->geom_file, 0},         {"-expt", cfg->expt_file, 0},
        {"-nxmx", cfg->nxmx_file, 0},         {"-diff", c->picture ? c->picture : "", 1},
        {"-mask", c->mask ? c->mask : "", 0}, {"-report", c->page ? c->page : "", 1}};
    if (c->page && !nb_is_page(c->page))
        return nb_cli_fail(
            err,
            "-report %.200s: it is a page: name it something.html, or type -json for "
            "numbers",
            c->page);
    return nb_check_files(NULL, files, 8, err);
}

static nb_status both(const compare *c, const nb_sub_line *line, nb_image images[2],
                      int *passed, nb_error *err)
{
    nb_difference d;
    compared what = {
        line->operands[0], line->operands[1], NULL, NULL, &d, &c->thresholds, 0};
    nb_status st = check(c, line, err);
    for (int i = 0; i < 2 && !st; i++)
        st = nb_image_read(line->operands[i], c->size[0], c->size[1], &line->cli.cfg,
                           &images[i], err);
    NB_TRY(nb_cli_leave_out(c->mask, &images[1], err));
    NB_TRY(nb_image_compare(&images[0], &images[1], &c->options, &d, err));
    if (st)
        return st;
    *passed = what.passed = thresholds_passed(&c->thresholds, &d);
    what.a_format = images[0].format;
    what.b_format = images[1].format;
    st = report(c, &what, err);
    if (!st && c->picture)
        st = nb_difference_picture(&images[0], &images[1], &c->options,
                                   &line->cli.cfg.png, c->picture, err);
    if (!st && c->page)
        st = write_page(c, &what, images, err);
    return st;
}

static int run(void *target, nb_sub_line *line)
{
    compare *c = target;
    nb_image images[2] = {0};
    nb_error err = {0};
    nb_status st;
    int passed = 0;
    c->options.roi_set = c->options.roi[0] >= 0;
    st = both(c, line, images, &passed, &err);
    nb_image_free(&images[0]);
    nb_image_free(&images[1]);
    fflush(stdout);
    return st ? nb_cli_end(st, &err) : passed ? 0 : FAILED;
}

_Static_assert(sizeof(compare) <= NB_SUB_TARGET, "raise NB_SUB_TARGET");

const nb_sub_command nb_command_compare = {
    .name = "compare",
    .usage = "A B [flags]",
    .what = "Measures how the image A differs from the reference B",
    .see = "compare.md",
    .options = options,
    .borrowed = "colormap pngscale pnggamma pnglog geom expt expt_number "
                "expt_image nxmx",
    .operands = 2,
    .statuses =
        "0 passed, 3 failed, 2 bad input, 1 a file cannot be written, or no memory",
    .defaults = defaults,
    .run = run,
};
