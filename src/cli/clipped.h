/* SPDX-License-Identifier: MIT */
/** Lines about pixels that are too large for the type of a file, and the flag to type instead. */
#ifndef NB_CLI_CLIPPED_H
#define NB_CLI_CLIPPED_H

#include <stdio.h>

#include "flags.h"

/** For the files of a single image; prints nothing if no pixel is clipped. */
void nb_report_clipped(FILE *out, const nb_config *cfg, const nb_sim *sim,
                       const nb_stats *stats);

/** For the frames of a series. */
void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p);

#endif
