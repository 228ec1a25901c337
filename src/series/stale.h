/* SPDX-License-Identifier: MIT */
/** Numbered files that an earlier, longer series left. */
#ifndef NB_SERIES_STALE_H
#define NB_SERIES_STALE_H

#include "../nanobragg.h"

/** Count the files BEFORE + number + AFTER with a number above `last`, written with
 * `digits` digits at least. first[NB_PATH_MAX] gets the name of the lowest one, if there is
 * one. */
int nb_stale_count(const char *before, int digits, const char *after, int last,
                   char *first);

#endif
