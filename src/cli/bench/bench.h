/* SPDX-License-Identifier: MIT */
/** nanobragg bench: settings, jobs, measurements, the gate and the folder of a report. */
#ifndef NB_BENCH_BENCH_H
#define NB_BENCH_BENCH_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "../child.h"
#include "../common.h"
#include "../sub.h"

enum {
    NB_BENCH_LIST_MAX = 16,
    NB_BENCH_PEERS_MAX = 4,
    NB_BENCH_DEVICES_MAX = 4,
    NB_BENCH_ISAS_MAX = 6,
    NB_BENCH_REPEATS_MAX = 256,
    NB_BENCH_BANDS_MAX = 64,
    NB_BENCH_WRONG_IMAGE = 3 /* exit status */
};

/* --- settings (options.c) --- */

/** Flags with a list. */
enum {
    NB_LIST_SIZES = 0,
    NB_LIST_OVERSAMPLES,
    NB_LIST_DOMAINS,
    NB_LIST_THREADS,
    NB_LIST_BATCHES,
    NB_LIST_CASES,
    NB_LIST_ISAS,
    NB_LIST_PRECISIONS,
    NB_LIST_SWEEPS,
    NB_LISTS
};

/** Numbers, or indices into the list of allowed words. */
typedef struct nb_bench_list {
    int count; /* 0: not typed */
    int v[NB_BENCH_LIST_MAX];
} nb_bench_list;

typedef enum nb_bench_sweep {
    NB_SWEEP_SIZE = 0,
    NB_SWEEP_PRECISION,
    NB_SWEEP_THREADS,
    NB_SWEEP_OVERSAMPLE,
    NB_SWEEP_DOMAINS,
    NB_SWEEP_BATCH,
    NB_SWEEP_BREAKDOWN,
    NB_SWEEPS,
    NB_SWEEP_GAIN = NB_SWEEPS /* of the case xfel; not a word of -sweeps */
} nb_bench_sweep;

/** Flags of the case own; they are valid as long as the jobs. */
typedef struct nb_bench_own {
    char **flags;
    int count;
} nb_bench_own;

typedef struct nb_bench_options {
    const char *lists[NB_LISTS]; /* as typed; NULL: not */
    nb_bench_list sizes, oversamples, domains, threads, batches;
    nb_bench_list cases, isas, precisions, sweeps; /* words */
    int device_count;                              /* 0: cpu, and each GPU that starts */
    char devices[NB_BENCH_DEVICES_MAX][32];
    int repeats, at; /* 0: not typed */
    double limit;    /* seconds; 0: not typed */
    int quick;
    const char *peers[NB_BENCH_PEERS_MAX]; /* NAME=PROGRAM */
    int peer_count;
    const char *peer_results[NB_BENCH_PEERS_MAX]; /* files */
    int peer_results_count;
    const char *outdir, *name, *from; /* NULL: not typed */
    nb_bench_own own;
} nb_bench_options;

extern const nb_sub_option nb_bench_option_table[];
/** "size", "batch", ... */
const char *nb_bench_sweep_name(nb_bench_sweep sweep);
/** Does a word of -device name one device that the user has chosen? */
int nb_bench_names_device(const char *word);
/** Everything not typed. */
void nb_bench_defaults(void *target);
/** Set the defaults and check the typed values; cores: of this machine. Errors: NB_ERR_INPUT. */
nb_status nb_bench_resolve(nb_bench_options *o, int cores, nb_error *err);
int nb_bench_wants(const nb_bench_options *o, nb_bench_sweep sweep);

/* --- one image and how it is rendered (job.c) --- */

typedef enum nb_bench_case {
    NB_BENCH_SIMPLE = 0, /* one step a pixel */
    NB_BENCH_HEAVY,      /* a thousand steps per pixel */
    NB_BENCH_XFEL,       /* ten thousand steps of a large crystal, most without photons */
    NB_BENCH_OWN,        /* the user's flags */
    NB_BENCH_CASES
} nb_bench_case;

/** 0 or NULL instead of a number or text: that of the case, or none. */
typedef struct nb_bench_job {
    nb_bench_case which;
    const nb_bench_own *own;
    int size; /* pixels along an edge */
    int oversample, domains;
    int threads; /* 0: all */
    char device[32];
    nb_isa isa;
    nb_precision precision;
    const char *hkl;       /* file of structure factors instead of one F */
    double phi, osc;       /* a frame of a rotation, deg; osc 0: still */
    int reports;           /* the process prints its stages as JSON */
    const char *shape;     /* flag of the crystal's shape */
    const char *tolerance; /* -tolerance of nanobragg, as typed */
    int row, rows;         /* only these; rows 0: all */
} nb_bench_job;

const char *nb_bench_case_name(nb_bench_case which);
/** The case's flags as one line for a report, own flags included. */
void nb_bench_case_text(nb_bench_case which, const nb_bench_own *own, char *text,
                        size_t size);
/** Words of -isa and -precision by their number. */
const char *nb_bench_isa_name(int isa);
const char *nb_bench_precision_name(int precision);
/** "simple 1024x1024 on cpu avx512 mixed, 2 threads", for messages. */
void nb_bench_job_text(const nb_bench_job *job, char *text, size_t size);
/** The command line of a program: all flags for ours, only the physics for others. Float
 * and integer image are written into its folder. Free with nb_run_flags_free. */
nb_status nb_bench_command(const nb_bench_job *job, const char *program, int is_ours,
                           nb_run_flags *out, nb_error *err);
/** The job as a configuration without output files. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_bench_config(const nb_bench_job *job, nb_config *cfg, nb_error *err);
/** A simulation of the job that the user can interrupt; the caller frees it. */
nb_status nb_bench_sim(const nb_bench_job *job, nb_sim **sim, nb_error *err);

/* --- the gate (judge.c): every timed image is compared with a reference --- */

typedef struct nb_bench_figures {
    double correlation;   /* Pearson's; 1 if equal, NaN if one is flat or not finite */
    double max_error;     /* max |A - B| / max(B) */
    double mean_relative; /* mean |A - B|/B over pixels with B > 1e-6 max(B) */
} nb_bench_figures;

/** Bounds for our images in a precision, and for images of other programs. */
typedef struct nb_bench_bounds {
    double correlation; /* 1 - correlation at most */
    double max_error;   /* at most */
} nb_bench_bounds;
nb_bench_bounds nb_bench_bounds_of(nb_precision precision);

/** n pixels of an image and of the reference. */
nb_bench_figures nb_bench_compare(const float *image, const float *reference, size_t n);
/** NaN fails. */
int nb_bench_is_right(const nb_bench_figures *f, const nb_bench_bounds *bounds);
/** The worse value of both for each figure. */
nb_bench_figures nb_bench_worse(nb_bench_figures a, nb_bench_figures b);

/** The scalar renderer's image in double precision: whole rows, spread evenly over the image from
 * the first to the last. */
typedef struct nb_bench_reference {
    nb_bench_job job; /* of which it is */
    int fast, slow;
    int64_t steps; /* a pixel */
    int bands, band_rows;
    int first[NB_BENCH_BANDS_MAX]; /* row of each band */
    double seconds;                /* that it took */
    float *pixels;                 /* [bands][band_rows][fast], owned */
} nb_bench_reference;

/** Distribute this number of steps over rows of the image; fills bands, band_rows and
 * first. If all rows take fewer steps, one band has all rows. Otherwise there are at least
 * four rows. */
void nb_bench_bands(nb_bench_reference *r, double budget_steps);
/** Render about this number of steps of a job's image, unless *r is of this image already. */
nb_status nb_bench_refer(nb_bench_reference *r, const nb_bench_job *job,
                         double budget_steps, nb_error *err);
void nb_bench_reference_free(nb_bench_reference *r);
/** Steps per pixel of a simulation; 1 if unknown. */
int64_t nb_bench_steps(const nb_sim *sim);

/* --- figures (results.c) --- */

/** Seconds of repeats, in the order they were measured; values beyond the capacity are dropped. */
typedef struct nb_bench_series {
    int count;
    double v[NB_BENCH_REPEATS_MAX];
} nb_bench_series;

void nb_bench_series_add(nb_bench_series *s, double value);
/** Linear between the sorted values: 0.5 the median, 0 the least.  0 for an empty series. */
double nb_bench_quantile(const nb_bench_series *s, double q);
double nb_bench_median(const nb_bench_series *s);

/** A figure that is not finite is left out. */
void nb_bench_add(cJSON *to, const char *key, double value);
/** {"repeats", "median", "min", "max", "q1", "q3", "values"}, seconds. */
void nb_bench_add_times(cJSON *to, const char *key, const nb_bench_series *s);
/** Cores that this process may use. */
int nb_bench_cores(void);
/** Today, UTC, "2026-11-21"; SOURCE_DATE_EPOCH wins. */
void nb_bench_date(char text[16]);

/* --- the folder of a report: complete or absent (folder.c) --- */

typedef struct nb_bench_folder {
    char path[NB_PATH_MAX]; /* the report's */
    char part[NB_PATH_MAX]; /* temporary folder, next to it */
    char scratch[NB_PATH_MAX]; /* folder where programs run, full path; in memory if there is room */
} nb_bench_folder;

/** Make part and scratch; folders above are made too.  Errors: NB_ERR_INPUT (path is there
 * already), NB_ERR_IO.  Then one of the two below must be called. */
nb_status nb_bench_folder_open(nb_bench_folder *f, const char *path, nb_error *err);
/** Give part its name.  Errors: NB_ERR_IO; part is removed then. */
nb_status nb_bench_folder_commit(nb_bench_folder *f, nb_error *err);
/** Remove what was made. */
void nb_bench_folder_abort(nb_bench_folder *f);
/** Write FOLDER/NAME into path[NB_PATH_MAX]. If it is too long it is cut, and opening it
 * fails. */
void nb_bench_path(const char *folder, const char *name, char *path);
/** Make the folder for one run in scratch, empty. */
nb_status nb_bench_scratch(const nb_bench_folder *f, char *path, nb_error *err);
nb_status nb_bench_write_text(const nb_bench_folder *f, const char *name,
                              const char *text, nb_error *err);

/* --- a measurement --- */

/** A measurement; times only of images that passed the check. */
typedef struct nb_bench_point {
    nb_bench_sweep sweep;
    int peer;       /* index of -vs, -1: ours */
    int wants_cold; /* in fresh processes too */
    int frames;     /* of a batch */
    nb_bench_job job;
    cJSON *found; /* its row of results.json, owned */
    nb_bench_series cold, warm;
    double tried[2]; /* seconds of the only run, warm and cold, if more would take too long */
    double peak_mib;        /* of a fresh process */
    nb_bench_figures worst; /* over the images */
    int images;             /* timed and checked */
    int rows, of_rows;      /* rows of each image that were checked */
    char left_out[200];     /* why there are no times; or "" */
} nb_bench_point;

typedef struct nb_bench {
    const nb_bench_options *opt;
    nb_bench_folder folder;
    char program[NB_PATH_MAX];                   /* this one */
    char peers[NB_BENCH_PEERS_MAX][NB_PATH_MAX]; /* programs of -vs */
    char peer_names[NB_BENCH_PEERS_MAX][32];
    char command[2048];       /* for the report */
    char hkl[2][NB_PATH_MAX]; /* structure factors of breakdowns, of the case xfel */
    int device_count;
    char devices[NB_BENCH_DEVICES_MAX][32];
    int isa_count;
    nb_isa isas[NB_BENCH_ISAS_MAX];
    nb_bench_point *points;
    int count;
    nb_bench_reference reference; /* of the image that was checked last */
    double reference_steps;
    int done, total; /* for the progress */
    int wrong;       /* a wrong image was seen */
} nb_bench;

/** Measure and report; the exit status.  command: for the report. */
int nb_bench_run(nb_bench_options *o, const char *command, nb_error *err);
/** Fill points with the planned measurements. Errors: NB_ERR_NOMEM. */
nb_status nb_bench_plan(nb_bench *b, nb_error *err);

/** New processes, in alternation. The images stay in scratch until they are checked. */
nb_status nb_bench_run_cold(nb_bench *b, nb_error *err);
/** The images of the new processes, and renders in this one. */
nb_status nb_bench_run_warm(nb_bench *b, nb_bench_point *p, nb_error *err);
/** nb_series_run. */
nb_status nb_bench_run_batch(nb_bench *b, nb_bench_point *p, nb_error *err);
/** Whole processes by their stages. */
nb_status nb_bench_run_breakdown(nb_bench *b, nb_bench_point *p, nb_error *err);
/** An image of the case xfel with a tolerance, compared with every step of a part of it. */
nb_status nb_bench_run_gain(nb_bench *b, nb_bench_point *p, nb_error *err);
/** Number of measured images of the case xfel; their shapes and tolerances. */
enum { NB_BENCH_GAINS = 8 };
void nb_bench_gain_kind(int i, nb_bench_job *job);

/** One fresh process of our program or of that peer, in a new folder of scratch.  Errors:
 * NB_ERR_INPUT (it could not be started), NB_ERR_IO (it failed), NB_ERR_CANCELLED. */
nb_status nb_bench_process(const nb_bench *b, const nb_bench_job *job, int peer,
                           char folder[NB_PATH_MAX], nb_child_end *end, nb_error *err);
/** An error unless the program ended with status 0. */
nb_status nb_bench_ended_well(const char *name, const char *log, const nb_child_end *end,
                              nb_error *err);
/** The last line of a file that is not empty; "" without one. */
void nb_bench_last_line(const char *path, char *line, size_t size);
/** The path of image `variant` of the cold runs of a point. The existing files give their
 * number. */
void nb_bench_cold_image(const nb_bench *b, const nb_bench_point *p, int variant,
                         char *path);

/** The program of a point, by name. */
const char *nb_bench_program(const nb_bench *b, const nb_bench_point *p);
/** Show the current measurement on a terminal; p NULL: clear the line. */
void nb_bench_show(const nb_bench *b, const nb_bench_point *p, const char *how);
/** Make the reference of a point, and note its rows. */
nb_status nb_bench_take_reference(nb_bench *b, nb_bench_point *p, nb_error *err);
/** Add the figures of an image to those of p, or fail and set b->wrong. */
nb_status nb_bench_judge(nb_bench *b, nb_bench_point *p, const char *how,
                         const nb_bench_reference *r, const float *image, nb_error *err);
/** The same for an image in a file. */
nb_status nb_bench_judge_file(nb_bench *b, nb_bench_point *p, const char *how,
                              const nb_bench_reference *r, const char *path,
                              nb_error *err);
/** Would the repeats take longer than -limit? Then note why p has no times. */
int nb_bench_leave_out(const nb_bench *b, nb_bench_point *p, const char *what,
                       double seconds);
/** Estimate the seconds of a render of p from smaller images, cold or warm; 0: unknown. */
double nb_bench_expected(const nb_bench *b, const nb_bench_point *p, int cold);

/** Fill err: code and message. */
nb_status nb_bench_fail(nb_error *err, nb_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
nb_status nb_bench_no_memory(nb_error *err);
/** NB_ERR_CANCELLED when the user asked for it. */
nb_status nb_bench_stopped(nb_error *err);
/** Hooks that end a render when the user asks for it. */
nb_hooks nb_bench_hooks(void);

/* --- the report (report.c) --- */

/** Write results.json.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_bench_write_results(const nb_bench *b, nb_error *err);
/** The times on standard output, a line for each measurement. */
void nb_bench_print_plain(const nb_bench *b);
/** Read the files of -peer-results, if there are any, and do nothing else.  Errors: NB_ERR_INPUT
 * (also a point whose image is wrong), NB_ERR_UNSUPPORTED (no python3). */
nb_status nb_bench_check_others(const nb_bench_folder *f, const nb_bench_options *o,
                                nb_error *err);
/** Make the report in f->part from its results.json, or from that of -from. *plain: without
 * python3 there is only results.json. A note names what is missing. */
nb_status nb_bench_report(const nb_bench_folder *f, const nb_bench_options *o, int *plain,
                          nb_error *err);

#endif
