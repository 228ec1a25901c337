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

/** With -draws write its table; *done is then 1.  With -only_frame, or -vary and no series, make cli->cfg the configuration
 * of one frame, and cli that of a single image.  Errors: NB_ERR_INPUT, those of nb_series_single. */
nb_status nb_cli_take_frame(nb_cli *cli, int *done, nb_error *err);

#endif
