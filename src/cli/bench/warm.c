/* SPDX-License-Identifier: MIT */
/* Renders in this process, through the library; the check of every image; series; whole processes by stages. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../progress.h"
#include "bench.h"

/* Short renders are repeated until they have taken this time, up to this number of times. */
#define SHORT_SECONDS 0.2
#define MORE_REPEATS 5
/* Steps of the reference of one frame of a series; there may be hundreds of frames. */
#define FRAME_STEPS 4e3

/** Check the images of the new processes. */
static nb_status check_cold(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_status st = NB_OK;
    for (int v = 0; v < p->images && !st; v++) {
        nb_bench_cold_image(b, p, v, path);
        if (access(path, F_OK))
            break;
        st = nb_bench_judge_file(b, p, "fresh process", &b->reference, path, err);
        unlink(path);
    }
    return st;
}

/** How a point is rendered again and again. */
typedef struct repetition {
    nb_sim *sim;
    float *image; /* pixels for the images; NULL: the image stays on the device */
    size_t pixels;
    nb_bench_series *times;
} repetition;

/** One render; pixels that it does not write stay NaN. *made: the image. If it stayed on a
 * device, it is copied after the time was taken. */
static nb_status render(const repetition *r, const float **made, double *seconds,
                        nb_error *err)
{
    double start;
    nb_status st;
    if (r->image)
        memset(r->image, 0xff, r->pixels * sizeof *r->image);
    start = nb_clock();
    st = nb_sim_render(r->sim, r->image, NULL, err);
    *seconds = nb_clock() - start;
    *made = r->image;
    return st || r->image ? st : nb_sim_image(r->sim, made, err);
}

/** Renders of one point, each checked; the first is not timed. */
static nb_status repeat(nb_bench *b, nb_bench_point *p, const repetition *r, nb_error *err)
{
    const int repeats = b->opt->repeats;
    double seconds, sum = 0;
    for (int k = -1; k < repeats || (sum < SHORT_SECONDS && k < repeats * MORE_REPEATS);
         k++) {
        const float *made;
        nb_status st = render(r, &made, &seconds, err);
        if (!st)
            st = nb_bench_judge(b, p, "in this process", &b->reference, made, err);
        if (st || (st = nb_bench_stopped(err)))
            return st;
        if (k < 0 && nb_bench_leave_out(b, p, "renders", seconds)) {
            p->tried[0] = seconds;
            return NB_OK;
        }
        if (k >= 0) {
            nb_bench_series_add(r->times, seconds);
            sum += seconds;
            p->images++;
        }
    }
    return NB_OK;
}

/** Render into host memory. In the size sweep a GPU also renders into its own memory, as
 * for programs that continue on the GPU. */
static nb_status render_point(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    static nb_bench_series resident;
    size_t pixels = (size_t)p->job.size * (size_t)p->job.size;
    float *image = malloc(pixels * sizeof *image);
    repetition r = {NULL, image, pixels, &p->warm};
    nb_status st = image ? nb_bench_sim(&p->job, &r.sim, err) : nb_bench_no_memory(err);
    resident.count = 0;
    if (!st)
        st = repeat(b, p, &r, err);
    if (!st && !p->left_out[0] && strcmp(p->job.device, "cpu") &&
        p->sweep == NB_SWEEP_SIZE) {
        r.image = NULL;
        r.times = &resident;
        st = repeat(b, p, &r, err);
        nb_bench_add_times(p->found, "resident", &resident);
    }
    if (!st)
        cJSON_AddStringToObject(p->found, "backend", nb_sim_backend(r.sim));
    nb_sim_free(r.sim);
    free(image);
    return st;
}

/** Estimated from earlier points; for the scalar renderer from the reference, which it
 * renders. */
static double expect(const nb_bench *b, const nb_bench_point *p)
{
    const nb_bench_reference *r = &b->reference;
    if (p->job.isa == NB_ISA_SCALAR &&
        p->job.threads == b->opt->threads.v[b->opt->threads.count - 1])
        return r->seconds * r->slow / p->rows;
    return nb_bench_expected(b, p, 0);
}

static void add_rates(const nb_bench *b, nb_bench_point *p)
{
    const double pixels = (double)p->job.size * p->job.size;
    const double steps = (double)b->reference.steps, warm = nb_bench_median(&p->warm);
    nb_bench_add(p->found, "steps_per_pixel", steps);
    if (p->cold.count) {
        nb_bench_add_times(p->found, "cold", &p->cold);
        nb_bench_add(p->found, "peak_mib", p->peak_mib);
    }
    if (p->warm.count) {
        nb_bench_add_times(p->found, "warm", &p->warm);
        nb_bench_add(p->found, "pixels_per_s", pixels / warm);
        nb_bench_add(p->found, "steps_per_s", pixels * steps / warm);
    }
}

nb_status nb_bench_run_warm(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    nb_status st = nb_bench_take_reference(b, p, err);
    if (!st)
        st = check_cold(b, p, err);
    if (!st && p->peer < 0 && !nb_bench_leave_out(b, p, "renders", expect(b, p)))
        st = render_point(b, p, err);
    if (!st)
        add_rates(b, p);
    return st;
}

/* --- frames of a series: nb_series_run from call to return, files included --- */

static nb_status refer_frames(nb_bench_reference *list, const nb_bench_point *p,
                              nb_error *err)
{
    nb_status st = NB_OK;
    for (int k = 0; k < p->frames && !st; k++) {
        nb_bench_job job = p->job;
        job.phi = k * job.osc;
        st = nb_bench_refer(&list[k], &job, FRAME_STEPS, err);
        if (!st)
            st = nb_bench_stopped(err);
    }
    return st;
}

static nb_status check_frames(nb_bench *b, nb_bench_point *p,
                              const nb_bench_reference *list, const char *folder,
                              nb_error *err)
{
    nb_status st = NB_OK;
    for (int k = 0; k < p->frames && !st; k++) {
        char name[40], path[NB_PATH_MAX];
        snprintf(name, sizeof name, "f_%05d.bin", k + 1);
        nb_bench_path(folder, name, path);
        snprintf(name, sizeof name, "frame %d of a series", k + 1);
        st = nb_bench_judge_file(b, p, name, &list[k], path, err);
        p->images++;
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
static nb_status run_series(const nb_bench_point *p, const char *folder, double *seconds,
                            nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_series series;
    nb_config cfg;
    double start;
    nb_status st = nb_bench_config(&p->job, &cfg, err);
    if (st)
        return st;
    memset(&series, 0, sizeof series);
    series.frames = p->frames;
    series.progress = stop;
    nb_bench_path(folder, "f_%05d.bin", series.output);
    start = nb_clock();
    st = nb_series_run(&cfg, &series, &hooks, NULL, err);
    *seconds = nb_clock() - start;
    return st;
}

nb_status nb_bench_run_batch(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    nb_bench_reference *list = calloc((size_t)p->frames, sizeof *list);
    nb_status st = list ? refer_frames(list, p, err) : nb_bench_no_memory(err);
    for (int k = -1; k < b->opt->repeats && !st; k++) { /* the first is not timed */
        char folder[NB_PATH_MAX];
        double seconds = 0;
        st = nb_bench_scratch(&b->folder, folder, err);
        if (!st)
            st = run_series(p, folder, &seconds, err);
        if (!st)
            st = check_frames(b, p, list, folder, err);
        if (!st && k < 0 && nb_bench_leave_out(b, p, "series", seconds))
            break;
        if (!st && k >= 0)
            nb_bench_series_add(&p->warm, seconds);
        st = st ? st : nb_bench_stopped(err);
    }
    if (!st) {
        p->rows = list[0].bands * list[0].band_rows;
        p->of_rows = p->job.size;
        nb_bench_add(p->found, "frames", p->frames);
        nb_bench_add_times(p->found, "seconds", &p->warm);
        nb_bench_add(p->found, "frames_per_s", p->frames / nb_bench_median(&p->warm));
    }
    for (int k = 0; list && k < p->frames; k++)
        nb_bench_reference_free(&list[k]);
    free(list);
    return st;
}

/* --- one whole process with structure factors from a file, by its own stages --- */

enum { STAGES = 24 };

typedef struct stages {
    int count;
    char names[STAGES][32];
    nb_bench_series seconds[STAGES];
} stages;

static void add_stage(stages *all, const char *name, double seconds)
{
    int i = 0;
    while (i < all->count && strcmp(all->names[i], name))
        i++;
    if (i == STAGES)
        return;
    all->count += i == all->count;
    snprintf(all->names[i], sizeof all->names[i], "%s", name);
    nb_bench_series_add(&all->seconds[i], seconds);
}

/** The stages that the process printed, in its order. The rest of its time is its start and
 * end. */
static nb_status take_stages(stages *all, const char *folder, double seconds,
                             nb_error *err)
{
    char log[NB_PATH_MAX], line[1024];
    const cJSON *total;
    cJSON *root;
    nb_bench_path(folder, "log.txt", log);
    nb_bench_last_line(log, line, sizeof line);
    root = cJSON_Parse(line);
    total = cJSON_GetObjectItem(root, "total");
    if (!cJSON_IsNumber(total)) {
        cJSON_Delete(root);
        return nb_bench_fail(err, NB_ERR_INTERNAL, "-time json printed no stages: %.200s",
                             line);
    }
    for (const cJSON *one = root->child; one; one = one->next)
        if (cJSON_IsNumber(one) && one != total)
            add_stage(all, one->string, one->valuedouble);
    add_stage(all, "rest of the process", seconds - total->valuedouble);
    add_stage(all, "whole process", seconds);
    cJSON_Delete(root);
    return NB_OK;
}

static void add_stages(cJSON *to, const stages *all)
{
    cJSON *list = cJSON_AddArrayToObject(to, "stages");
    for (int i = 0; i < all->count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        cJSON_AddStringToObject(one, "name", all->names[i]);
        nb_bench_add_times(one, "seconds", &all->seconds[i]);
    }
}

nb_status nb_bench_run_breakdown(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    stages *all = calloc(1, sizeof *all);
    nb_status st = all ? nb_bench_take_reference(b, p, err) : nb_bench_no_memory(err);
    for (int k = 0; k < b->opt->repeats && !st; k++) {
        char folder[NB_PATH_MAX], image[NB_PATH_MAX];
        nb_child_end end;
        st = nb_bench_process(b, &p->job, -1, folder, &end, err);
        if (!st)
            st = take_stages(all, folder, end.seconds, err);
        nb_bench_path(folder, "floatimage.bin", image);
        if (!st)
            st = nb_bench_judge_file(b, p, "breakdown", &b->reference, image, err);
        p->images++;
    }
    if (!st)
        add_stages(p->found, all);
    free(all);
    return st;
}
