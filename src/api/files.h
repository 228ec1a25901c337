/* SPDX-License-Identifier: MIT */
/** The files that a configuration names. */
#ifndef NB_API_FILES_H
#define NB_API_FILES_H

#include "../nanobragg.h"

/** The input files of a series of this configuration, and the cache that it writes (-dump),
 * into list[NB_FILES_MOST]. Returns their number. */
int nb_series_config_files(const nb_config *cfg, nb_file_use *list);

#endif
