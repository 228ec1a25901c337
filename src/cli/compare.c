/* SPDX-License-Identifier: MIT */
/* nanobragg compare A B */
#include <stdio.h>
#include <string.h>

#include "difference_report.h"
#include "left_out.h"
#include "outputs.h"
#include "subcommands.h"
#include "common.h"

enum { FAILED = 3 };

typedef struct compare {
    nb_compare_options options;
    nb_thresholds thresholds;
    int size[2];
    int json;
    const char *picture, *mask;
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
    {"mask", 1, "file", NB_CLI_MASK_HELP, NB_SUB_NAME(compare, mask)},
    {"floor", 1, "x", "relative errors where B > x max(B) (default: 1e-6)",
     NB_SUB_NUMBER(compare, options.floor, 0, 0.999999)},
    {"peak_percentile", 1, "P", "peaks are above this percentile (default: 99)",
     NB_SUB_NUMBER(compare, options.peak_percentile, 0, 100)},
    {"peak_exclusion", 1, "n", "and above all within n pixels (default: 3)",
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
    c->options.roi[0] = -1; /* not typed */
    nb_thresholds_parse(NB_THRESHOLD_DEFAULT, &c->thresholds, &err);
}

static nb_status report(const compare *c, const nb_compared *what, nb_error *err)
{
    FILE *out = c->picture && nb_is_stdout(c->picture) ? stderr : stdout;
    char *json = NULL;
    nb_status st;
    if (!c->json) {
        nb_difference_text(out, what);
        return NB_OK;
    }
    st = nb_difference_json(what, &json, err);
    if (!st)
        fprintf(out, "%s\n", json);
    nb_free(json);
    return st;
}

static nb_status both(const compare *c, const nb_sub_line *line, nb_image images[2],
                      int *passed, nb_error *err)
{
    nb_difference d;
    nb_compared what = {
        line->operands[0], line->operands[1], NULL, NULL, &d, &c->thresholds, 0};
    const nb_config *cfg = &line->cli.cfg;
    const nb_file_use files[] = {
        {"A", line->operands[0], 0},         {"B", line->operands[1], 0},
        {"-geom", cfg->geom_file, 0},        {"-expt", cfg->expt_file, 0},
        {"-nxmx", cfg->nxmx_file, 0},        {"-diff", c->picture ? c->picture : "", 1},
        {"-mask", c->mask ? c->mask : "", 0}};
    nb_status st = nb_check_files(NULL, files, 7, err);
    for (int i = 0; i < 2 && !st; i++)
        st = nb_image_read(line->operands[i], c->size[0], c->size[1], &line->cli.cfg,
                           &images[i], err);
    if (!st)
        st = nb_cli_leave_out(c->mask, cfg->max_read_MB, &images[1], err);
    if (!st)
        st = nb_image_compare(&images[0], &images[1], &c->options, &d, err);
    if (st)
        return st;
    *passed = what.passed = nb_thresholds_passed(&c->thresholds, &d);
    what.a_format = images[0].format;
    what.b_format = images[1].format;
    st = report(c, &what, err);
    if (!st && c->picture)
        st = nb_difference_picture(&images[0], &images[1], &c->options,
                                   &line->cli.cfg.png, c->picture, err);
    return st;
}

static int run(void *target, const nb_sub_line *line)
{
    compare *c = target;
    nb_image images[2];
    nb_error err;
    nb_status st;
    int passed = 0;
    memset(images, 0, sizeof images);
    memset(&err, 0, sizeof err);
    c->options.roi_set = c->options.roi[0] >= 0;
    st = both(c, line, images, &passed, &err);
    nb_image_free(&images[0]);
    nb_image_free(&images[1]);
    if (st) {
        fflush(stdout);
        nb_cli_say("error", err.message);
        return nb_cli_exit_status(st);
    }
    return passed ? 0 : FAILED;
}

_Static_assert(sizeof(compare) <= NB_SUB_TARGET, "raise NB_SUB_TARGET");

const nb_sub_command nb_command_compare = {
    .name = "compare",
    .usage = "A B [flags]",
    .what = "Measures how the image A differs from the reference B",
    .see = "compare.md",
    .options = options,
    .borrowed = "colormap pngscale pnggamma pnglog max_read geom expt expt_number nxmx",
    .operands = 2,
    .statuses =
        "0 passed, 3 failed, 2 bad input, 1 a file cannot be written, or no memory",
    .defaults = defaults,
    .run = run,
};
