/* SPDX-License-Identifier: MIT */
/** One benchmark: its settings and its measurements. */
#ifndef NB_BENCH_BENCH_H
#define NB_BENCH_BENCH_H

#include "folder.h"
#include "job.h"
#include "options.h"
#include "reference.h"
#include "stats.h"

#define NB_BENCH_WRONG_IMAGE 3 /* exit status */

/** One program, one image. It has times only of images that passed the check. */
typedef struct nb_bench_point {
    const char *sweep;   /* size, precision, threads, oversample, domains */
    const char *program; /* nanobragg, or the name of -vs */
    int peer;            /* index of -vs, -1: ours */
    int wants_cold;      /* in fresh processes too */
    nb_bench_job job;
    double steps; /* a pixel */
    nb_bench_series cold, warm;
    nb_bench_series resident; /* warm, the picture left on the GPU */
    double tried_cold,
        tried_warm;         /* seconds of the only run of a point that takes too long */
    double peak_mib;        /* of a fresh process */
    char backend[256];      /* what rendered, in words */
    nb_bench_figures worst; /* over the images */
    int images;             /* timed and checked */
    int rows, of_rows;      /* rows of each image that were checked */
    char left_out[160];     /* why there are no times; or "" */
} nb_bench_point;

/** nb_series_run with so many frames. */
typedef struct nb_bench_batch {
    nb_bench_job job;
    int frames;
    nb_bench_series seconds;
    nb_bench_figures worst;
    int images, rows;
    char left_out[160];
} nb_bench_batch;

#define NB_BENCH_STAGES_MAX 24

/** The time of one process by stages. */
typedef struct nb_bench_breakdown {
    nb_bench_job job;
    int stages;
    char names[NB_BENCH_STAGES_MAX][32];
    nb_bench_series seconds[NB_BENCH_STAGES_MAX]; /* the last: the whole process */
    nb_bench_figures figures;
} nb_bench_breakdown;

/** A part of an image by another program. */
typedef struct nb_bench_part {
    int rows; /* 0: not measured */
    double seconds;
} nb_bench_part;

/** A whole image that leaves steps out, and a part of it with every step. */
typedef struct nb_bench_gain {
    nb_bench_job job;
    double allowed;        /* of the brightest pixel; 0: the default's rounding */
    nb_bench_series whole; /* seconds */
    nb_bench_part every;   /* every step */
    double steps;          /* a pixel */
    double dark, bright;   /* largest errors in the part, of the brightest pixel */
    nb_bench_part peers[NB_BENCH_PEERS_MAX];
    char backend[256], every_backend[256];
    char left_out[160];
} nb_bench_gain;

typedef struct nb_bench {
    const nb_bench_options *opt;
    nb_bench_folder folder;
    char program[NB_PATH_MAX];                   /* this one */
    char peers[NB_BENCH_PEERS_MAX][NB_PATH_MAX]; /* programs of -vs */
    const char *peer_names[NB_BENCH_PEERS_MAX];
    char command[2048]; /* for the report */
    int device_count;
    char devices[NB_BENCH_DEVICES_MAX][32];
    int isa_count;
    nb_isa isas[NB_BENCH_ISAS_MAX];
    nb_bench_point *points;
    int point_count;
    nb_bench_batch *batches;
    int batch_count;
    nb_bench_breakdown *breakdowns;
    int breakdown_count;
    nb_bench_gain *gains;
    int gain_count;
    int done, total; /* for the progress */
    int wrong;       /* a wrong image was seen */
    double reference_steps;
} nb_bench;

/** Fill points, batches, breakdowns and gains with the planned measurements. Errors: NB_ERR_NOMEM. */
nb_status nb_bench_plan(nb_bench *b, nb_error *err);
void nb_bench_free(nb_bench *b);

/** New processes, in alternation. The images stay in scratch until they are checked. */
nb_status nb_bench_run_cold(nb_bench *b, nb_error *err);
/** Whole processes by stages. */
nb_status nb_bench_run_breakdowns(nb_bench *b, nb_error *err);
/** Renders in this process; also checks the images of the new processes. */
nb_status nb_bench_run_warm(nb_bench *b, nb_error *err);
nb_status nb_bench_run_batches(nb_bench *b, nb_error *err);
/** The case xfel. */
nb_status nb_bench_run_gains(nb_bench *b, nb_error *err);
/** Its measurements, at most so many a device. */
enum { NB_BENCH_GAINS = 8 };
/** Add them for a device. */
void nb_bench_plan_gains(nb_bench *b, nb_bench_job job);

/** The path of image `variant` of the cold runs of a point. The existing files give their
 * number. */
void nb_bench_cold_image(const nb_bench *b, const nb_bench_point *p, int variant,
                         char *path);

/** Add the figures of an image, or fail and set b->wrong. */
nb_status nb_bench_judge(nb_bench *b, const char *what, nb_bench_bounds bounds,
                         const nb_bench_figures *figures, nb_bench_figures *worst,
                         nb_error *err);

/** Hooks that end a render when the user asks for it. */
nb_hooks nb_bench_hooks(void);
/** NB_ERR_CANCELLED when the user asked for it. */
nb_status nb_bench_stopped(nb_error *err);
/** Show the current measurement on a terminal; `what` NULL: clear the line. */
void nb_bench_show(const nb_bench *b, const char *what);
nb_status nb_bench_no_memory(nb_error *err);

/** Estimate the seconds of a render of p from smaller images, cold or warm; 0: unknown. */
double nb_bench_expected(const nb_bench *b, const nb_bench_point *p, int cold);

#endif
