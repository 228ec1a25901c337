/* SPDX-License-Identifier: MIT */
/** Parse the command line into an nb_cli. */
#ifndef NB_CLI_OPTIONS_H
#define NB_CLI_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "../nanobragg.h"
#include "../params/config.h"

/* The flags of the command line: the library's table of parameters, then the table of the
 * program. They drive parsing, -help, man page, bash completion and docs/options.md. */

#define NB_FLAG_MAX 320 /* limit for the rows of both tables; a test checks it */

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
    const char *topic; /* argument of NB_DO_HELP_TOPIC */
    /* file for the text of a run: stdout, or stderr if an image goes to stdout */
    FILE *text;
    int show_config;
    int trace; /* -trace_pixel was given */
    int trace_pixel[2];
    int printout;
    int printout_one; /* 1: only printout_pixel; 0: every pixel of the ROI */
    int printout_pixel[2];
    int progress;
    int quiet;
    nb_time_report time;
    nb_crystals frame;  /* crystals of -only_frame; empty: use cfg */
    int no_effect_flag; /* value of -coherent, a flag without effect */
    /** Index in argv where each flag was last typed; 0: never. */
    int typed[NB_FLAG_MAX];
} nb_cli;

/** Row of the library's table, or of the program's table with offsets in nb_cli. */
typedef nb_param nb_flag;

/** Special actions of flags of the program. */
typedef enum nb_flag_special {
    NB_FLAG_PLAIN = 0,
    NB_FLAG_TIME, /* may be followed by `json` */
    NB_FLAG_HELP  /* may be followed by a group, a flag or a word */
} nb_flag_special;

/** Flag after `flag` (NULL: the first flag); NULL at the end. */
const nb_flag *nb_flag_next(const nb_flag *flag);

/** True for the first flag of a group. */
int nb_flag_begins_group(const nb_flag *flag);

/** True if a word of the text (or NULL) begins with `word`. */
int nb_flag_text_has(const char *text, const char *word);
/** True if nb_flag_text_has name, synonyms, value or help of the flag. */
int nb_flag_speaks_of(const nb_flag *flag, const char *word);
/** True if nb_flag_speaks_of any flag, or the title of a group has this word. */
int nb_flag_is_about(const char *word);

/** Index of a flag, below NB_FLAG_MAX. */
size_t nb_flag_index(const nb_flag *flag);

/** Flag with the name of this argument (with dashes), or NULL. */
const nb_flag *nb_flag_find(const char *argument);

/** Struct that has the field of a flag. */
void *nb_flag_base(const nb_flag *flag, nb_cli *cli);

nb_flag_special nb_flag_special_of(const nb_flag *flag);

/** Reason for the note of a flag without effect, or NULL. */
const char *nb_flag_note(const nb_flag *flag);

/** True for a flag without a value. */
int nb_flag_is_switch(const nb_flag *flag);

/** Number of words of a flag's value, which begins at argv[0] of argc: all numbers of a
 * cell or list, one word or all numbers for angles, one word for a list with commas. */
int nb_flag_words(const nb_flag *flag, int argc, char *const *argv);

/** Name after one or two dashes, or NULL. */
const char *nb_bare_name(const char *argument);

/** Parse argv[1..argc-1] into *cli; all of *cli is written. Flags match exactly, with one
 * or two dashes; the last of equal flags is used. A help or version flag ends the parsing.
 * Returns NB_ERR_INPUT with a message that names the flag, the value and what to type. */
nb_status nb_cli_parse(int argc, char **argv, nb_cli *cli, nb_error *err);

/** Like nb_cli_parse, but keep the values of *cli and do not check for flags that
 * contradict each other. */
nb_status nb_cli_apply(int argc, char **argv, nb_cli *cli, nb_error *err);

/** Flags, separated by blanks, for a word of other programs, or NULL. */
const char *nb_flags_meant(const char *word);

int nb_cli_is_series(const nb_cli *cli);

/** Join a command line to one line, with quotes for a shell. */
nb_status nb_cli_join(int argc, char **argv, nb_text *line, nb_error *err);
/** Begin a command line with cfg (NULL: defaults), other flags unset; frees nothing. */
void nb_cli_begin(nb_cli *cli, const nb_config *cfg);
/* Free *cli, which nb_cli_begin filled or which is all zero. */
void nb_cli_free(nb_cli *cli);

/** Refuse a run that writes over an input, or one file twice. nb_cli_parse calls it, and
 * a run calls it before it reads anything. */
nb_status nb_cli_check_files(const nb_cli *cli, nb_error *err);

/* --- All forms in which the table of flags can be printed --- */

void nb_help_usage(FILE *out);   /* Print a few lines, for a call without arguments. */
void nb_help_options(FILE *out); /* Print the text of -help. */
/** Print -help TOPIC: the flag of that name, groups with this word in the title, other
 * flags with it in name, values or help, and subcommands. With a dash (-help -psf) only
 * that flag. NB_ERR_INPUT if nothing is found. */
nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err);
/** Print flags, subcommands and examples as JSON, from which mk/help_pages.py makes docs,
 * man page and completion. */
void nb_help_json(FILE *out);
void nb_help_version(FILE *out); /* Print the version and the optional parts. */

/** Print a flag with its value, and text next to the flag. */
void nb_help_item(FILE *out, const char *flag, const char *text);
/** Print a flag as in -help. */
void nb_help_flag(FILE *out, const nb_flag *flag);

/** Print every flag of a group. */
void nb_help_group(FILE *out, const char *group);

/** Print text from column `column` on, broken before column 90 and indented by `indent`. */
void nb_help_wrap(FILE *out, const char *text, int column, int indent);

/* --- The files that a run will write --- */

/** True if this name of an output is standard output ("-"). */
int nb_is_stdout(const char *path);

/** True if an output goes to standard output. */
int nb_outputs_to_stdout(const nb_config *cfg);

/** Check that this file can be made.  NB_ERR_IO if not. */
nb_status nb_check_output(const char *path, nb_error *err);

/** Check that all files can be made, before the rendering, so that a wrong folder is
 * found at once. NB_ERR_IO if not. */
nb_status nb_check_outputs(const nb_config *cfg, nb_error *err);
/** As nb_check_outputs for a series; its frames are not checked. */
nb_status nb_check_series_outputs(const nb_config *cfg, nb_error *err);

#endif
