/* SPDX-License-Identifier: MIT */
/** Progress on standard error, and requests to stop. */
#ifndef NB_CLI_PROGRESS_H
#define NB_CLI_PROGRESS_H

#include <stddef.h>

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
