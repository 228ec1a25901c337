/* SPDX-License-Identifier: MIT */
/** Lines about pixels that were cut to fit a file's type, and what would hold them. */
#ifndef NB_CLI_CLIPPED_H
#define NB_CLI_CLIPPED_H

#include <stdio.h>

#include "option_table.h"

/** Of the files of a single image; nothing when no pixel was cut. */
void nb_report_clipped(FILE *out, const nb_config *cfg, const nb_sim *sim,
                       const nb_stats *stats);

/** Of the frames of a series. */
void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p);

#endif
