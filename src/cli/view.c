/* SPDX-License-Identifier: MIT */
/* nanobragg view FILE out.png, or page.html */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "subcommands.h"

typedef struct view {
    int size[2];
    double pedestal; /* NaN: that of the header */
    const char *mask, *with, *spots;
    int frames[2]; /* the first is -1: not typed */
} view;

static const nb_sub_option options[] = {
    {"size", 2, "fast slow", "pixels of a float image without header (default: square)",
     NB_SUB_WHOLE(view, size, 1, 1000000)},
    {"pedestal", 1, "x", "value of a pixel without photons (default: that of the header)",
     NB_SUB_NUMBER(view, pedestal, -1e9, 1e9)},
    {"mask", 1, "file", NB_CLI_MASK_HELP, NB_SUB_NAME(view, mask)},
    {"with", 1, "file",
     "a second image of a page, to compare with: blinks, and the difference",
     NB_SUB_NAME(view, with)},
    {"frames", 2, "first last",
     "these frames of an HDF5 file, from 0, on one page with a slider",
     NB_SUB_WHOLE(view, frames, 0, 100000000)},
    {"spots", 1, "file", "reflections of a page: a text file of -truth spots",
     NB_SUB_NAME(view, spots)},
    NB_SUB_END};

static void defaults(void *target)
{
    memset(target, 0, sizeof(view));
    ((view *)target)->pedestal = NAN;
    ((view *)target)->frames[0] = -1;
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

static nb_status read_one(const view *c, const nb_sub_line *line, const char *path,
                          nb_image *image, nb_error *err)
{
    const nb_config *cfg = &line->cli.cfg;
    nb_status st = nb_image_read(path, c->size[0], c->size[1], cfg, image, err);
    if (!st && c->size[0] && (image->fast != c->size[0] || image->slow != c->size[1]))
        st = nb_cli_fail(err, "-size %d %d: %.200s has %d x %d pixels; leave it out",
                         c->size[0], c->size[1], path, image->fast, image->slow);
    if (!st)
        st = nb_cli_leave_out(c->mask, cfg->max_read_MB, image, err);
    if (!isnan(c->pedestal))
        image->pedestal = c->pedestal;
    if (!st)
        say_left_out(image);
    return st;
}

/** The detector of a geometry file, if it has one panel of the image's size; else *out stays empty. */
static nb_status find_only_panel(const nb_config *typed, const nb_image *image,
                                 nb_detector_spec *out, nb_error *err)
{
    nb_config *cfg = malloc(sizeof *cfg);
    nb_status st = NB_OK;
    if (!cfg)
        return nb_cli_fail(err, "out of memory"), NB_ERR_NOMEM;
    *cfg = *typed;
    if (!image->detector)
        st = nb_config_load_geometry(cfg, NULL, out, err);
    free(cfg);
    if (!st && (out->n_panels != 1 || out->panels[0].size[0] != image->fast ||
                out->panels[0].size[1] != image->slow))
        nb_detector_spec_free(out);
    return st;
}

enum { MOST_PIXELS = 1 << 26 /* of the frames of a page */ };

/** Do so many frames fit on a page? */
static nb_status check_frames(const view *c, nb_error *err)
{
    const int n = c->frames[1] - c->frames[0] + 1;
    if (n < 1 || n > NB_PAGE_FRAMES)
        return nb_cli_fail(
            err,
            "-frames %d %d: the second must not be the smaller, and a page has "
            "up to %d frames",
            c->frames[0], c->frames[1], NB_PAGE_FRAMES);
    if (c->with || c->spots)
        return nb_cli_fail(err, "-frames with -%s: a page has frames or a comparison",
                           c->with ? "with" : "spots");
    return NB_OK;
}

/** Read the frames that are asked for; *n of them are the caller's, after an error too. */
static nb_status read_frames(const view *c, const nb_sub_line *line, nb_image *images,
                             int *n, nb_error *err)
{
    char path[NB_PATH_MAX + 16];
    nb_status st = NB_OK;
    for (int k = c->frames[0]; k <= c->frames[1] && !st; k++) {
        nb_image *image = &images[*n];
        snprintf(path, sizeof path, "%s:%d", line->operands[0], k);
        if ((st = read_one(c, line, path, image, err)))
            break;
        ++*n;
        if ((double)image->fast * image->slow * *n > MOST_PIXELS)
            st = nb_cli_fail(
                err,
                "-frames %d %d: a page has up to %d million pixels, which are %d "
                "frames of this size",
                c->frames[0], c->frames[1], MOST_PIXELS / 1000000,
                (int)(MOST_PIXELS / ((double)image->fast * image->slow)));
    }
    return st;
}

static nb_status write_frames(const view *c, const nb_sub_line *line, nb_error *err)
{
    nb_image *images = calloc(NB_PAGE_FRAMES, sizeof *images);
    char text[NB_PAGE_FRAMES][24];
    const char *names[NB_PAGE_FRAMES];
    nb_detector_spec only = {0};
    nb_page_job job = {
        .images = images, .names = names, .is_series = 1, .title = line->operands[0]};
    nb_status st = images ? check_frames(c, err) : NB_ERR_NOMEM;
    if (!images)
        nb_cli_fail(err, "out of memory (frames)");
    if (!st)
        st = read_frames(c, line, images, &job.n, err);
    for (int i = 0; i < job.n; i++) {
        snprintf(text[i], sizeof text[i], "frame %d", c->frames[0] + i);
        names[i] = text[i];
    }
    if (!st)
        st = find_only_panel(&line->cli.cfg, &images[0], &only, err);
    if (only.n_panels)
        job.detector = &only;
    if (!st)
        st = nb_image_page(&job, line->operands[1], err);
    nb_detector_spec_free(&only);
    for (int i = 0; i < job.n; i++)
        nb_image_free(&images[i]);
    free(images);
    return st;
}

/** One or two images and their reflections as a page. */
static nb_status write_page(const view *c, const nb_sub_line *line, nb_image images[2],
                            nb_error *err)
{
    const nb_png_options *png = &line->cli.cfg.png;
    const char *const names[] = {line->operands[0], c->with};
    nb_page_spot *spots = NULL;
    nb_detector_spec only = {0};
    nb_page_job job = {.images = images,
                       .names = names,
                       .n = c->with ? 2 : 1,
                       .options = png->rings ? png : NULL};
    nb_status st = c->with ? read_one(c, line, c->with, &images[1], err) : NB_OK;
    if (!st)
        st = find_only_panel(&line->cli.cfg, &images[0], &only, err);
    if (only.n_panels)
        job.detector = &only;
    if (!st && c->spots)
        st = nb_read_page_spots(c->spots, images[0].detector, &spots, &job.n_spots, err);
    job.spots = spots;
    if (!st)
        st = nb_image_page(&job, line->operands[1], err);
    free(spots);
    nb_detector_spec_free(&only);
    return st;
}

static int run(void *target, const nb_sub_line *line)
{
    const view *c = target;
    const nb_config *cfg = &line->cli.cfg;
    const nb_file_use files[] = {
        {"the picture", line->operands[1], 1}, {"the image", line->operands[0], 0},
        {"-geom", cfg->geom_file, 0},          {"-expt", cfg->expt_file, 0},
        {"-nxmx", cfg->nxmx_file, 0},          {"-mask", c->mask ? c->mask : "", 0},
        {"-with", c->with ? c->with : "", 0},  {"-spots", c->spots ? c->spots : "", 0}};
    nb_image images[2];
    nb_error err;
    nb_status st;
    memset(&err, 0, sizeof err);
    memset(images, 0, sizeof images);
    st = nb_check_files(NULL, files, 8, &err);
    if (!st && !nb_is_page(line->operands[1]) && (c->with || c->spots || c->frames[0] >= 0))
        st = nb_cli_fail(&err, "-%s needs a page: name the output something.html, not %s",
                         c->with    ? "with"
                         : c->spots ? "spots"
                                    : "frames",
                         line->operands[1]);
    if (!st && c->frames[0] >= 0)
        st = write_frames(c, line, &err);
    else if (!st && !(st = read_one(c, line, line->operands[0], &images[0], &err)))
        st = nb_is_page(line->operands[1])
                 ? write_page(c, line, images, &err)
                 : nb_image_picture(&images[0], &cfg->png, line->operands[1], &err);
    nb_image_free(&images[0]);
    nb_image_free(&images[1]);
    if (st)
        nb_cli_say("error", err.message);
    return nb_cli_exit_status(st);
}

const nb_sub_command nb_command_view = {
    .name = "view",
    .usage = "FILE OUT.png|OUT.html [flags]",
    .what = "Makes a picture of an image file, or a page for a browser",
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
