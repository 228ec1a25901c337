/* SPDX-License-Identifier: MIT */
/** A command line that means the same in another folder. */
#ifndef NB_CLI_RUN_FLAGS_H
#define NB_CLI_RUN_FLAGS_H

#include "../nanobragg.h"

/** Arguments of a program to be started; NULL-terminated, all owned. */
typedef struct nb_run_flags {
    char **argv; /* argv[0] is free for the program's name */
    int count;
} nb_run_flags;

/** Copy `count` flags. Names of input files become whole paths, output files are written
 * into the folder of the program, and `-floatfile floatimage.bin` is added at the end.
 * There is room for one more flag. Errors: NB_ERR_NOMEM, NB_ERR_IO, NB_ERR_INPUT (a path
 * too long). */
nb_status nb_run_flags_make(char **flags, int count, nb_run_flags *out, nb_error *err);
/** Put a copy of text at argv[at] (count: at the end). Errors: NB_ERR_NOMEM. */
nb_status nb_run_flags_set(nb_run_flags *flags, int at, const char *text, nb_error *err);
void nb_run_flags_free(nb_run_flags *flags);

#endif
