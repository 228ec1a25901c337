/* SPDX-License-Identifier: MIT */
/** What several commands share: JSON without memory, masks, messages, Python tools, sleeping threads, command lines. */
#ifndef NB_CLI_COMMON_H
#define NB_CLI_COMMON_H

#include <stddef.h>

#include "../base/error.h"
#include "../nanobragg.h"

/** Watch cJSON's allocations from now on. Only for the program, as the hooks belong to the whole
 * process. */
void nb_json_watch(void);

/** NB_ERR_NOMEM, with a message that begins with `what`, if an allocation failed since; the
 * program must then end. Else NB_OK. */
nb_status nb_json_memory(const char *what, nb_error *err);

/* --- The flag -mask of view and compare --- */

#define NB_CLI_MASK_HELP "image whose pixels of 0 or below are left out"

/** Leave out pixels where the image of the file `mask` (NULL: none) is 0 or below. A file without
 * header has the image's size; max_read_MB is -max_read. Errors: those of nb_image_read and
 * nb_image_leave_out. */
nb_status nb_cli_leave_out(const char *mask, double max_read_MB, nb_image *image,
                           nb_error *err);

/* --- Messages and exit statuses of the program and its subcommands --- */

/** Exit status of a library status. */
int nb_cli_exit_status(nb_status status);

/** "nanobragg: KIND: TEXT" on standard error, one line whatever a file name contains. */
void nb_cli_say(const char *kind, const char *text);

/** Print the message of an error; returns the exit status. */
int nb_cli_end(nb_status status, const nb_error *err);

/** nb_hooks.notice, with user = nb_progress, or NULL: prints a note. */
void nb_cli_notice(void *progress, const char *line);

/** Fill err with an NB_ERR_INPUT message and return it. */
#define nb_cli_fail(err, ...) nb_fail(err, NB_ERR_INPUT, __VA_ARGS__)

/** Read a text that is one finite decimal number. Returns 0 if it is not. */
int nb_read_number(const char *text, double *out);
/** Read a whole number from low to high. Returns 0 if the text is not one. */
int nb_read_whole(const char *text, int low, int high, int *out);

/** Exit status, which shows also that text could not be written (a full disk). */
nb_status nb_cli_check_stdout(nb_error *err);

/* --- Makes waiting threads of a short run sleep, unless the user chose otherwise --- */

/** Is the OMP_WAIT_POLICY of the environment that of this program? */
int nb_wait_policy_is_ours(void);

/* --- Progress on standard error, and requests to stop --- */

typedef struct nb_progress {
    int visible;   /* show it: a bar on a terminal, elsewhere a line from time to time */
    int terminal;  /* standard error is one */
    double pixels; /* of the image, for the rate */
    double start, last; /* seconds; 0 = not yet */
} nb_progress;

/** SIGINT, SIGTERM and SIGHUP request a clean stop. The same signal again (not SIGHUP) ends
 * the program at once, without leaving temporary files. SIGXFSZ (a file reached its size
 * limit) is an error of that write. */
void nb_stop_on_signals(void);
/** The same signals end the program at once, without leaving temporary files. */
void nb_end_on_signals(void);
/** If the reader closes the pipe (SIGPIPE), this is an error of the write. */
void nb_ignore_broken_pipes(void);
/** Did a signal request a stop? */
int nb_stop_requested(void);

/** Seconds of a monotonic clock. */
double nb_clock(void);

/** quiet: no lines, where there is no terminal. */
void nb_progress_init(nb_progress *progress, int wanted, int quiet);
/** Is it time to draw again?  Then it counts as drawn. */
int nb_progress_is_due(nb_progress *progress);
/** What a drawing begins with, and ends with. */
const char *nb_progress_begin(const nb_progress *progress);
const char *nb_progress_stop(const nb_progress *progress);
/** nb_hooks.progress, with user = nb_progress: draws, and returns nb_stop_requested(). */
int nb_progress_hook(void *user, double fraction);
/** Wipe the bar. */
void nb_progress_end(nb_progress *progress);

/** A time left, in words: "2 min 05 s"; "?" when it is not known. */
void nb_progress_left(double seconds, char *text, size_t size);

#endif
