/* SPDX-License-Identifier: MIT */
/** The files of a series. */
#ifndef NB_SERIES_FILES_H
#define NB_SERIES_FILES_H

#include "../nanobragg.h"

/** nb_check_files for a series: its frames, its HDF5 files, their records, its input files,
 * and series->calls.also. per_file: the frames of an HDF5 data file. Nothing is opened. Errors:
 * NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_series_check_files(const nb_config *cfg, const nb_series *series,
                                int per_file, nb_error *err);

#endif
