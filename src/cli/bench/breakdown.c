/* SPDX-License-Identifier: MIT */
/* One whole process with structure factors from a file, by its own stages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "json.h"
#include "process.h"

/* Reflections of the file: a box of all reflections that the detectors of the cases can see. */
enum { HKL = 24 };

/** Arbitrary amplitudes; the same in every run. */
static nb_status write_hkl(const char *path, nb_error *err)
{
    FILE *file = fopen(path, "w");
    int ok = file != NULL;
    for (int h = -HKL; ok && h <= HKL; h++)
        for (int k = -HKL; k <= HKL; k++)
            for (int l = -HKL; l <= HKL; l++)
                ok &=
                    fprintf(file, "%d %d %d %d\n", h, k, l,
                            20 + (h * h * 31 + k * k * 17 + l * l * 7 + h * k) % 300) > 0;
    ok = (!file || !fclose(file)) && ok;
    if (ok)
        return NB_OK;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "%.300s cannot be written", path);
    return NB_ERR_IO;
}

static nb_bench_series *stage(nb_bench_breakdown *d, const char *name)
{
    int i = 0;
    while (i < d->stages && strcmp(d->names[i], name))
        i++;
    if (i == NB_BENCH_STAGES_MAX)
        return &d->seconds[i - 1];
    if (i == d->stages) {
        snprintf(d->names[i], sizeof d->names[i], "%.31s", name);
        d->stages++;
    }
    return &d->seconds[i];
}

/** The stages that the process printed, in its order. The rest of its time is its start and
 * end. */
static nb_status take_stages(nb_bench_breakdown *d, const char *log, double seconds,
                             nb_error *err)
{
    char line[1024];
    cJSON *root;
    double total;
    nb_bench_last_line(log, line, sizeof line);
    root = cJSON_Parse(line);
    total = nb_bench_get(root, "total", NAN);
    if (!isfinite(total)) {
        cJSON_Delete(root);
        memset(err, 0, sizeof *err);
        err->code = NB_ERR_INTERNAL;
        snprintf(err->message, sizeof err->message,
                 "-time json printed no stages: %.200s", line);
        return NB_ERR_INTERNAL;
    }
    for (const cJSON *one = root->child; one; one = one->next)
        if (cJSON_IsNumber(one) && strcmp(one->string, "total"))
            nb_bench_series_add(stage(d, one->string), one->valuedouble);
    nb_bench_series_add(stage(d, "rest of the process"), seconds - total);
    nb_bench_series_add(stage(d, "whole process"), seconds);
    cJSON_Delete(root);
    return NB_OK;
}

static nb_status run_once(nb_bench *b, nb_bench_breakdown *d, char *image, nb_error *err)
{
    char folder[NB_PATH_MAX], log[NB_PATH_MAX], errors[NB_PATH_MAX];
    nb_run_flags flags;
    nb_child_end end;
    nb_status st = nb_bench_scratch(&b->folder, "run", folder, err);
    if (!st)
        st = nb_bench_command(&d->job, b->program, 1, &flags, err);
    if (st)
        return st;
    nb_bench_path(folder, "log.txt", log);
    nb_bench_path(folder, "errors.txt", errors);
    nb_bench_path(folder, "floatimage.bin", image);
    st = nb_child_run(flags.argv, folder, log, errors, &end, err);
    if (!st)
        st = nb_bench_ended_well("nanobragg", errors, &end, err);
    if (!st)
        st = take_stages(d, log, end.seconds, err);
    nb_run_flags_free(&flags);
    return st;
}

static nb_status check(nb_bench *b, nb_bench_breakdown *d, const nb_bench_reference *r,
                       const char *path, nb_error *err)
{
    char text[200], what[240];
    nb_bench_figures f = {NAN, NAN, NAN};
    nb_image image;
    nb_status st = nb_image_read(path, d->job.size, d->job.size, NULL, &image, err);
    if (!st)
        f = nb_bench_reference_check(r, image.pixels);
    nb_image_free(&image);
    nb_bench_job_text(&d->job, text, sizeof text);
    snprintf(what, sizeof what, "breakdown: %s", text);
    return st ? st
              : nb_bench_judge(b, what, nb_bench_bounds_of(d->job.precision), &f,
                               &d->figures, err);
}

static nb_status run_one(nb_bench *b, nb_bench_breakdown *d, nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_bench_reference r;
    char image[NB_PATH_MAX];
    nb_status st =
        nb_bench_reference_make(&d->job, 0, b->reference_steps, &hooks, &r, err);
    if (st)
        return st;
    d->figures = (nb_bench_figures){1, 0, 0};
    for (int k = 0; k < b->opt->repeats && !st; k++) {
        st = run_once(b, d, image, err);
        if (!st)
            st = check(b, d, &r, image, err);
        if (!st)
            st = nb_bench_stopped(err);
    }
    nb_bench_reference_free(&r);
    return st;
}

nb_status nb_bench_run_breakdowns(nb_bench *b, nb_error *err)
{
    char hkl[NB_PATH_MAX];
    nb_status st = NB_OK;
    nb_bench_path(b->folder.scratch, "reflections.hkl", hkl);
    if (b->breakdown_count)
        st = write_hkl(hkl, err);
    for (int i = 0; i < b->breakdown_count && !st; i++) {
        nb_bench_breakdown *d = &b->breakdowns[i];
        char text[200], what[260];
        if (d->job.which != NB_BENCH_OWN)
            d->job.hkl = hkl;
        d->job.reports = 1;
        nb_bench_job_text(&d->job, text, sizeof text);
        snprintf(what, sizeof what, "breakdown: %s", text);
        nb_bench_show(b, what);
        st = run_one(b, d, err);
        d->job.hkl = NULL;
        b->done++;
    }
    return st;
}
