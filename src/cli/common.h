/* SPDX-License-Identifier: MIT */
/** Shared by commands: JSON, masks, messages, numbers, threads, progress. */
#ifndef NB_CLI_COMMON_H
#define NB_CLI_COMMON_H

#include <stddef.h>

#include "../base/error.h"
#include "../nanobragg.h"

/** Watch the allocations of cJSON from now on. Only the program calls this, because the
 * hooks belong to the whole process. */
void nb_json_watch(void);

/** NB_ERR_NOMEM if an allocation has failed since nb_json_watch, with a message that
 * begins with `what`; the program must then end. Otherwise NB_OK. */
nb_status nb_json_memory(const char *what, nb_error *err);

/* --- The flag -mask of view and compare --- */

#define NB_CLI_MASK_HELP "image whose pixels of 0 or below are left out"

/** Leave out pixels where the image of the file `mask` (or NULL) is 0 or below. A file
 * without header has the size of the image. Errors: those of
 * nb_image_read and nb_image_leave_out. */
nb_status nb_cli_leave_out(const char *mask, nb_image *image, nb_error *err);

/* --- Messages and exit statuses of the program and its subcommands --- */

/** Exit status of a library status. */
int nb_cli_exit_status(nb_status status);

/** Print the line "nanobragg: KIND: TEXT" on stderr; control characters become "?". */
void nb_cli_say(const char *kind, const char *text);

/** Print the message of an error; returns the exit status. */
int nb_cli_end(nb_status status, const nb_error *err);

/** nb_hooks.notice: prints a note.  user = nb_progress or NULL. */
void nb_cli_notice(void *progress, const char *line);

/** Fill err with an NB_ERR_INPUT message and return it. */
#define nb_cli_fail(err, ...) nb_fail(err, NB_ERR_INPUT, __VA_ARGS__)

/** Read a text that is one finite decimal number. Returns 0 if it is not. */
int nb_read_number(const char *text, double *out);
/** Read a whole number from low to high. Returns 0 if the text is not one. */
int nb_read_whole(const char *text, int low, int high, int *out);

/** Check that text was written to standard output. NB_ERR_IO if it was not, as on a full
 * disk. */
nb_status nb_cli_check_stdout(nb_error *err);

/* --- In a short run, waiting threads sleep, unless the user chose otherwise --- */

/** True if this program has set OMP_WAIT_POLICY in the environment. */
int nb_wait_policy_is_ours(void);

/* --- Progress on standard error, and requests to stop --- */

typedef struct nb_progress {
    /* 1: show a bar on a terminal, or elsewhere a line from time to time */
    int visible;
    int terminal;  /* 1: standard error is a terminal */
    double pixels; /* pixels of the image, for the rate */
    /* seconds of a monotonic clock at the first call and at the last line; 0 before
     * that */
    double start, last;
} nb_progress;

/** SIGINT, SIGTERM, SIGHUP and SIGUSR1 request a clean stop. A repeated SIGINT or SIGTERM
 * removes temporary files and ends the program at once. SIGXFSZ (a file reached its size
 * limit) makes the write fail. */
void nb_stop_on_signals(void);
/** The same signals remove temporary files and end the program at once. */
void nb_end_on_signals(void);
/** A pipe closed by its reader (SIGPIPE) makes the write fail. */
void nb_ignore_broken_pipes(void);
/** True if a signal has requested a stop. */
int nb_stop_requested(void);

/** Start progress; If wanted is 0, print nothing. If quiet is 1, print nothing unless
 * standard error is a terminal. */
void nb_progress_init(nb_progress *progress, int wanted, int quiet);
/** True if it is time to draw again; the caller must then draw. */
int nb_progress_is_due(nb_progress *progress);
/** Text to print before and after drawing the bar. */
const char *nb_progress_begin(const nb_progress *progress);
const char *nb_progress_stop(const nb_progress *progress);
/** nb_hooks.progress, with user = nb_progress: draws, and returns nb_stop_requested(). */
int nb_progress_hook(void *user, double fraction);
/** Wipe the bar. */
void nb_progress_end(nb_progress *progress);

/** Text of a remaining time: "2 min 05 s"; "?" if unknown. */
void nb_progress_left(double seconds, char *text, size_t size);

#endif
