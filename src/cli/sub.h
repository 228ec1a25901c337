/* SPDX-License-Identifier: MIT */
/** Subcommands: `nanobragg NAME operands and flags`. Each has a table. Flags take one dash
 * or two and may be between the operands. */
#ifndef NB_CLI_SUB_H
#define NB_CLI_SUB_H

#include <stdio.h>

#include "flags.h"

#define NB_OPERANDS_MAX 1024

typedef struct nb_sub_option {
    const char *name;  /* without dash; NULL ends the table */
    int values;        /* arguments that it takes */
    const char *value; /* how help shows them, NULL for none */
    const char *help;  /* one line, no full stop */
    /** Store values[0..] in the command's own struct. */
    nb_status (*take)(void *target, char **values, nb_error *err);
} nb_sub_option;

/** A parsed command line of a subcommand; it points into argv. */
typedef struct nb_sub_line {
    const char *operands[NB_OPERANDS_MAX];
    int operand_count;
    char **rest; /* what stands behind `--` */
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
    int operands;      /* at least so many */
    int more_operands; /* and any number of others */
    int takes_rest;
    const char *statuses; /* exit statuses in words */
    void (*defaults)(void *target);
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

/** All of them in the three forms of help. */
void nb_sub_help_list(FILE *out);
void nb_sub_help_markdown(FILE *out);
void nb_sub_help_man(FILE *out);

/** Readers of values for the tables; flag is for the message. */
nb_status nb_sub_number(const char *flag, const char *text, double low, double high,
                        double *out, nb_error *err);
nb_status nb_sub_whole(const char *flag, const char *text, int low, int high, int *out,
                       nb_error *err);

#endif
