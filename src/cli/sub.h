/* SPDX-License-Identifier: MIT */
/** Subcommands: `nanobragg NAME operands and flags`. Each has a table. Flags take one dash
 * or two and may be between the operands. */
#ifndef NB_CLI_SUB_H
#define NB_CLI_SUB_H

#include <stddef.h>
#include <stdio.h>

#include "../nanobragg.h"
#include "options.h"
#include "common.h"

#define NB_OPERANDS_MAX 1024

/** Where a flag is stored in the command's own struct. */
typedef struct nb_sub_place {
    enum {
        NB_SUB_IS_SET,
        NB_SUB_IS_WHOLE,
        NB_SUB_IS_NUMBER,
        NB_SUB_IS_NAME,
        NB_SUB_IS_WORD
    } kind;
    size_t offset;
    double low, high;         /* of numbers */
    const char *const *words; /* one of them, NULL after the last */
} nb_sub_place;

typedef struct nb_sub_option {
    const char *name;  /* without dash; NULL ends the table */
    int values;        /* arguments that it takes */
    const char *value; /* how help shows them, NULL for none */
    const char *help;  /* one line, no full stop */
    /** Store values[0..] in the command's own struct.  NULL: as `place` says. */
    nb_status (*take)(void *target, char **values, nb_error *err);
    nb_sub_place place;
} nb_sub_option;

/* Ends of a row for: a function; the value 1; whole numbers (int); numbers (double); a text that
 * is not empty; the index of a word in a list (int). */
#define NB_SUB_TAKE(take)                                                                \
    take,                                                                                \
    {                                                                                    \
        NB_SUB_IS_SET, 0, 0, 0, NULL                                                     \
    }
#define NB_SUB_AT(kind, type, member, low, high, words)                                  \
    NULL,                                                                                \
    {                                                                                    \
        kind, offsetof(type, member), low, high, words                                   \
    }
#define NB_SUB_SET(type, member) NB_SUB_AT(NB_SUB_IS_SET, type, member, 0, 0, NULL)
#define NB_SUB_WHOLE(type, member, low, high)                                            \
    NB_SUB_AT(NB_SUB_IS_WHOLE, type, member, low, high, NULL)
#define NB_SUB_NUMBER(type, member, low, high)                                           \
    NB_SUB_AT(NB_SUB_IS_NUMBER, type, member, low, high, NULL)
#define NB_SUB_NAME(type, member) NB_SUB_AT(NB_SUB_IS_NAME, type, member, 0, 0, NULL)
#define NB_SUB_WORD(type, member, words)                                                 \
    NB_SUB_AT(NB_SUB_IS_WORD, type, member, 0, 0, words)
#define NB_SUB_END                                                                       \
    {                                                                                    \
        NULL, 0, NULL, NULL, NB_SUB_TAKE(NULL)                                           \
    }

/** A parsed command line of a subcommand; it points into argv. */
typedef struct nb_sub_line {
    const char *operands[NB_OPERANDS_MAX];
    int operand_count;
    char **rest; /* the arguments after `--` */
    int rest_count;
    char **words; /* everything after the command's name, for a report */
    int word_count;
    nb_cli cli; /* the borrowed flags, over the defaults */
} nb_sub_line;

typedef struct nb_sub_command {
    const char *name;
    const char *usage; /* behind "nanobragg NAME " */
    const char *what;  /* one line */
    const char *see;   /* its page in docs/ */
    const nb_sub_option *options;
    const char *borrowed; /* flags of the main table, separated by blanks; "*": all that describe a
                             simulation; NULL for none */
    const char *const *presets; /* words of such flags before those of the user; NULL for none */
    const char *const *as_flags; /* the flags whose values the first operands are; NULL for none */
    int operands;                /* at least so many */
    int more_operands;           /* and any number of others */
    int takes_rest;
    const char *statuses;           /* exit statuses in words */
    void (*defaults)(void *target); /* of a target that is not all 0; NULL: it is */
    /** Run it and return the exit status. If it is not 0, a message was printed. */
    int (*run)(void *target, const nb_sub_line *line);
} nb_sub_command;

#define NB_SUB_TARGET 8192

/** The subcommands, `*count` of them; static memory. */
const nb_sub_command *const *nb_sub_commands(size_t *count);

/** If argv[1] names a subcommand, run it and return 1 with its exit status in *status. */
int nb_sub_dispatch(int argc, char **argv, int *status);

/** Parse argv[2..].  Errors: NB_ERR_INPUT.  *help is set when help was asked for. */
nb_status nb_sub_parse(const nb_sub_command *command, int argc, char **argv, void *target,
                       nb_sub_line *line, int *help, nb_error *err);

/* --- The limits of a comparison: `corr=0.9999,peaks=0.95,sum=0.001` --- */

#define NB_THRESHOLD_KEYS 10
#define NB_THRESHOLD_DEFAULT "corr=0.9999,peaks=0.95,sum=0.001"

/** The limits that were set; by key. */
typedef struct nb_thresholds {
    int set[NB_THRESHOLD_KEYS];
    double limit[NB_THRESHOLD_KEYS];
} nb_thresholds;

/** Parse a list, which replaces the limits; `none` sets no limit. Errors: NB_ERR_INPUT. */
nb_status nb_thresholds_parse(const char *text, nb_thresholds *out, nb_error *err);

/* Lines about pixels that are too large for the type of a file, and the flag to type instead. */

/** For the frames of a series. */
void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p);

/* --- The report of a run on standard output --- */

/** File number k of the written ones, from 0. */
void nb_report_file(FILE *out, int k, const char *path);

/** Statistics of the image, the files written, seed, backend and time. */
void nb_report_results(const nb_cli *cli, const nb_sim *sim, const nb_stats *stats);

/** The stage table of -time or -time json; nothing for NB_TIME_BRIEF.  wall: seconds of a series, whose times
 * are those of the clock, of all threads together; 0: a single image. */
void nb_report_times(const nb_cli *cli, const nb_times *times, double wall);

/* --- -frames, -stills, -jobs: many images --- */

/** Run the series, with a progress line and a report. ranks: the processes of the series,
 * NULL for a single process. */
nb_status nb_cli_run_series(const nb_cli *cli, nb_ranks *ranks, nb_progress *progress,
                            nb_error *err);

/** With -draws write its table; *done is then 1.  With -only_frame, or -vary and no series, make cli->cfg the configuration
 * of one frame, and cli that of a single image.  Errors: NB_ERR_INPUT, those of nb_series_single. */
nb_status nb_cli_take_frame(nb_cli *cli, int *done, nb_error *err);

/* -jobs FILE: JSON lines, each exactly one object whose members are flags of one frame, e.g.
 * {"misset": [10, 20, 30], "fluence": 1e24, "nopolar": true}. */

typedef struct nb_job {
    const char *text; /* into nb_jobs.data; without a NUL at the end */
    size_t bytes;
    int line; /* in the file, from 1 */
} nb_job;

typedef struct nb_jobs {
    char *data; /* the file's text */
    nb_job *list;
    int count;
    uint64_t tag; /* hash of the file */
    char path[NB_PATH_MAX];
    char ignored[NB_FLAG_MAX]; /* flags without effect on a frame */
} nb_jobs;

/** Read and check every line of cli->jobs_file.  *jobs: free with nb_jobs_free. */
nb_status nb_jobs_load(const nb_cli *cli, nb_jobs **jobs, nb_error *err);
/** The same for a text from `path`: `bytes` bytes and a NUL after them. The text must be
 * from malloc. It is freed with the jobs (at once after an error). */
nb_status nb_jobs_parse(char *data, size_t bytes, const char *path, const nb_config *base,
                        nb_jobs **jobs, nb_error *err);
void nb_jobs_free(nb_jobs *jobs); /* NULL is fine */

/** Location of line `frame` (0..), "-jobs FILE:LINE", into text[size]. */
void nb_jobs_place(const nb_jobs *jobs, int frame, char *text, size_t size);
/** Write a sentence that names the flags without effect into line[size]; 0: there are none. */
int nb_jobs_ignored(const nb_jobs *jobs, char *line, size_t size);

/** Let line `frame` (0..) change cfg.  Thread-safe. */
nb_status nb_jobs_apply(const nb_jobs *jobs, int frame, nb_config *cfg, nb_error *err);

#endif
