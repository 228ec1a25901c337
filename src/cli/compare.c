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

static nb_status take_size(void *target, char **v, nb_error *err)
{
    compare *c = target;
    nb_status st = nb_sub_whole("-size", v[0], 1, 1000000, &c->size[0], err);
    return st ? st : nb_sub_whole("-size", v[1], 1, 1000000, &c->size[1], err);
}

static nb_status take_roi(void *target, char **v, nb_error *err)
{
    compare *c = target;
    nb_status st = NB_OK;
    for (int i = 0; i < 4 && !st; i++)
        st = nb_sub_whole("-roi", v[i], 0, 1000000, &c->options.roi[i], err);
    c->options.roi_set = 1;
    return st;
}

static nb_status take_json(void *target, char **v, nb_error *err)
{
    (void)v;
    (void)err;
    ((compare *)target)->json = 1;
    return NB_OK;
}

static nb_status take_threshold(void *target, char **v, nb_error *err)
{
    return nb_thresholds_parse(v[0], &((compare *)target)->thresholds, err);
}

static nb_status take_diff(void *target, char **v, nb_error *err)
{
    ((compare *)target)->picture = v[0];
    return *v[0] ? NB_OK : nb_cli_fail(err, "-diff '': the file name is empty");
}

static nb_status take_mask(void *target, char **v, nb_error *err)
{
    ((compare *)target)->mask = v[0];
    return *v[0] ? NB_OK : nb_cli_fail(err, "-mask '': the file name is empty");
}

static nb_status take_floor(void *target, char **v, nb_error *err)
{
    return nb_sub_number("-floor", v[0], 0, 0.999999, &((compare *)target)->options.floor,
                         err);
}

static nb_status take_percentile(void *target, char **v, nb_error *err)
{
    return nb_sub_number("-peak_percentile", v[0], 0, 100,
                         &((compare *)target)->options.peak_percentile, err);
}

static nb_status take_exclusion(void *target, char **v, nb_error *err)
{
    return nb_sub_whole("-peak_exclusion", v[0], 0, 1000,
                        &((compare *)target)->options.peak_exclusion, err);
}

static nb_status take_count(void *target, char **v, nb_error *err)
{
    return nb_sub_whole("-peak_count", v[0], 0, 1000000000,
                        &((compare *)target)->options.peak_count, err);
}

static nb_status take_gate(void *target, char **v, nb_error *err)
{
    return nb_sub_number("-gate", v[0], 0, 1000, &((compare *)target)->options.gate_px,
                         err);
}

static nb_status take_centre(void *target, char **v, nb_error *err)
{
    compare *c = target;
    nb_status st = nb_sub_number("-centre", v[0], -1e6, 1e6, &c->options.centre[0], err);
    return st ? st : nb_sub_number("-centre", v[1], -1e6, 1e6, &c->options.centre[1], err);
}

static const nb_sub_option options[] = {
    {"size", 2, "fast slow", "pixels of float images without header (default: square)",
     take_size},
    {"roi", 4, "xmin xmax ymin ymax", "compare only these pixels, limits included",
     take_roi},
    {"json", 0, NULL, "print JSON instead of text", take_json},
    {"threshold", 1, "key=x,...",
     "limits of the test: corr, peaks at least; sum, rmse, max, maxrel, rel, rel99, "
     "shift, radial at most; or none (default: " NB_THRESHOLD_DEFAULT ")",
     take_threshold},
    {"diff", 1, "file.png", "picture of A, B and A - B", take_diff},
    {"mask", 1, "file", NB_CLI_MASK_HELP, take_mask},
    {"floor", 1, "x", "relative errors where B > x max(B) (default: 1e-6)", take_floor},
    {"peak_percentile", 1, "P", "peaks are above this percentile (default: 99)",
     take_percentile},
    {"peak_exclusion", 1, "n", "and above all within n pixels (default: 3)",
     take_exclusion},
    {"peak_count", 1, "n", "the brightest n peaks, 0 all (default: 100)", take_count},
    {"gate", 1, "d", "pair peaks up to d pixels apart (default: 2)", take_gate},
    {"centre", 2, "fast slow",
     "centre of the radial profile, pixels from the "
     "corner (default: beam centre, else middle)",
     take_centre},
    {NULL, 0, NULL, NULL, NULL}};

static void defaults(void *target)
{
    compare *c = target;
    nb_error err;
    nb_compare_defaults(&c->options);
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
    nb_image images[2];
    nb_error err;
    nb_status st;
    int passed = 0;
    memset(images, 0, sizeof images);
    memset(&err, 0, sizeof err);
    st = both(target, line, images, &passed, &err);
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
