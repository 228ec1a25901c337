/* SPDX-License-Identifier: MIT */
/* -report page.html of a series: some of its frames, read back from its files. */
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../sim/picture.h"
#include "../sim/report.h"
#include "template.h"

enum {
    USUAL = 16,      /* frames */
    FIRST_NUMBER = 1 /* of numbered files */
};

/** Frames of the page. */
typedef struct chosen {
    int n, frame[NB_PAGE_FRAMES]; /* of this run, from 0 */
    int first;                    /* frame 0 of this run has this number in the series */
} chosen;

/** A page with its frames; all is owned. */
typedef struct series_page {
    chosen of;
    nb_page_geometry geometry;
    nb_image *images, *shown; /* as they were read, and with the geometry of the run */
    char (*names)[NB_PATH_MAX + 16];
    const char *name[NB_PAGE_FRAMES];
    char *report;
} series_page;

/** "a-b", frames of the series from 0. */
static nb_status read_range(const char *text, int range[2], nb_error *err)
{
    char *end;
    const long a = strtol(text, &end, 10);
    const long b = *end == '-' ? strtol(end + 1, &end, 10) : -1;
    if (end == text || *end || a < 0 || b < a || b - a >= NB_PAGE_FRAMES)
        return nb_fail(err, NB_ERR_INPUT,
                       "-page_frames '%.30s': type the first and the last frame, from 0, "
                       "as 0-15; a page has up to %d frames",
                       text, NB_PAGE_FRAMES);
    range[0] = (int)a;
    range[1] = (int)(b < 1 << 30 ? b : 1 << 30);
    return NB_OK;
}

nb_status nb_series_check_page(const nb_config *cfg, const nb_series *s, nb_error *err)
{
    const nb_format *format = nb_format_of(s->output);
    int range[2];
    if (s->page_frames[0] && !nb_is_page(cfg->report_file))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-page_frames %.30s: chooses frames of -report page.html, which is "
            "missing",
            s->page_frames);
    if (!nb_is_page(cfg->report_file))
        return NB_OK;
    if (!s->hdf5_file[0] && (!format || !strcmp(format->name, "PNG")))
        return nb_fail(err, NB_ERR_INPUT,
                       "-report %.200s: the page of a series shows the pixels of its "
                       "files: add -hdf5 FILE, or -output with .img, .cbf, .tif or .bin",
                       cfg->report_file);
    return s->page_frames[0] ? read_range(s->page_frames, range, err) : NB_OK;
}

/** As typed, or evenly over the run; as many as their pixels allow. */
static nb_status choose(const nb_series *s, int frames, double pixels, chosen *out,
                        nb_error *err)
{
    const int most = (int)fmax(1, NB_PAGE_PIXELS / pixels);
    const int limit = most < USUAL ? most : USUAL;
    int range[2];
    nb_status st;
    (void)nb_series_part(s, &out->first);
    out->n = frames < limit ? frames : limit;
    for (int i = 0; i < out->n; i++)
        out->frame[i] = out->n > 1 ? (int)((double)i * (frames - 1) / (out->n - 1)) : 0;
    if (!s->page_frames[0])
        return NB_OK;
    if ((st = read_range(s->page_frames, range, err)))
        return st;
    out->n = range[1] - range[0] + 1;
    if (range[0] < out->first || range[1] >= out->first + frames || out->n > most)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-page_frames %s: the frames are %d to %d, and %d of this size fit "
            "on a page",
            s->page_frames, out->first, out->first + frames - 1,
            most < NB_PAGE_FRAMES ? most : NB_PAGE_FRAMES);
    for (int i = 0; i < out->n; i++)
        out->frame[i] = range[0] - out->first + i;
    return NB_OK;
}

nb_status nb_series_check_page_frames(const nb_sim *base, const nb_series *s, int frames,
                                      nb_error *err)
{
    chosen of = {0};
    int fast, slow;
    nb_sim_size(base, &fast, &slow);
    return s->page_frames[0] ? choose(s, frames, (double)fast * slow, &of, err) : NB_OK;
}

/** The file of a frame, and what it is called. */
static nb_status name_frame(const nb_series *s, const chosen *of, int i,
                            char path[NB_PATH_MAX + 16], char name[NB_PATH_MAX + 16],
                            nb_error *err)
{
    const char *slash;
    nb_template t;
    nb_status st = NB_OK;
    if (s->hdf5_file[0]) {
        snprintf(path, NB_PATH_MAX + 16, "%s:%d", s->hdf5_file, of->frame[i]);
        snprintf(name, NB_PATH_MAX + 16, "frame %d", of->first + of->frame[i]);
        return NB_OK;
    }
    if (!(st = nb_template_of(s, &t, err)))
        st = nb_template_name(&t, of->frame[i] + FIRST_NUMBER, path, err);
    slash = st ? NULL : strrchr(path, '/');
    if (!st)
        snprintf(name, NB_PATH_MAX + 16, "%s", slash ? slash + 1 : path);
    return st;
}

/** Read a frame.  Its geometry becomes that of the run, which its file may not have; p->shown borrows the rest. */
static nb_status read_frame(const nb_sim *base, series_page *p, const char *path, int i,
                            nb_error *err)
{
    nb_config plain;
    nb_image *read = &p->images[i], *shown = &p->shown[i];
    nb_status st;
    nb_config_defaults(&plain);
    plain.max_read_MB = base->cfg.max_read_MB;
    *shown = nb_page_image(base, &p->geometry, NULL);
    st = nb_image_read(path, shown->fast, shown->slow, &plain, read, err);
    if (!st && (read->detector || read->fast != shown->fast || read->slow != shown->slow))
        *shown = *read;
    shown->pixels = read->pixels;
    shown->left_out = read->left_out;
    shown->pedestal = read->pedestal;
    memcpy(shown->format, read->format, sizeof shown->format);
    return st;
}

static nb_status read_frames(const nb_sim *base, const nb_series *s, series_page *p,
                             nb_error *err)
{
    char path[NB_PATH_MAX + 16];
    nb_status st = NB_OK;
    p->images = nb_alloc((size_t)p->of.n, sizeof *p->images, "page", err);
    p->shown = nb_alloc((size_t)p->of.n, sizeof *p->shown, "page", err);
    p->names = nb_alloc((size_t)p->of.n, sizeof *p->names, "page", err);
    if (!p->images || !p->shown || !p->names)
        return NB_ERR_NOMEM;
    for (int i = 0; i < p->of.n && !st; i++) {
        p->name[i] = p->names[i];
        st = name_frame(s, &p->of, i, path, p->names[i], err);
        if (!st)
            st = nb_stop_check(err);
        if (!st)
            st = read_frame(base, p, path, i, err);
    }
    return st;
}

static nb_status make_report(const nb_sim *base, const nb_series *s,
                             const nb_series_progress *result, series_page *p,
                             nb_error *err)
{
    nb_report_text text = {0};
    char *first = NULL;
    nb_status st = s->input[0] ? NB_OK : nb_sim_report(base, &first, err);
    if (st)
        return st;
    if (first)
        nb_draft_bytes(&text, first, strlen(first));
    nb_free(first);
    nb_report_put(&text, "series    %d frame%s in %.3f s, %.3f MB of images\n",
                  result->done, result->done == 1 ? "" : "s", result->seconds,
                  (double)result->bytes / 1e6);
    nb_report_put(&text, "page      %d of %d frames%s\n", p->of.n, result->frames,
                  p->of.n < result->frames ? "; -page_frames a-b chooses others" : "");
    nb_report_put(&text, "brightest %.9g photons at pixel %d %d (fast slow) of frame %d\n",
                  result->max, result->max_fast, result->max_slow,
                  p->of.first + result->max_frame);
    if (s->output[0])
        nb_report_put(&text, "files     %.450s\n", s->output);
    if (s->hdf5_file[0])
        nb_report_put(&text, "%-9s %.450s\n", s->output[0] ? "" : "files", s->hdf5_file);
    nb_report_put(&text, "seed      %lld\nbackend   %.400s\n", (long long)result->seed,
                  result->backend);
    for (int i = 0; base->notes && i < base->notes->n; i++)
        nb_report_put(&text, "%-9s %.490s\n", i ? "" : "notes", base->notes->line[i]);
    return nb_report_end(&text, &p->report, err);
}

static nb_status write_page(const nb_sim *base, series_page *p, nb_error *err)
{
    const nb_config *cfg = &base->cfg;
    const nb_page_job job = {
        .images = p->shown,
        .names = p->name,
        .n = p->of.n,
        .is_series = 1,
        .detector = p->shown[0].detector ? NULL : nb_page_panel(&p->geometry),
        .options = cfg->png.rings ? &cfg->png : NULL,
        .title = "Frames of a series",
        .report = p->report,
        .command = cfg->command_line};
    return nb_image_page(&job, cfg->report_file, err);
}

nb_status nb_series_page(const nb_sim *base, const nb_series *s,
                         const nb_series_progress *result, nb_error *err)
{
    NB_ASKS(&base->hooks, 1);
    series_page p = {0};
    int fast, slow;
    nb_status st = nb_page_geometry_open(base, &p.geometry, err);
    nb_sim_size(base, &fast, &slow);
    if (!st)
        st = choose(s, result->frames, (double)fast * slow, &p.of, err);
    if (!st)
        st = read_frames(base, s, &p, err);
    if (!st)
        st = make_report(base, s, result, &p, err);
    if (!st)
        st = write_page(base, &p, err);
    for (int i = 0; p.images && i < p.of.n; i++)
        nb_image_free(&p.images[i]);
    nb_free(p.geometry.cfg);
    nb_free(p.images);
    nb_free(p.shown);
    nb_free(p.names);
    nb_free(p.report);
    return st;
}
