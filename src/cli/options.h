/* SPDX-License-Identifier: MIT */
/** Command line -> nb_cli. */
#ifndef NB_CLI_OPTIONS_H
#define NB_CLI_OPTIONS_H

#include "flags.h"

/** Parse argv[1..argc-1] into *cli; all of *cli is written. Flags match exactly, with one
 * or two dashes; the last of equal flags is used. A help or version flag ends the parsing.
 * Returns NB_ERR_INPUT with a message that names the flag, the value and what to type. */
nb_status nb_cli_parse(int argc, char **argv, nb_cli *cli, nb_error *err);

/** As above, but keeps the values of *cli and does not check flags against each other. */
nb_status nb_cli_apply(int argc, char **argv, nb_cli *cli, nb_error *err);

/** Flags, with blanks between them, that a word of other programs means; NULL: it is not known. */
const char *nb_flags_meant(const char *word);

/** Levenshtein distance without regard to case; two equal texts give 0. */
int nb_cli_edits(const char *a, const char *b);

int nb_cli_is_series(const nb_cli *cli);

/** Does -noisefile of a single image hold -saturation?  A series has its own files. */
nb_status nb_cli_check_saturation(const nb_cli *cli, nb_error *err);

/** The words of a command line as one line, quoted where a shell needs it. */
nb_status nb_cli_join(int argc, char **argv, nb_text *line, nb_error *err);
/** Begin a command line with this configuration (NULL: the defaults) and every other flag unset; what cli held is not freed. */
void nb_cli_begin(nb_cli *cli, const nb_config *cfg);
void nb_cli_free(nb_cli *cli); /* begun or zero */

/** Would the run write over one of its inputs, or one file twice? nb_cli_parse makes this
 * check if a flag named a file. A run makes it before it reads anything. */
nb_status nb_cli_check_files(const nb_cli *cli, nb_error *err);

#endif
