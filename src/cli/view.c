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
    double pedestal; /* NaN: pedestal of the header */
    const char *mask, *with, *spots;
    int frames[2]; /* first is -1 if not typed */
} view;

/** Images, names and spots to show; owns the images and the spots. */
typedef struct shown {
    int n;
    nb_image images[NB_PAGE_FRAMES];
    char frame[NB_PAGE_FRAMES][24]; /* names of frames */
    const char *names[NB_PAGE_FRAMES];
    nb_reflection *spots;
} shown;

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

/** Print the number of pixels that are left out, and the reasons. */
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
    NB_TRY(nb_cli_leave_out(c->mask, image, err));
    if (!isnan(c->pedestal))
        image->pedestal = c->pedestal;
    if (!st)
        say_left_out(image);
    return st;
}

enum { MAX_PIXELS = 1 << 26 /* in the frames of a page */ };

/** Refuse page-only flags for a picture, and -frames with -with or -spots for a page. */
static nb_status check(const view *c, const char *output, nb_error *err)
{
    const int frames = c->frames[0] >= 0, n = c->frames[1] - c->frames[0] + 1;
    const char *const more = c->with ? "with" : c->spots ? "spots" : NULL;
    if ((more || frames) && !nb_is_page(output))
        return nb_cli_fail(err, "-%s needs a page: name the output something.html, not %s",
                           more ? more : "frames", output);
    if (more && frames)
        return nb_cli_fail(err, "-frames with -%s: a page has frames or a comparison",
                           more);
    if (frames && (n < 1 || n > NB_PAGE_FRAMES))
        return nb_cli_fail(
            err, "-frames %d %d: type the first and the last one of up to %d frames",
            c->frames[0], c->frames[1], NB_PAGE_FRAMES);
    return NB_OK;
}

/** Read the next image: the first, the second of -with, or a frame. */
static nb_status read_next(const view *c, const nb_sub_line *line, shown *p, nb_error *err)
{
    const int i = p->n, frames = c->frames[0] >= 0, number = c->frames[0] + i;
    char path[NB_PATH_MAX + 16];
    nb_image *image = &p->images[i];
    nb_status st;
    p->names[i] = frames ? p->frame[i] : i ? c->with : line->operands[0];
    snprintf(p->frame[i], sizeof p->frame[i], "frame %d", number);
    snprintf(path, sizeof path, "%s:%d", line->operands[0], number);
    if ((st = read_one(c, line, frames ? path : p->names[i], image, err)))
        return st;
    p->n++;
    if (frames && (double)image->fast * image->slow * p->n > MAX_PIXELS)
        return nb_cli_fail(err,
                           "-frames %d %d: a page has up to %d million pixels of frames",
                           c->frames[0], c->frames[1], MAX_PIXELS / 1000000);
    return NB_OK;
}

static nb_status write_page(const view *c, const nb_sub_line *line, shown *p,
                            nb_error *err)
{
    nb_page_job job = {.images = p->images,
                       .names = p->names,
                       .n = p->n,
                       .is_series = c->frames[0] >= 0,
                       .options = &line->cli.cfg.png};
    nb_status st = NB_OK;
    if (job.is_series)
        job.title = line->operands[0];
    if (c->spots)
        st = nb_read_page_spots(c->spots, &p->spots, &job.n_spots, err);
    job.spots = p->spots;
    return st ? st : nb_image_page(&job, line->operands[1], err);
}

static nb_status show(const view *c, const nb_sub_line *line, shown *p, nb_error *err)
{
    const nb_config *cfg = &line->cli.cfg;
    const char *const output = line->operands[1];
    const nb_file_use files[] = {
        {"the picture", output, 1},           {"the image", line->operands[0], 0},
        {"-geom", cfg->geom_file, 0},         {"-expt", cfg->expt_file, 0},
        {"-nxmx", cfg->nxmx_file, 0},         {"-mask", c->mask ? c->mask : "", 0},
        {"-with", c->with ? c->with : "", 0}, {"-spots", c->spots ? c->spots : "", 0}};
    const int n = c->frames[0] >= 0 ? c->frames[1] - c->frames[0] + 1 : c->with ? 2 : 1;
    nb_status st = nb_check_files(NULL, files, 8, err);
    NB_TRY(check(c, output, err));
    while (!st && p->n < n)
        st = read_next(c, line, p, err);
    NB_TRY(nb_is_page(output) ? write_page(c, line, p, err)
                              : nb_image_picture(&p->images[0], &cfg->png, output, err));
    return st;
}

static int run(void *target, nb_sub_line *line)
{
    shown *p = calloc(1, sizeof *p);
    nb_error err = {0};
    const nb_status st = p ? show(target, line, p, &err)
                           : nb_fail(&err, NB_ERR_NOMEM, "out of memory (images)");
    for (int i = 0; p && i < NB_PAGE_FRAMES; i++)
        nb_image_free(&p->images[i]);
    if (p)
        free(p->spots);
    free(p);
    return nb_cli_end(st, &err);
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
                "geom expt expt_number expt_image nxmx",
    .operands = 2,
    .statuses = "0 done, 1 a file cannot be written, or no memory, 2 bad input",
    .defaults = defaults,
    .run = run,
};
