/* SPDX-License-Identifier: MIT */
/** The file of -report. */
#ifndef NB_API_REPORT_JSON_H
#define NB_API_REPORT_JSON_H

#include "sim.h"

/** Can this build write one?  path "": none is wanted.  Errors: NB_ERR_UNSUPPORTED. */
nb_status nb_report_ready(const char *path, nb_error *err);

/** Of an image and its files, which are written; nothing when cfg names no file.  Errors: NB_ERR_IO,
 * NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_report_write(const nb_sim *sim, const nb_stats *stats, nb_error *err);

/** Of a series that is whole. */
nb_status nb_report_write_series(const nb_sim *base, const nb_series *series,
                                 const nb_series_progress *progress, nb_error *err);

#endif
