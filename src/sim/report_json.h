/* SPDX-License-Identifier: MIT */
/** The file of -report. */
#ifndef NB_API_REPORT_JSON_H
#define NB_API_REPORT_JSON_H

#include "sim.h"

/** Of an image and its files, which are written; nothing when cfg names no file.  Errors: NB_ERR_IO,
 * NB_ERR_NOMEM. */
nb_status nb_report_write(const nb_sim *sim, const nb_stats *stats, nb_error *err);

/** The report of a complete series. */
nb_status nb_report_write_series(const nb_sim *base, const nb_series *series,
                                 const nb_series_progress *progress, nb_error *err);

#endif
