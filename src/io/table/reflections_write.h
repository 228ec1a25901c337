/* SPDX-License-Identifier: MIT */
/** The list of reflections as text. */
#ifndef NB_IO_REFLECTIONS_WRITE_H
#define NB_IO_REFLECTIONS_WRITE_H

#include "../../nanobragg.h"

/** Write a comment line with the photons that are not listed, a line of column names, and a
 * line for each reflection, separated by tabs. The file is complete or absent. Errors:
 * NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_reflections_write(const char *path, const nb_reflections *list,
                               nb_error *err);

/** nb_read_page_spots of bytes in memory; path: for messages. */
nb_status nb_page_spots_parse(const char *data, size_t bytes, const char *path,
                              nb_reflection **spots, int *n, nb_error *err);
/** Order of reflections for qsort: the brightest first. */
int nb_reflections_by_photons(const void *a, const void *b);

#endif
