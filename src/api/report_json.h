/* SPDX-License-Identifier: MIT */
/** The file of -report. */
#ifndef NB_API_REPORT_JSON_H
#define NB_API_REPORT_JSON_H

#include "sim.h"

/** Can this build write a report? path "": no report. Errors: NB_ERR_UNSUPPORTED. */
nb_status nb_report_ready(const char *path, nb_error *err);

/** The report of an image, after its files are written; nothing if cfg names no report
 * file. Errors: NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_report_write(const nb_sim *sim, const nb_stats *stats, nb_error *err);

/** The report of a complete series. */
nb_status nb_report_write_series(const nb_sim *base, const nb_series *series,
                                 const nb_series_progress *progress, nb_error *err);

#endif
