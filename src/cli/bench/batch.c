/* SPDX-License-Identifier: MIT */
/* Frames of a series: nb_series_run from call to return, files included. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../progress.h"
#include "bench.h"

/* Steps of the reference of one frame; there may be hundreds of frames. */
#define FRAME_STEPS 4e3

/** References of the frames, as many as the longest series has; made once. */
typedef struct frames {
    int count;
    nb_bench_reference *list;
} frames;

static void free_frames(frames *all)
{
    for (int i = 0; i < all->count; i++)
        nb_bench_reference_free(&all->list[i]);
    free(all->list);
}

/** As in the series: twelve digits. */
static double phi_of(const nb_bench_job *job, int frame)
{
    char text[40];
    snprintf(text, sizeof text, "%.12g", frame * job->osc);
    return strtod(text, NULL);
}

static nb_status grow(frames *all, const nb_bench_batch *batch, nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_bench_reference *list =
        realloc(all->list, (size_t)batch->frames * sizeof *all->list);
    nb_status st = NB_OK;
    if (!list)
        return nb_bench_no_memory(err);
    all->list = list;
    while (all->count < batch->frames && !st) {
        st = nb_bench_reference_make(&batch->job, phi_of(&batch->job, all->count),
                                     FRAME_STEPS, &hooks, &list[all->count], err);
        all->count += !st;
        if (!st)
            st = nb_bench_stopped(err);
    }
    return st;
}

static nb_status check_frames(nb_bench *b, nb_bench_batch *batch, const frames *all,
                              const char *folder, nb_error *err)
{
    nb_bench_bounds bounds = nb_bench_bounds_of(batch->job.precision);
    nb_status st = NB_OK;
    for (int k = 0; k < batch->frames && !st; k++) {
        char name[32], path[NB_PATH_MAX], text[200], what[260];
        nb_bench_figures f = {NAN, NAN, NAN};
        nb_image image;
        snprintf(name, sizeof name, "f_%05d.bin", k + 1);
        nb_bench_path(folder, name, path);
        st = nb_image_read(path, batch->job.size, batch->job.size, NULL, &image, err);
        if (!st)
            f = nb_bench_reference_check(&all->list[k], image.pixels);
        nb_image_free(&image);
        nb_bench_job_text(&batch->job, text, sizeof text);
        snprintf(what, sizeof what, "frame %d of a series: %s", k + 1, text);
        if (!st)
            st = nb_bench_judge(b, what, bounds, &f, &batch->worst, err);
        batch->images++;
    }
    return st;
}

static int stop(void *user, const nb_series_progress *progress)
{
    (void)user;
    (void)progress;
    return nb_stop_requested();
}

/** One series; *seconds from call to return. */
static nb_status run_series(const nb_bench_batch *batch, const char *folder,
                            double *seconds, nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_series series;
    nb_config cfg;
    double start;
    nb_status st = nb_bench_config(&batch->job, &cfg, err);
    if (st)
        return st;
    memset(&series, 0, sizeof series);
    series.frames = batch->frames;
    series.progress = stop;
    nb_bench_path(folder, "f_%05d.bin", series.output);
    start = nb_clock();
    st = nb_series_run(&cfg, &series, &hooks, NULL, err);
    *seconds = nb_clock() - start;
    return st;
}

static nb_status run_batch(nb_bench *b, nb_bench_batch *batch, frames *all, nb_error *err)
{
    nb_status st = grow(all, batch, err);
    batch->worst = (nb_bench_figures){1, 0, 0};
    for (int k = -1; k < b->opt->repeats && !st; k++) { /* the first is not timed */
        char folder[NB_PATH_MAX];
        double seconds = 0;
        st = nb_bench_scratch(&b->folder, "series", folder, err);
        if (!st)
            st = run_series(batch, folder, &seconds, err);
        if (!st)
            st = check_frames(b, batch, all, folder, err);
        if (!st && k < 0 && seconds * b->opt->repeats > b->opt->limit) {
            snprintf(batch->left_out, sizeof batch->left_out,
                     "%d series of about %.3g s: above -limit %g s", b->opt->repeats,
                     seconds, b->opt->limit);
            return NB_OK;
        }
        if (!st && k >= 0)
            nb_bench_series_add(&batch->seconds, seconds);
        st = st ? st : nb_bench_stopped(err);
    }
    batch->rows = nb_bench_reference_rows(&all->list[0]);
    return st;
}

nb_status nb_bench_run_batches(nb_bench *b, nb_error *err)
{
    frames all = {0, NULL};
    nb_status st = NB_OK;
    for (int i = 0; i < b->batch_count && !st; i++) {
        char text[200], what[260];
        nb_bench_job_text(&b->batches[i].job, text, sizeof text);
        snprintf(what, sizeof what, "series of %d frames: %s", b->batches[i].frames, text);
        nb_bench_show(b, what);
        st = run_batch(b, &b->batches[i], &all, err);
        b->done++;
    }
    free_frames(&all);
    return st;
}
