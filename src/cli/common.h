/* SPDX-License-Identifier: MIT */
/** Messages and exit statuses of the program and its subcommands. */
#ifndef NB_CLI_COMMON_H
#define NB_CLI_COMMON_H

#include "../nanobragg.h"

/** Exit status of a library status. */
int nb_cli_exit_status(nb_status status);

/** "nanobragg: KIND: TEXT" on standard error, one line whatever a file name contains. */
void nb_cli_say(const char *kind, const char *text);

/** Fill err with an NB_ERR_INPUT message and return it. */
nb_status nb_cli_fail(nb_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A finite decimal number, and nothing before or after it; 0: the text is none. */
int nb_read_number(const char *text, double *out);
/** The shortest decimal number that reads as this double, into text[NB_CLI_NUMBER]: 0.1. */
#define NB_CLI_NUMBER 32
void nb_write_number(double value, char *text);
/** A whole number from low to high; 0: the text is none. */
int nb_read_whole(const char *text, int low, int high, int *out);

/** If text could not be written (a full disk), the exit status must say so. */
nb_status nb_cli_check_stdout(nb_error *err);

#endif
