/* SPDX-License-Identifier: MIT */
/** Another program: run, timed, its output kept. */
#ifndef NB_CLI_CHILD_H
#define NB_CLI_CHILD_H

#include "../nanobragg.h"

/** How a program ended. */
typedef struct nb_child_end {
    int missing;     /* errno of a program that could not be started, else 0 */
    int signal;      /* that ended it, else 0 */
    int exit_status; /* of one that ended by itself */
    double seconds;  /* from start to end */
    double user_seconds, system_seconds;
    double peak_mib; /* of memory */
} nb_child_end;

/** Run argv[0] (looked up in PATH) with its arguments, in `folder`, with no input; what it prints
 * goes to the file `output` and its error messages to `errors`, both whole paths, which may be
 * the same.  Errors: NB_ERR_IO when nothing could be run; how the program ended is no error. */
nb_status nb_child_run(char *const argv[], const char *folder, const char *output,
                       const char *errors, nb_child_end *end, nb_error *err);

#endif
