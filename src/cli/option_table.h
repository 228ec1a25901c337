/* SPDX-License-Identifier: MIT */
/** The one table of command-line options.  It drives parsing, -help, the man page, the bash
 * completion and docs/options.md. */
#ifndef NB_CLI_OPTION_TABLE_H
#define NB_CLI_OPTION_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "../nanobragg.h"

#define NB_OPTION_MAX 192 /* rows of the table; checked when it is searched */

typedef enum nb_cli_action {
    NB_DO_RUN = 0,
    NB_DO_HELP,
    NB_DO_HELP_TOPIC,
    NB_DO_HELP_MAN,
    NB_DO_HELP_MARKDOWN,
    NB_DO_HELP_BASH,
    NB_DO_HELP_FLAGS,
    NB_DO_VERSION
} nb_cli_action;

typedef enum nb_time_report {
    NB_TIME_BRIEF = 0,
    NB_TIME_TABLE,
    NB_TIME_JSON
} nb_time_report;

/** A parsed command line. */
typedef struct nb_cli {
    nb_config cfg;
    nb_cli_action action;
    const char *topic; /* of NB_DO_HELP_TOPIC; an argument */
    FILE *text; /* where a run's text goes: stdout, or stderr when an image goes to stdout */
    int show_config;
    int trace; /* -trace_pixel was given */
    int trace_pixel[2];
    int printout;
    int printout_one; /* only printout_pixel, else every pixel of the ROI */
    int printout_pixel[2];
    int progress;
    int quiet;
    nb_time_report time;
    int no_effect_flag;
    double no_effect;                 /* where values of flags without effect go */
    char no_effect_file[NB_PATH_MAX]; /* likewise */
    /** Where each option of the table was last typed: index into argv, 0 = never. */
    int typed[NB_OPTION_MAX];
    nb_series series;
    char jobs_file[NB_PATH_MAX];
} nb_cli;

typedef enum nb_option_kind {
    NB_OPT_GROUP,  /* not an option: the heading of those that follow */
    NB_OPT_FLAG,   /* no value; stores `constant` in an int */
    NB_OPT_INT,    /* `count` whole numbers */
    NB_OPT_NUMBER, /* `count` numbers */
    NB_OPT_VECTOR, /* three numbers, not all zero, into an nb_opt3 */
    NB_OPT_POINT,  /* three numbers into an nb_opt3 */
    NB_OPT_SEED,   /* a whole number into an nb_seed */
    NB_OPT_PATH,   /* a file name */
    NB_OPT_WORD,   /* one of `words` */
    NB_OPT_CELL,   /* one to six numbers */
    NB_OPT_MISSET, /* a word with `rand` in it, or three angles */
    NB_OPT_DEPTH,  /* a number, or a word with `inf` in it */
    NB_OPT_DEVICE, /* a word of nb_device_word */
    NB_OPT_TIME,   /* may be followed by `json` */
    NB_OPT_HELP,   /* may be followed by a group, a flag or a word */
    NB_OPT_TEXT,   /* one argument, for `convert` */
    NB_OPT_REFUSED /* known and not there: an error that says `note` */
} nb_option_kind;

/** Allowed values; an open end excludes the limit itself. */
typedef struct nb_option_range {
    double min, max;
    int open_min, open_max;
} nb_option_range;

/** One word that an NB_OPT_WORD accepts and the int it stands for; ends with a NULL text. */
typedef struct nb_option_word {
    const char *text;
    int value;
} nb_option_word;

typedef struct nb_option {
    const char *name;     /* canonical, without dash; the title of a group */
    const char *synonyms; /* separated by blanks, NULL for none */
    nb_option_kind kind;
    int count;     /* numbers typed; 0 means 1 */
    int copies;    /* the one number typed fills so many array elements; 0 means 1 */
    int constant;  /* FLAG */
    size_t offset; /* of the destination in nb_cli */
    nb_option_range range;
    const nb_option_word *words;
    void (*effect)(nb_cli *cli); /* after storing; NULL for none */
    /** TEXT: store it; 0 when it is wrong, and then help's `value` is said. */
    int (*convert)(nb_cli *cli, const char *text);
    const char *value;    /* how help shows the value, NULL for none */
    const char *unit;     /* NULL for none */
    const char *fallback; /* default, in words; NULL for off or none */
    const char *help;     /* one line, no full stop */
    const char *note; /* said when the flag is used: why it has no effect or is refused */
} nb_option;

/** The table, `*count` rows; static memory. */
const nb_option *nb_option_table(size_t *count);

#endif
