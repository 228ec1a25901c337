/* SPDX-License-Identifier: MIT */
/** The flags of the command line: the library's table of parameters, then those of the program.
 * They drive parsing, -help, the man page, the bash completion and docs/options.md. */
#ifndef NB_CLI_FLAGS_H
#define NB_CLI_FLAGS_H

#include <stddef.h>
#include <stdio.h>

#include "../nanobragg.h"
#include "../params/config.h"

#define NB_FLAG_MAX 320 /* rows of both tables; flags.c checks it */

typedef enum nb_cli_action {
    NB_DO_RUN = 0,
    NB_DO_HELP,
    NB_DO_HELP_TOPIC,
    NB_DO_HELP_JSON,
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
    nb_series series;
    nb_text jobs_file;
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
    nb_crystals frame;  /* the crystals of -only_frame; empty: those of cfg */
    int no_effect_flag; /* where a flag without effect goes */
    /** Index in argv where each flag was last typed; 0: never. */
    int typed[NB_FLAG_MAX];
} nb_cli;

/** A flag is a row of the library's table, or of the program's own, whose offsets are in nb_cli. */
typedef nb_param nb_flag;

/** Special actions of the program's own flags. */
typedef enum nb_flag_special {
    NB_FLAG_PLAIN = 0,
    NB_FLAG_TIME, /* may be followed by `json` */
    NB_FLAG_HELP  /* may be followed by a group, a flag or a word */
} nb_flag_special;

/** The flag behind `flag` (NULL: the first); NULL at the end. */
const nb_flag *nb_flag_next(const nb_flag *flag);

/** Is it the first flag of its group? */
int nb_flag_begins_group(const nb_flag *flag);

/** Does a word of the text (may be NULL) begin with this one? */
int nb_flag_text_has(const char *text, const char *word);
/** Does the name, a synonym, the value or the help of the flag have this word? */
int nb_flag_speaks_of(const nb_flag *flag, const char *word);
/** Has any flag this word there, or in its group's title? */
int nb_flag_is_about(const char *word);

/** Number of a flag, below NB_FLAG_MAX. */
size_t nb_flag_index(const nb_flag *flag);

/** The flag that this argument (with its dashes) names, or NULL. */
const nb_flag *nb_flag_find(const char *argument);

/** The struct that the flag's offset counts in. */
void *nb_flag_base(const nb_flag *flag, nb_cli *cli);

nb_flag_special nb_flag_special_of(const nb_flag *flag);

/** Note for a flag without effect: the reason; NULL: none. */
const char *nb_flag_note(const nb_flag *flag);

/** Does the flag stand alone, without a value? */
int nb_flag_is_switch(const nb_flag *flag);

/** Are all values of the flag in this word (may be NULL), with commas as in 10,20,30? */
int nb_flag_takes_list(const nb_flag *flag, const char *word);

/** The name behind one or two dashes, or NULL. */
const char *nb_bare_name(const char *argument);

/** Copy the next of the blank-separated words at *cursor into word[size] and move on;
 * returns 0 at the end.  *cursor may be NULL. */
int nb_next_word(const char **cursor, char *word, size_t size);

#endif
