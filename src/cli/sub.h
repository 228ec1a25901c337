/* SPDX-License-Identifier: MIT */
/** Subcommands: `nanobragg NAME operands and flags`. Each has a table. Flags take one dash
 * or two and may be between the operands. */
#ifndef NB_CLI_SUB_H
#define NB_CLI_SUB_H

#include <stddef.h>
#include <stdio.h>

#include "flags.h"

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

/** The place of a word in a list, for a flag with a function. */
nb_status nb_sub_word(const char *flag, const char *word, const char *const *words,
                      int *out, nb_error *err);

#endif
