/* SPDX-License-Identifier: MIT */
/** Another program: run, timed, its output kept. */
#ifndef NB_CLI_CHILD_H
#define NB_CLI_CHILD_H

#include "../nanobragg.h"

/** How a program ended. */
typedef struct nb_child_end {
    int missing;     /* errno of a program that could not be started, else 0 */
    int signal;      /* that ended it, else 0 */
    int exit_status; /* of a program that no signal ended */
    double seconds;  /* from start to end */
    double user_seconds, system_seconds;
    double peak_mib; /* of memory */
} nb_child_end;

/** Run argv[0] (looked up in PATH) with its arguments, in `folder`, with no input; its
 * standard output goes to the file `output` and its standard error to `errors`. Both are
 * whole paths and may be the same. Errors: NB_ERR_IO if nothing could be run. The status of
 * the program is not an error. */
nb_status nb_child_run(char *const argv[], const char *folder, const char *output,
                       const char *errors, nb_child_end *end, nb_error *err);

#endif
