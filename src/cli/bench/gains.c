/* SPDX-License-Identifier: MIT */
/* The case xfel: whole images that leave dark steps out, beside every step of a part of the image,
 * since a whole one would take minutes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "../progress.h"
#include "bench.h"
#include "process.h"

/* A part of so many seconds tells the rate. */
#define PART_SECONDS 1.0
/* What every step and the others' arithmetic may differ by, of the brightest pixel. */
#define ROUNDING 2e-6
/* Structure factors to this resolution, in A. */
#define FINEST 2.0

enum { FEW_ROWS = 4 };

/** What is measured, first of each shape the one that others are measured with. */
static const struct {
    const char *shape, *tolerance;
} kinds[] = {{"-gauss_xtal", NULL},    {"-gauss_xtal", "1e-3"},  {"-square_xtal", "1e-3"},
             {"-square_xtal", "1e-4"}, {"-square_xtal", "1e-6"}, {"-round_xtal", "1e-3"},
             {"-round_xtal", "1e-4"},  {"-round_xtal", "1e-6"}};

_Static_assert(sizeof kinds / sizeof *kinds == NB_BENCH_GAINS, "as many");

static int is_first(const nb_bench *b, const nb_bench_gain *g)
{
    return g == b->gains || strcmp(g[-1].job.shape, g->job.shape) ||
           strcmp(g[-1].job.device, g->job.device);
}

void nb_bench_plan_gains(nb_bench *b, nb_bench_job job)
{
    for (int i = 0; i < NB_BENCH_GAINS; i++) {
        nb_bench_gain *g = &b->gains[b->gain_count++];
        g->job = job;
        g->job.shape = kinds[i].shape;
        g->job.tolerance = kinds[i].tolerance;
        g->allowed = kinds[i].tolerance ? strtod(kinds[i].tolerance, NULL) : 0;
    }
}

/** Made-up structure factors, the same on every machine: 10 to 1000. */
static nb_status write_factors(const nb_bench *b, char path[NB_PATH_MAX], nb_error *err)
{
    const double cell[3] = {79.1, 79.1, 37.9};
    const int most[3] = {(int)(cell[0] / FINEST), (int)(cell[1] / FINEST),
                         (int)(cell[2] / FINEST)};
    uint32_t random = 1;
    FILE *file;
    nb_bench_path(b->folder.scratch, "xfel.hkl", path);
    if (!(file = fopen(path, "w")))
        return nb_cli_fail(err, "bench: cannot write %.300s", path);
    for (int h = -most[0]; h <= most[0]; h++)
        for (int k = -most[1]; k <= most[1]; k++)
            for (int l = -most[2]; l <= most[2]; l++) {
                double q = hypot(hypot(h / cell[0], k / cell[1]), l / cell[2]);
                random = random * 1664525u + 1013904223u;
                if (q > 0 && q < 1 / FINEST)
                    fprintf(file, "%d %d %d %.1f\n", h, k, l,
                            10 * pow(10, 2.0 * (random >> 8) / (1 << 24)));
            }
    return fclose(file) == 0 ? NB_OK
                             : nb_cli_fail(err, "bench: cannot write %.300s", path);
}

static float *image_of(const nb_bench_job *job, nb_error *err)
{
    float *image = calloc((size_t)job->size * (size_t)job->size, sizeof *image);
    if (!image)
        nb_bench_no_memory(err);
    return image;
}

static nb_status simulation(const nb_bench_job *job, nb_sim **sim, nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_config cfg;
    nb_status st = nb_bench_config(job, &cfg, err);
    return st ? st : nb_sim_create(&cfg, &hooks, sim, err);
}

static nb_status timed(nb_sim *sim, float *image, double *seconds, nb_error *err)
{
    double start = nb_clock();
    nb_status st = nb_sim_render(sim, image, NULL, err);
    *seconds = nb_clock() - start;
    return st ? st : nb_bench_stopped(err);
}

/** So many rows in the middle of the image take about PART_SECONDS. */
static int rows_for(const nb_bench_job *job, int rows, double seconds)
{
    double more = rows * PART_SECONDS / (seconds > 1e-6 ? seconds : 1e-6);
    return more < rows ? rows : more > job->size ? job->size : (int)more;
}

static void place_rows(nb_bench_job *job, int rows)
{
    job->rows = rows;
    job->row = (job->size - rows) / 2;
}

/** Every step of some rows; they stay in the image. */
static nb_status render_part(nb_bench_gain *g, nb_bench_job *job, float *image,
                             nb_error *err)
{
    nb_status st = NB_OK;
    job->tolerance = "0";
    place_rows(job, job->size < FEW_ROWS ? job->size : FEW_ROWS);
    for (int pass = 0; pass < 2 && !st; pass++) { /* the first says how many */
        nb_sim *sim = NULL;
        int64_t steps;
        if (pass)
            place_rows(job, rows_for(job, job->rows, g->every.seconds));
        st = simulation(job, &sim, err);
        for (int k = 0; k < 2 && !st; k++) /* once to warm */
            st = timed(sim, image, &g->every.seconds, err);
        g->every.rows = job->rows;
        if (!st)
            st = nb_bench_steps(sim, &steps, err);
        if (!st) {
            g->steps = (double)steps;
            snprintf(g->every_backend, sizeof g->every_backend, "%s", nb_sim_backend(sim));
        }
        nb_sim_free(sim);
    }
    return st;
}

/** Compare the rows of the part. */
static nb_status judge(nb_bench *b, nb_bench_gain *g, const nb_bench_job *part,
                       const float *every, const float *light, nb_error *err)
{
    const size_t from = (size_t)part->row * (size_t)part->size,
                 to = from + (size_t)part->rows * (size_t)part->size;
    double most = 0;
    for (size_t i = 0; i < (size_t)part->size * (size_t)part->size; i++)
        most = fmax(most, light[i]);
    for (size_t i = from; i < to; i++) {
        double lost = ((double)every[i] - light[i]) / most;
        g->dark = fmax(g->dark, lost);
        g->bright = fmax(g->bright, -lost);
    }
    if (g->dark <= g->allowed + ROUNDING && g->bright <= ROUNDING)
        return NB_OK;
    b->wrong = 1;
    return nb_cli_fail(err,
                       "wrong image: xfel %s with -tolerance %s on %s is %.2g of the "
                       "brightest pixel too dark and %.2g too bright",
                       part->shape, g->job.tolerance ? g->job.tolerance : "unset",
                       part->device, g->dark, g->bright);
}

/** Whole images; the first is not timed, and says whether there is time for more. */
static nb_status render_whole(nb_bench *b, nb_bench_gain *g, float *image, nb_error *err)
{
    nb_sim *sim = NULL;
    nb_status st = simulation(&g->job, &sim, err);
    for (int k = -1; k < b->opt->repeats && !st; k++) {
        double seconds;
        st = timed(sim, image, &seconds, err);
        if (k >= 0)
            nb_bench_series_add(&g->whole, seconds);
        else if (!st && seconds * b->opt->repeats > b->opt->limit) {
            snprintf(g->left_out, sizeof g->left_out,
                     "%s -tolerance %s: %d renders of about %.3g s: above -limit %g s",
                     g->job.shape, g->job.tolerance ? g->job.tolerance : "unset",
                     b->opt->repeats, seconds, b->opt->limit);
            break;
        }
    }
    if (!st)
        snprintf(g->backend, sizeof g->backend, "%s", nb_sim_backend(sim));
    nb_sim_free(sim);
    return st;
}

/** One process of another program, with some rows. */
static nb_status run_peer(nb_bench *b, nb_bench_gain *g, int peer, int rows, nb_error *err)
{
    char folder[NB_PATH_MAX], log[NB_PATH_MAX];
    nb_bench_job job = g->job;
    nb_run_flags flags;
    nb_child_end end;
    nb_status st = nb_bench_scratch(&b->folder, "run", folder, err);
    place_rows(&job, rows);
    if (!st)
        st = nb_bench_command(&job, b->peers[peer], 0, &flags, err);
    if (st)
        return st;
    nb_bench_path(folder, "log.txt", log);
    st = nb_child_run(flags.argv, folder, log, log, &end, err);
    if (!st)
        st = nb_bench_ended_well(b->peer_names[peer], log, &end, err);
    nb_run_flags_free(&flags);
    if (!st)
        g->peers[peer] = (nb_bench_part){rows, end.seconds};
    return st ? st : nb_bench_stopped(err);
}

/** As many rows as take a few seconds, so that the start of the process hardly counts. */
static nb_status run_peers(nb_bench *b, nb_bench_gain *g, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < b->opt->peer_count && !st; i++) {
        st = run_peer(b, g, i, 1, err);
        if (!st && g->peers[i].seconds < 4 * PART_SECONDS && g->job.size > 1)
            st = run_peer(b, g, i, rows_for(&g->job, 2, g->peers[i].seconds / 2), err);
    }
    return st;
}

static nb_status measure(nb_bench *b, nb_bench_gain *g, float *every, float *light,
                         nb_error *err)
{
    nb_bench_job part = g->job;
    nb_status st = render_part(g, &part, every, err);
    if (!st)
        st = render_whole(b, g, light, err);
    if (!st)
        st = judge(b, g, &part, every, light, err);
    if (!st && is_first(b, g))
        st = run_peers(b, g, err);
    return st;
}

nb_status nb_bench_run_gains(nb_bench *b, nb_error *err)
{
    char path[NB_PATH_MAX], text[200], what[300];
    nb_status st = b->gain_count ? write_factors(b, path, err) : NB_OK;
    for (int i = 0; i < b->gain_count && !st; i++) {
        nb_bench_gain *g = &b->gains[i];
        float *every = image_of(&g->job, err);
        float *light = every ? image_of(&g->job, err) : NULL;
        g->job.hkl = path;
        nb_bench_job_text(&g->job, text, sizeof text);
        snprintf(what, sizeof what, "%s %s: %s", g->job.shape,
                 g->job.tolerance ? g->job.tolerance : "", text);
        nb_bench_show(b, what);
        st = light ? measure(b, g, every, light, err) : NB_ERR_NOMEM;
        free(every);
        free(light);
        g->job.hkl = NULL; /* path ends here */
        b->done++;
    }
    return st;
}
