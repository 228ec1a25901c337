/* SPDX-License-Identifier: MIT */
/** Command line -> nb_cli. */
#ifndef NB_CLI_OPTIONS_H
#define NB_CLI_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "../nanobragg.h"
#include "../params/config.h"

/* The flags of the command line: the library's table of parameters, then those of the program.
 * They drive parsing, -help, the man page, the bash completion and docs/options.md. */

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

/** Number of words of a flag before argv[0..argc-1]: of a cell and the like all that are numbers, of angles one word or
 * all, of a list with commas one. */
int nb_flag_words(const nb_flag *flag, int argc, char *const *argv);

/** The name behind one or two dashes, or NULL. */
const char *nb_bare_name(const char *argument);

/** Copy the next of the blank-separated words at *cursor into word[size] and move on;
 * returns 0 at the end.  *cursor may be NULL. */
int nb_next_word(const char **cursor, char *word, size_t size);

/** Parse argv[1..argc-1] into *cli; all of *cli is written. Flags match exactly, with one
 * or two dashes; the last of equal flags is used. A help or version flag ends the parsing.
 * Returns NB_ERR_INPUT with a message that names the flag, the value and what to type. */
nb_status nb_cli_parse(int argc, char **argv, nb_cli *cli, nb_error *err);

/** As above, but keeps the values of *cli and does not check flags against each other. */
nb_status nb_cli_apply(int argc, char **argv, nb_cli *cli, nb_error *err);

/** Flags, with blanks between them, that a word of other programs means; NULL: it is not known. */
const char *nb_flags_meant(const char *word);

int nb_cli_is_series(const nb_cli *cli);

/** The words of a command line as one line, quoted where a shell needs it. */
nb_status nb_cli_join(int argc, char **argv, nb_text *line, nb_error *err);
/** Begin a command line with this configuration (NULL: the defaults) and every other flag unset; what cli held is not freed. */
void nb_cli_begin(nb_cli *cli, const nb_config *cfg);
void nb_cli_free(nb_cli *cli); /* begun or zero */

/** Would the run write over one of its inputs, or one file twice? nb_cli_parse makes this
 * check. A run makes it before it reads anything. */
nb_status nb_cli_check_files(const nb_cli *cli, nb_error *err);

/* --- All forms in which the table of flags can be printed --- */

void nb_help_usage(FILE *out);   /* a few lines, for a call without arguments */
void nb_help_options(FILE *out); /* -help */
/** -help TOPIC: the flag of that name, the groups whose title has this word, other flags with it
 * in name, values or help, and subcommands. With a dash (-help -psf) that flag alone.
 * NB_ERR_INPUT if there is nothing. */
nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err);
/** Flags, subcommands and examples; mk/help_pages.py makes docs/options.md, the man page and the completion of it. */
void nb_help_json(FILE *out);
void nb_help_version(FILE *out); /* version and optional parts */

/** A flag with its value, and the text beside it. */
void nb_help_item(FILE *out, const char *flag, const char *text);
/** One flag as in -help. */
void nb_help_flag(FILE *out, const nb_flag *flag);

/** Print every flag of a group. */
void nb_help_group(FILE *out, const char *group);

/** Print text from column `column` on, broken before column 90 and indented by `indent`. */
void nb_help_wrap(FILE *out, const char *text, int column, int indent);

/* --- The files that a run will write --- */

/** Is this name of an output standard output ("-")? */
int nb_is_stdout(const char *path);

/** Does one of the outputs go to standard output? */
int nb_outputs_to_stdout(const nb_config *cfg);

/** Can this file be made?  NB_ERR_IO if not. */
nb_status nb_check_output(const char *path, nb_error *err);

/** Can each file be made? Checked before the rendering, so that a wrong folder is found at
 * once. NB_ERR_IO if not. */
nb_status nb_check_outputs(const nb_config *cfg, nb_error *err);
/** The same of a series, but for its frames. */
nb_status nb_check_series_outputs(const nb_config *cfg, nb_error *err);

#endif
