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

/** The frames of a page. */
typedef struct shown_frames {
    int n, frame[NB_PAGE_FRAMES]; /* of this run, from 0 */
    int first;                    /* frame 0 of this run has this number in the series */
    nb_image read[NB_PAGE_FRAMES],
        shown[NB_PAGE_FRAMES]; /* owned; the same with the geometry of the run */
    char text[NB_PAGE_FRAMES][NB_PATH_MAX + 16]; /* of paths, then of names */
    const char *name[NB_PAGE_FRAMES];
} shown_frames;

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
static nb_status choose(const nb_series *s, int frames, double pixels, shown_frames *out,
                        nb_error *err)
{
    const int most = (int)fmin(NB_PAGE_FRAMES, fmax(1, NB_PAGE_PIXELS / pixels));
    const int usual = most < USUAL ? most : USUAL, typed = s->page_frames[0] != 0;
    int range[2], last;
    nb_status st;
    NB_FORWARD(typed ? read_range(s->page_frames, range, err) : NB_OK);
    (void)nb_series_part(s, &out->first);
    last = out->first + frames - 1;
    if (!typed)
        range[0] = out->first, range[1] = last;
    out->n = range[1] - range[0] + 1;
    if (!typed && out->n > usual)
        out->n = usual;
    if (range[0] < out->first || range[1] > last || out->n > most)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-page_frames %s: the frames are %d to %d, and %d of this size fit "
            "on a page",
            s->page_frames, out->first, last, most);
    for (int i = 0; i < out->n; i++)
        out->frame[i] = range[0] - out->first +
                        (int)((double)i * (range[1] - range[0]) / fmax(1, out->n - 1));
    return NB_OK;
}

nb_status nb_series_check_page_frames(const nb_sim *base, const nb_series *s, int frames,
                                      nb_error *err)
{
    shown_frames of;
    int fast, slow;
    nb_sim_size(base, &fast, &slow);
    return s->page_frames[0] ? choose(s, frames, (double)fast * slow, &of, err) : NB_OK;
}

/** Frame i of the page from its file; then its text is a name. */
static nb_status read_frame(const nb_sim *base, const nb_series *s, shown_frames *p,
                            int i, nb_error *err)
{
    char *const text = p->text[i];
    const char *slash;
    nb_config plain;
    nb_template t;
    nb_status st = nb_stop_check(err);
    nb_config_defaults(&plain);
    plain.max_read_MB = base->cfg.max_read_MB;
    nb_sim_size(base, &p->shown[i].fast, &p->shown[i].slow);
    if (s->hdf5_file[0])
        snprintf(text, sizeof p->text[i], "%s:%d", s->hdf5_file, p->frame[i]);
    else if (!st && !(st = nb_template_of(s, &t, err)))
        st = nb_template_name(&t, p->frame[i] + FIRST_NUMBER, text, err);
    NB_TRY(nb_image_read(text, p->shown[i].fast, p->shown[i].slow, &plain, &p->read[i],
                         err));
    p->shown[i] = p->read[i];
    if (s->hdf5_file[0])
        snprintf(text, sizeof p->text[i], "frame %d", p->first + p->frame[i]);
    slash = strrchr(text, '/');
    p->name[i] = slash ? slash + 1 : text;
    return st;
}

static nb_status put_report(const nb_sim *base, const nb_series *s,
                            const nb_series_progress *result, const shown_frames *p,
                            nb_json root, nb_error *err)
{
    nb_report_text text = {0};
    char *first = NULL;
    nb_status st;
    NB_FORWARD(s->input[0] ? NB_OK : nb_sim_report(base, &first, err));
    if (first)
        nb_draft_bytes(&text, first, strlen(first));
    nb_free(first);
    nb_report_put(&text, "series    %d frame%s in %.3f s, %.3f MB of images\n",
                  result->done, result->done == 1 ? "" : "s", result->seconds,
                  (double)result->bytes / 1e6);
    nb_report_put(&text, "page      %d of %d frames%s\n", p->n, result->frames,
                  p->n < result->frames ? "; -page_frames a-b chooses others" : "");
    nb_report_put(&text, "brightest %.9g photons at pixel %d %d (fast slow) of frame %d\n",
                  result->max, result->max_fast, result->max_slow,
                  p->first + result->max_frame);
    if (s->output[0])
        nb_report_put(&text, "files     %.450s\n", s->output);
    if (s->hdf5_file[0])
        nb_report_put(&text, "%-9s %.450s\n", s->output[0] ? "" : "files", s->hdf5_file);
    return nb_page_report_end(&text, base, result->seed, result->backend, root, err);
}

/** The page of frames that are chosen. */
static nb_status write_page(const nb_sim *base, const nb_series *s,
                            const nb_series_progress *result, shown_frames *p,
                            nb_error *err)
{
    int failed = 0;
    const nb_json root = {cJSON_CreateObject(), &failed};
    nb_page_geometry geometry = {0};
    nb_page_job job = {.names = p->name, .n = p->n, .is_series = 1};
    nb_status st = put_report(base, s, result, p, root, err);
    nb_json_text(root, "title", "Frames of a series");
    nb_json_text(root, "command", base->cfg.command_line);
    for (int i = 0; i < p->n && !st; i++)
        st = read_frame(base, s, p, i, err);
    NB_TRY(nb_page_geometry_give(base, &geometry, p->shown, &job, err));
    if (!st)
        st = nb_page_write(&job, root, base->cfg.report_file, err);
    else
        cJSON_Delete(root.json);
    nb_free(geometry.cfg);
    for (int i = 0; i < p->n; i++)
        nb_image_free(&p->read[i]);
    return st;
}

nb_status nb_series_page(const nb_sim *base, const nb_series *s,
                         const nb_series_progress *result, nb_error *err)
{
    NB_ASKS(&base->hooks, 1);
    shown_frames *p = nb_alloc(1, sizeof *p, "page", err);
    int fast, slow;
    nb_status st = NB_ERR_NOMEM;
    nb_sim_size(base, &fast, &slow);
    if (p && !(st = choose(s, result->frames, (double)fast * slow, p, err)))
        st = write_page(base, s, result, p, err);
    nb_free(p);
    return st;
}
