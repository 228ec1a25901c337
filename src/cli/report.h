/* SPDX-License-Identifier: MIT */
/** Lines about pixels that are too large for the type of a file, and the flag to type instead. */
#ifndef NB_CLI_REPORT_H
#define NB_CLI_REPORT_H

#include <stdio.h>

#include "flags.h"

/** For the frames of a series. */
void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p);

/* --- The report of a run on standard output --- */

/** Statistics of the image, the files written, seed, backend and time. */
void nb_report_results(const nb_cli *cli, const nb_sim *sim, const nb_stats *stats);

/** The stage table of -time or -time json; nothing for NB_TIME_BRIEF.  wall: seconds of a series, whose times
 * are those of the clock, of all threads together; 0: a single image. */
void nb_report_times(const nb_cli *cli, const nb_times *times, double wall);

#endif
