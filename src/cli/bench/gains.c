/* SPDX-License-Identifier: MIT */
/* The case xfel: whole images with a tolerance, compared with every step of a part of the image,
 * because all steps of a whole image would take minutes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../progress.h"
#include "bench.h"

/* Seconds of a part that are enough to measure the rate. */
#define PART_SECONDS 1.0
/* Largest difference by the arithmetic, relative to the brightest pixel. */
#define ROUNDING 2e-6

enum { FEW_ROWS = 4 };

/** The measured images; the first of each shape is the reference for the others. */
static const char *const kinds[NB_BENCH_GAINS][2] = {
    {"-gauss_xtal", NULL},    {"-gauss_xtal", "1e-3"},  {"-square_xtal", "1e-3"},
    {"-square_xtal", "1e-4"}, {"-square_xtal", "1e-6"}, {"-round_xtal", "1e-3"},
    {"-round_xtal", "1e-4"},  {"-round_xtal", "1e-6"}};

void nb_bench_gain_kind(int i, nb_bench_job *job)
{
    job->shape = kinds[i][0];
    job->tolerance = kinds[i][1];
}

static int is_first(const nb_bench *b, const nb_bench_point *p)
{
    return p == b->points || p[-1].sweep != NB_SWEEP_GAIN ||
           strcmp(p[-1].job.shape, p->job.shape) ||
           strcmp(p[-1].job.device, p->job.device);
}

/** Rows of an image and the seconds that they took. */
typedef struct part {
    int rows;
    double seconds;
} part;

static nb_status timed(nb_sim *sim, float *image, double *seconds, nb_error *err)
{
    double start = nb_clock();
    nb_status st = nb_sim_render(sim, image, NULL, err);
    *seconds = nb_clock() - start;
    return st ? st : nb_bench_stopped(err);
}

/** Number of rows in the middle of the image that take about PART_SECONDS. */
static void place_rows(nb_bench_job *job, const part *tried)
{
    const double seconds = fmax(tried->seconds, 1e-6);
    const double rows = fmax(tried->rows, tried->rows * PART_SECONDS / seconds);
    job->rows = (int)fmin(job->size, rows);
    job->row = (job->size - job->rows) / 2;
}

/** Render every step of some rows; they stay in the image. */
static nb_status render_part(nb_bench_point *p, nb_bench_job *job, float *image,
                             part *every, double *steps, nb_error *err)
{
    nb_status st = NB_OK;
    job->tolerance = "0";
    *every = (part){FEW_ROWS, PART_SECONDS};
    for (int pass = 0; pass < 2 && !st;
         pass++) { /* the first measurement gives the number of rows */
        nb_sim *sim;
        place_rows(job, every);
        every->rows = job->rows;
        st = nb_bench_sim(job, &sim, err);
        for (int k = 0; k < 2 && !st; k++) /* warm up */
            st = timed(sim, image, &every->seconds, err);
        if (!st && pass) {
            *steps = (double)nb_bench_steps(sim);
            cJSON_AddStringToObject(p->found, "every_step_backend", nb_sim_backend(sim));
        }
        nb_sim_free(sim);
    }
    return st;
}

/** Compare the rows of the part. */
static nb_status judge(nb_bench *b, nb_bench_point *p, const nb_bench_job *of,
                       const float *every, const float *light, nb_error *err)
{
    const size_t row = (size_t)of->size;
    const double allowed = p->job.tolerance ? strtod(p->job.tolerance, NULL) : 0;
    double most = 0, dark = 0, bright = 0;
    for (size_t i = 0; i < row * row; i++)
        most = fmax(most, light[i]);
    for (size_t i = (size_t)of->row * row; i < (size_t)(of->row + of->rows) * row; i++) {
        double lost = ((double)every[i] - light[i]) / most;
        dark = fmax(dark, lost);
        bright = fmax(bright, -lost);
    }
    nb_bench_add(p->found, "too_dark", dark);
    nb_bench_add(p->found, "too_bright", bright);
    if (dark <= allowed + ROUNDING && bright <= ROUNDING)
        return NB_OK;
    b->wrong = 1;
    return nb_bench_fail(err, NB_ERR_INPUT,
                         "wrong image: xfel %s with -tolerance %s on %s is %.2g of the "
                         "brightest pixel too dark and %.2g too bright",
                         of->shape, p->job.tolerance ? p->job.tolerance : "unset",
                         of->device, dark, bright);
}

/** Time whole images. The first is not timed; it shows whether there is time for more. */
static nb_status render_whole(nb_bench *b, nb_bench_point *p, float *image, nb_error *err)
{
    nb_sim *sim;
    nb_status st = nb_bench_sim(&p->job, &sim, err);
    for (int k = -1; k < b->opt->repeats && !st; k++) {
        double seconds;
        st = timed(sim, image, &seconds, err);
        if (k >= 0)
            nb_bench_series_add(&p->warm, seconds);
        else if (!st && nb_bench_leave_out(b, p, "renders", seconds))
            break;
    }
    if (!st)
        cJSON_AddStringToObject(p->found, "backend", nb_sim_backend(sim));
    nb_sim_free(sim);
    return st;
}

static void add_part(cJSON *to, const nb_bench_point *p, const part *of, double steps)
{
    nb_bench_add(to, "rows", of->rows);
    nb_bench_add(to, "seconds", of->seconds);
    nb_bench_add(to, "steps_per_s", steps * of->rows * p->job.size / of->seconds);
}

/** Use a number of rows that takes a few seconds, so that the start of the process is
 * negligible. */
static nb_status run_peer(const nb_bench *b, nb_bench_point *p, int peer, part *took,
                          nb_error *err)
{
    nb_bench_job job = p->job;
    nb_status st = NB_OK;
    *took = (part){1, PART_SECONDS};
    for (int pass = 0; pass < 2 && !st; pass++) {
        char folder[NB_PATH_MAX];
        nb_child_end end;
        place_rows(&job, took);
        st = nb_bench_process(b, &job, peer, folder, &end, err);
        *took = (part){job.rows, st ? 0 : end.seconds};
        if (took->seconds >= 4 * PART_SECONDS || job.size < 2)
            break;
    }
    return st;
}

static nb_status run_peers(const nb_bench *b, nb_bench_point *p, double steps,
                           nb_error *err)
{
    cJSON *others = cJSON_AddArrayToObject(p->found, "others");
    nb_status st = NB_OK;
    for (int i = 0; is_first(b, p) && i < b->opt->peer_count && !st; i++) {
        cJSON *one = cJSON_CreateObject();
        part took;
        st = run_peer(b, p, i, &took, err);
        cJSON_AddItemToArray(others, one);
        cJSON_AddStringToObject(one, "program", b->peer_names[i]);
        add_part(one, p, &took, steps);
    }
    return st;
}

static nb_status measure(nb_bench *b, nb_bench_point *p, float *every, float *light,
                         nb_error *err)
{
    nb_bench_job job = p->job;
    part of;
    double steps = 0;
    nb_status st = render_part(p, &job, every, &of, &steps, err);
    if (!st)
        st = render_whole(b, p, light, err);
    if (!st)
        st = judge(b, p, &job, every, light, err);
    if (!st)
        st = run_peers(b, p, steps, err);
    cJSON_AddStringToObject(p->found, "shape", p->job.shape);
    cJSON_AddStringToObject(p->found, "tolerance",
                            p->job.tolerance ? p->job.tolerance : "");
    nb_bench_add(p->found, "steps_per_pixel", steps);
    nb_bench_add_times(p->found, "whole", &p->warm);
    add_part(cJSON_AddObjectToObject(p->found, "every_step"), p, &of, steps);
    nb_bench_add(p->found, "gain",
                 of.seconds * p->job.size / of.rows / nb_bench_median(&p->warm));
    return st;
}

nb_status nb_bench_run_gain(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    const size_t pixels = (size_t)p->job.size * (size_t)p->job.size;
    float *every = calloc(pixels, sizeof *every), *light = calloc(pixels, sizeof *light);
    nb_status st =
        every && light ? measure(b, p, every, light, err) : nb_bench_no_memory(err);
    free(every);
    free(light);
    return st;
}
