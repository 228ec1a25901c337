/* SPDX-License-Identifier: MIT */
/** -frames, -stills, -jobs: many images. */
#ifndef NB_CLI_SERIES_H
#define NB_CLI_SERIES_H

#include "flags.h"
#include "progress.h"

/** Run the series, with a progress line and a report. ranks: the processes of the series,
 * NULL for a single process. notice gets progress as its user. */
nb_status nb_cli_run_series(const nb_cli *cli, nb_ranks *ranks, nb_progress *progress,
                            void (*notice)(void *user, const char *line), nb_error *err);

#endif
