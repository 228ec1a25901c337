/* SPDX-License-Identifier: MIT */
/** Subcommands: `nanobragg NAME operands and flags`. Each has a table, and may borrow
 * flags of the program. Flags take one dash or two and may be between the operands. */
#ifndef NB_CLI_SUB_H
#define NB_CLI_SUB_H

#include <stddef.h>
#include <stdio.h>

#include "../nanobragg.h"
#include "options.h"
#include "common.h"

#define NB_OPERANDS_MAX 1024

/** Place of a flag in the struct of the command. */
typedef struct nb_sub_place {
    enum {
        NB_SUB_IS_SET,
        NB_SUB_IS_WHOLE,
        NB_SUB_IS_NUMBER,
        NB_SUB_IS_NAME,
        NB_SUB_IS_WORD
    } kind;
    size_t offset;
    double low, high;         /* limits of numbers */
    const char *const *words; /* allowed words, NULL after the last */
} nb_sub_place;

typedef struct nb_sub_option {
    const char *name;  /* without dash; NULL ends the table */
    int values;        /* number of arguments */
    const char *value; /* arguments in the help, or NULL */
    const char *help;  /* one line, no full stop */
    /** Store values[0..] in the struct of the command.  NULL: store at `place`. */
    nb_status (*take)(void *target, char **values, nb_error *err);
    nb_sub_place place;
} nb_sub_option;

/* Last members of a row, which tell how the value is stored. TAKE: by a function; SET: 1;
 * WHOLE: int numbers; NUMBER: double numbers; NAME: a non-empty text; WORD: index in a
 * list of words, int. */
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
    char **words; /* all words after the name of the command, for a report */
    int word_count;
    nb_cli cli; /* defaults, changed by the borrowed flags */
} nb_sub_line;

typedef struct nb_sub_command {
    const char *name;
    const char *usage; /* text after "nanobragg NAME " */
    const char *what;  /* one line */
    const char *see;   /* page in docs/ */
    const nb_sub_option *options;
    const char *borrowed; /* flags of the main table, separated by blanks; "*": all flags
                             that describe a simulation; or NULL */
    const char *const *presets;  /* borrowed words before those of the user, or NULL */
    const char *const *as_flags; /* flags with the first operands as values, or NULL */
    int operands;                /* least number of operands */
    int more_operands;           /* more operands are allowed */
    int takes_rest;
    const char *statuses;           /* exit statuses in words */
    void (*defaults)(void *target); /* fills the target, or NULL for all 0 */
    /** Run the command and return the exit status.  If not 0, a message was printed. */
    int (*run)(void *target, nb_sub_line *line);
} nb_sub_command;

#define NB_SUB_TARGET 8192

/** All `*count` subcommands; static memory. */
const nb_sub_command *const *nb_sub_commands(size_t *count);

/** If argv[1] names a subcommand, run it and return 1 with its exit status in *status. */
int nb_sub_dispatch(int argc, char **argv, int *status);

/** Parse argv[2..]; sets *help if help is requested.  Errors: NB_ERR_INPUT. */
nb_status nb_sub_parse(const nb_sub_command *command, int argc, char **argv, void *target,
                       nb_sub_line *line, int *help, nb_error *err);

/* --- The limits of a comparison: `corr=0.9999,peaks=0.95,sum=0.001` --- */

#define NB_THRESHOLD_KEYS 10
#define NB_THRESHOLD_DEFAULT "corr=0.9999,peaks=0.95,sum=0.001"

/** Limits by key. */
typedef struct nb_thresholds {
    int set[NB_THRESHOLD_KEYS];
    double limit[NB_THRESHOLD_KEYS];
} nb_thresholds;

/** Parse a list, which replaces the limits; `none` sets no limit. Errors: NB_ERR_INPUT. */
nb_status nb_thresholds_parse(const char *text, nb_thresholds *out, nb_error *err);

/* --- Lines about pixels too large for the type of a file, with a better flag --- */

/** Print these lines for the frames of a series. */
void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p);

/* --- The report of a run on standard output --- */

/** Print the name of written file number k, from 0. */
void nb_report_file(FILE *out, int k, const char *path);

/** Print statistics of the image, written files, seed, backend and time. */
void nb_report_results(const nb_cli *cli, const nb_sim *sim, const nb_stats *stats);

/** Print the stages for -time or -time json; nothing for NB_TIME_BRIEF. wall: seconds of
 * a series, whose stages are sums over its threads; 0 for a single image. */
void nb_report_times(const nb_cli *cli, const nb_times *times, double wall);

/* --- -frames, -stills, -jobs: many images --- */

/** Run the series, with a progress line and a report. ranks: processes of the series, or
 * NULL for a single process. */
nb_status nb_cli_run_series(const nb_cli *cli, nb_ranks *ranks, nb_progress *progress,
                            nb_error *err);

/** With -draws, write its table and set *done to 1. With -only_frame, or with -vary
 * without a series, change cli to a single image of that frame. Errors: NB_ERR_INPUT, of
 * nb_series_crystals. */
nb_status nb_cli_take_frame(nb_cli *cli, int *done, nb_error *err);

/* -jobs FILE: JSON lines. Each line is one object, whose members are flags of one frame,
 * as {"misset": [10, 20, 30], "fluence": 1e24, "nopolar": true}. */

typedef struct nb_job {
    const char *text; /* in nb_jobs.data, without a NUL at the end */
    size_t bytes;
    int line; /* number in the file, from 1 */
} nb_job;

typedef struct nb_jobs {
    char *data; /* text of the file */
    nb_job *list;
    int count;
    char path[NB_PATH_MAX];
    char ignored[NB_FLAG_MAX]; /* flags without effect on a frame */
} nb_jobs;

/** Read and check every line of cli->jobs_file.  *jobs: free with nb_jobs_free. */
nb_status nb_jobs_load(const nb_cli *cli, nb_jobs **jobs, nb_error *err);
/** As nb_jobs_load, for the text of the file `path`: `bytes` bytes and a NUL. The text is
 * freed with *jobs, or at once if *jobs is NULL. */
nb_status nb_jobs_parse(char *data, size_t bytes, const char *path, const nb_config *base,
                        nb_jobs **jobs, nb_error *err);
void nb_jobs_free(nb_jobs *jobs); /* NULL is allowed */

/** Write the location of line `frame` (0..), "-jobs FILE:LINE", into text[size]. */
void nb_jobs_place(const nb_jobs *jobs, int frame, char *text, size_t size);
/** Write the flags without effect as a sentence into line[size]; 0 without such flags. */
int nb_jobs_ignored(const nb_jobs *jobs, char *line, size_t size);

/** Apply line `frame` (0..) to cfg. Thread-safe. */
nb_status nb_jobs_apply(const nb_jobs *jobs, int frame, nb_config *cfg, nb_error *err);

#endif
