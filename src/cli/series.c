/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/threads.h"
#include "common.h"
#include "options.h"

/** Data of the callbacks of a running series. */
typedef struct series_run {
    nb_progress *progress;
    nb_jobs *jobs;
    const nb_cli *cli;
    int stills;
    double start;    /* clock time, seconds */
    double fraction; /* last shown fraction */
    /* progress so far; member `frames` is 0 before the first frame */
    nb_series_progress latest;
} series_run;

/** Overwrite the progress line: finished frames, finished part, time left. */
static void draw(series_run *run, double fraction)
{
    const nb_series_progress *p = &run->latest;
    const nb_series *s = &run->cli->series;
    const int frames = p->frames ? p->frames : s->frames + run->stills;
    const double elapsed = nb_monotonic_seconds() - run->start;
    const double made = fraction - (frames ? (double)p->kept / frames : 0);
    char left[32] = "?";

    run->fraction = fraction;
    if (made > 0)
        nb_progress_left(elapsed * (1 - fraction) / made, left, sizeof left);
    fprintf(stderr, "%s%d of %d frames, %.0f %%, %.3g frames/s, %.1f MB, %s left%s",
            nb_progress_begin(run->progress), p->done, frames, floor(100 * fraction),
            elapsed > 0 && made > 0 ? made * frames / elapsed : 0, (double)p->bytes / 1e6,
            left, nb_progress_stop(run->progress));
    fflush(stderr);
}

static int on_progress(void *user, const nb_series_progress *p)
{
    series_run *run = user;
    run->latest = *p;
    if (nb_progress_is_due(run->progress) ||
        (run->progress->visible && run->progress->terminal && p->done == p->frames))
        draw(run, fmax(run->fraction, p->frames ? (double)p->done / p->frames : 0));
    return nb_stop_requested();
}

/** Draw the progress line. The renderer calls this too, because the first frame may take
 * minutes. */
static int on_render(void *user, double fraction)
{
    series_run *run = user;
    if (nb_progress_is_due(run->progress))
        draw(run, fmax(run->fraction, fraction));
    return nb_stop_requested();
}

static void on_notice(void *user, const char *line)
{
    const series_run *run = user;
    nb_cli_notice(run->progress, line);
}

static nb_status on_frame(void *user, int frame, nb_config *cfg, nb_error *err)
{
    const series_run *run = user;
    return nb_jobs_apply(run->jobs, frame, cfg, err);
}

static void place_of(void *user, int frame, char *text, size_t size)
{
    const series_run *run = user;
    nb_jobs_place(run->jobs, frame, text, size);
}

/** Text of the number of frames that -only_frame chooses; "" for all frames. */
static void part_of(const nb_series *s, char *text, size_t size)
{
    int from, to;

    text[0] = '\0';
    if (sscanf(s->only_frame, "%d-%d", &from, &to) == 2)
        snprintf(text, size, ", of which -only_frame %.40s makes %d", s->only_frame,
                 to - from + 1);
}

/** Print the report that all frames share, as for a single image. */
static void on_begin(void *user, const nb_sim *base)
{
    const series_run *run = user;
    const nb_series *s = &run->cli->series;
    char *text = NULL, part[100];

    if (run->cli->quiet)
        return;
    if (s->input[0]) { /* with -input, only a background is rendered */
        fprintf(run->cli->text, "input     %s\n", s->input);
        fflush(run->cli->text);
        return;
    }
    if (nb_sim_report(base, &text, NULL))
        return;
    fputs(text, run->cli->text);
    nb_free(text);
    part_of(s, part, sizeof part);
    if (s->frames > 0)
        fprintf(run->cli->text, "frames    %d of a rotation%s\n", s->frames, part);
    else
        fprintf(run->cli->text, "frames    %d stills%s%s%s%s\n", run->stills, part,
                s->orientations[0] ? ", orientations " : "", s->orientations,
                run->jobs ? ", each changed by -jobs" : "");
    if (s->spectra[0])
        fprintf(run->cli->text,
                "          with the spectra of %s instead of the beam above\n",
                s->spectra);
    fflush(run->cli->text);
}

static void report(const nb_cli *cli, const nb_series_progress *p)
{
    const char *names[] = {cli->series.output, cli->series.hdf5_file,
                           cli->cfg.report_file};
    int made = p->done - p->kept, files = 0;
    FILE *out = cli->text;

    fprintf(out, "series    %d frame%s in %.3f s, %.4g frames/s, %.3f MB of images\n",
            p->done, p->done == 1 ? "" : "s", p->seconds,
            p->seconds > 0 ? made / p->seconds : 0, (double)p->bytes / 1e6);
    if (p->kept)
        fprintf(out, "          %d of them kept from the earlier run\n", p->kept);
    fprintf(out, "brightest %.9g photons at pixel %d %d (fast slow) of frame %d\n",
            p->max, p->max_fast, p->max_slow, p->max_frame + 1);
    nb_report_clipped_series(out, cli, p);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0])
            nb_report_file(out, files++, names[i]);
    if (nb_ranks_launched(NULL) > 1)
        fprintf(out, "processes %d\n", nb_ranks_launched(NULL));
    fprintf(out, "seed      %lld\n", (long long)p->seed);
    fprintf(out, "backend   %s\n", p->backend);
}

/** Print a note on typed flags of a single image, without effect in a series. */
static void notice_ignored(const nb_cli *cli)
{
    size_t used = 0;
    char line[320] = "";

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (cli->typed[nb_flag_index(f)] && f->flags & NB_PARAM_SINGLE)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s-%s",
                                     used ? ", " : "", f->name);
    if (used) {
        snprintf(line + used, sizeof line - used,
                 ": no effect in a series, which writes only -output and -hdf5");
        nb_cli_say("note", line);
    }
}

static nb_status use_jobs(const nb_cli *cli, nb_series *series, series_run *run,
                          nb_error *err)
{
    int frames = series->frames + series->stills, lines;
    nb_status st = nb_jobs_load(cli, &run->jobs, err);

    if (st)
        return st;
    lines = run->jobs->count;
    if (!frames)
        series->stills = lines;
    else if (frames != lines)
        return nb_cli_fail(err, "-jobs %.200s has %d lines, but the series has %d frames",
                           cli->jobs_file, lines, frames);
    series->calls.override = on_frame;
    series->calls.override_place = place_of;
    series->calls.override_text = run->jobs->data;
    return NB_OK;
}

nb_status nb_cli_run_series(const nb_cli *cli, nb_ranks *ranks, nb_progress *progress,
                            nb_error *err)
{
    series_run run = {.progress = progress, .cli = cli, .start = nb_monotonic_seconds()};
    const nb_file_use jobs = {"-jobs", cli->jobs_file, 0};
    nb_hooks hooks = {&run, on_notice, on_render};
    nb_series series = cli->series; /* shares its texts with cli->series */
    nb_series_progress result = {0};
    nb_status st = NB_OK;
    char ignored[480];
    int rank;

    nb_ranks_launched(&rank);
    if (rank > 0) { /* rank 0 prints for all */
        progress->visible = 0;
        hooks.notice = NULL;
    }
    if (rank == 0)
        notice_ignored(cli);
    series.calls.user = &run;
    series.calls.progress = on_progress;
    series.calls.begin = on_begin;
    series.calls.ranks = ranks;
    series.calls.also = &jobs;
    series.calls.n_also = cli->jobs_file[0] != 0;
    if (cli->jobs_file[0])
        st = use_jobs(cli, &series, &run, err);
    if (cli->jobs_file[0] && !st && rank == 0 &&
        nb_jobs_ignored(run.jobs, ignored, sizeof ignored))
        nb_cli_say("note", ignored);
    NB_TRY(nb_check_series_outputs(&cli->cfg, err));
    run.stills = series.stills;
    st = nb_ranks_agree(ranks, st, err);
    NB_TRY(nb_series_run(&cli->cfg, &series, &hooks, &result, err));
    nb_progress_end(progress);
    if (!st && !cli->quiet && rank == 0)
        report(cli, &result);
    if (!st && rank == 0)
        nb_report_times(cli, &result.times, result.seconds);
    nb_jobs_free(run.jobs);
    return st;
}

static int ask(void *user, double fraction)
{
    (void)user, (void)fraction;
    return nb_stop_requested();
}

/** True if -only_frame has a part of the series, "a-b"; the run chooses its frames. */
static int is_part(const nb_cli *cli)
{
    return strchr(cli->series.only_frame, '-') != NULL;
}

/** Read the number of -only_frame; 0 without the flag, or with a part. */
static nb_status frame_number(const nb_cli *cli, int *k, nb_error *err)
{
    const char *text = cli->series.only_frame;
    char *end;
    const long number = strtol(text, &end, 10);
    *k = number >= 0 && number <= 10000000 ? (int)number : -1;
    if (is_part(cli))
        *k = 0;
    else if (*text && (*end || *k < 0))
        return nb_cli_fail(
            err, "-only_frame %s: type the number of a frame, from 0, or two as 0-99",
            text);
    if (*text && !nb_cli_is_series(cli))
        return nb_cli_fail(
            err, "-only_frame %s: needs a series, as -frames n or -stills n", text);
    return NB_OK;
}

nb_status nb_cli_take_frame(nb_cli *cli, int *done, nb_error *err)
{
    const int draws = cli->cfg.draws_file[0] != 0,
              one = cli->series.only_frame[0] && !is_part(cli);
    const nb_file_use jobs = {"-jobs", cli->jobs_file, 0};
    const nb_hooks hooks = {NULL, nb_cli_notice, ask};
    nb_series series = cli->series; /* shares its texts with cli->series */
    series_run run = {.cli = cli};
    nb_crystals frame = {0};
    int k;
    nb_status st = frame_number(cli, &k, err);
    *done = draws;
    if (st || (!draws && !one &&
               !((series.vary[0] || !isnan(series.hitrate)) && !nb_cli_is_series(cli))))
        return st;
    if (draws && !nb_cli_is_series(cli) && !series.frames && !series.stills)
        return nb_cli_fail(err, "-draws: needs a series, as -frames n or -stills n");
    series.calls.user = &run;
    series.calls.also = &jobs;
    series.calls.n_also = cli->jobs_file[0] != 0;
    if (cli->jobs_file[0])
        st = use_jobs(cli, &series, &run, err);
    if (!st && draws)
        st = nb_series_draws(&cli->cfg, &series, &hooks, err);
    else if (!st)
        st = nb_series_crystals(&cli->cfg, &series, k, &hooks, &frame, err);
    if (!st && !draws) {
        if (one && (series.output[0] || series.hdf5_file[0]))
            nb_cli_say("note", "-only_frame: -output, -hdf5 and -sumfile are not "
                               "written; type -floatfile, -noisefile, -pngfile, ... for "
                               "the image");
        nb_config_copy(&cli->cfg, &frame.configs[0]);
        cli->frame = frame;
        (void)nb_text_put(&cli->cfg.sum_file, "", NULL); /* -sumfile is only for series */
        nb_series_drop(&cli->series);
        nb_series_defaults(&cli->series);
        (void)nb_text_put(&cli->jobs_file, "", NULL);
    }
    nb_jobs_free(run.jobs);
    return st;
}
