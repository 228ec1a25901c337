/* SPDX-License-Identifier: MIT */
/* nanobragg view FILE out.png */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "subcommands.h"

typedef struct view {
    int size[2];
    double pedestal; /* NaN: that of the header */
    const char *mask;
} view;

static const nb_sub_option options[] = {
    {"size", 2, "fast slow", "pixels of a float image without header (default: square)",
     NB_SUB_WHOLE(view, size, 1, 1000000)},
    {"pedestal", 1, "x", "value of a pixel without photons (default: that of the header)",
     NB_SUB_NUMBER(view, pedestal, -1e9, 1e9)},
    {"mask", 1, "file", NB_CLI_MASK_HELP, NB_SUB_NAME(view, mask)},
    NB_SUB_END};

static void defaults(void *target)
{
    memset(target, 0, sizeof(view));
    ((view *)target)->pedestal = NAN;
}

/** Print the number of pixels without counts, and the reasons. */
static void say_left_out(const nb_image *image)
{
    char why[240], line[320];
    int64_t n = nb_image_left_out(image, why, sizeof why);
    snprintf(line, sizeof line, "%lld of %lld pixels left out: %s", (long long)n,
             (long long)image->fast * image->slow, why);
    if (n)
        nb_cli_say("note", line);
}

static int run(void *target, const nb_sub_line *line)
{
    const view *c = target;
    const nb_config *cfg = &line->cli.cfg;
    const nb_file_use files[] = {
        {"the picture", line->operands[1], 1}, {"the image", line->operands[0], 0},
        {"-geom", cfg->geom_file, 0},          {"-expt", cfg->expt_file, 0},
        {"-nxmx", cfg->nxmx_file, 0},          {"-mask", c->mask ? c->mask : "", 0}};
    nb_image image;
    nb_error err;
    nb_status st;
    memset(&err, 0, sizeof err);
    memset(&image, 0, sizeof image);
    st = nb_check_files(NULL, files, 6, &err);
    if (!st)
        st = nb_image_read(line->operands[0], c->size[0], c->size[1], &line->cli.cfg,
                           &image, &err);
    if (!st)
        st = nb_cli_leave_out(c->mask, cfg->max_read_MB, &image, &err);
    if (!isnan(c->pedestal))
        image.pedestal = c->pedestal;
    if (!st)
        say_left_out(&image);
    if (!st)
        st = nb_image_picture(&image, &line->cli.cfg.png, line->operands[1], &err);
    nb_image_free(&image);
    if (st)
        nb_cli_say("error", err.message);
    return nb_cli_exit_status(st);
}

const nb_sub_command nb_command_view = {
    .name = "view",
    .usage = "FILE OUT.png [flags]",
    .what = "Makes a picture of an image file",
    .see = "compare.md",
    .options = options,
    .borrowed = "colormap pngscale pnggamma pnglog pngmax pngblocks pngrings lambda "
                "energy distance "
                "close_distance pixel mosflm xds adxv denzo dials Xbeam Ybeam ORGX ORGY "
                "detector_rotx detector_roty detector_rotz twotheta pivot curved_det "
                "max_read geom expt expt_number expt_image nxmx",
    .operands = 2,
    .statuses = "0 done, 1 a file cannot be written, or no memory, 2 bad input",
    .defaults = defaults,
    .run = run,
};
