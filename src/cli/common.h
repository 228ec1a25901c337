/* SPDX-License-Identifier: MIT */
/** Messages and exit statuses of the program and its subcommands. */
#ifndef NB_CLI_COMMON_H
#define NB_CLI_COMMON_H

#include "../nanobragg.h"

/** Exit status of a library status. */
int nb_cli_exit_status(nb_status status);

/** "nanobragg: KIND: TEXT" on standard error, one line whatever a file name contains. */
void nb_cli_say(const char *kind, const char *text);

/** If text could not be written (a full disk), the exit status must say so. */
nb_status nb_cli_check_stdout(nb_error *err);

#endif
