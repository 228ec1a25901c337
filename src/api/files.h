/* SPDX-License-Identifier: MIT */
/** The files that a configuration names. */
#ifndef NB_API_FILES_H
#define NB_API_FILES_H

#include "../nanobragg.h"

/** What a series of this configuration reads, and the cache that it writes (-dump);
 * list[NB_FILES_MOST], returns how many. */
int nb_series_config_files(const nb_config *cfg, nb_file_use *list);

#endif
