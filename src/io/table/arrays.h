/* SPDX-License-Identifier: MIT */
/** MOSFLM orientation matrix (A matrix, `-mat`). */
#ifndef NB_IO_ARRAYS_H
#define NB_IO_ARRAYS_H

#include "../../nanobragg.h"
#include "hkl.h"
#include "sources.h"

/** Read the first nine numbers of n bytes of text, row by row, into m[9] (row-major): rows are lab
 * x, y, z, columns a*, b*, c*, dimensionless (multiplied by lambda, as MOSFLM writes it). Text
 * after them (missets, cell) is ignored. Errors: NB_ERR_INPUT with the line: fewer than nine
 * numbers, something else than a finite number, a singular matrix. m is unchanged then. */
nb_status nb_matrix_parse(const char *data, size_t n, const char *name, double m[9],
                          nb_error *err);

/** Has the text two matrices, of the begin and the end of a frame: eighteen numbers and nothing else?  Then ends[0] and
 * ends[1] are them. */
int nb_matrix_two(const char *data, size_t n, double ends[2][9]);

/** Let ends[0] and ends[1], matrices of the begin and the end of a frame, be m times them; m: their mean.  Errors
 * (NB_ERR_INPUT, with name and line): one of the three is singular. */
nb_status nb_matrix_ends(double ends[2][9], const char *name, long line, double m[9],
                         nb_error *err);

/* --- What input files hold, from the arrays of a caller --- */

/** The arrays of cfg if `name` (one of cfg's file names) means an array (`memory`), else NULL. */
const nb_arrays *nb_in_memory(const nb_config *cfg, const char *name, const char *memory);

/** Copy the reflections that have a value, checked as those of a file. *out is the caller's
 * (nb_hkl_list_free), zero on error. Errors: NB_ERR_INPUT (an index or F is out of range,
 * "hkl[5]: ..."; no value), NB_ERR_NOMEM. */
nb_status nb_arrays_hkl(const nb_arrays *arrays, nb_hkl_list *out, nb_error *err);

/** Copy the sources, checked as those of a file. position: of sources without one, m. *out is the
 * caller's (nb_source_list_free), zero on error. Errors: NB_ERR_INPUT ("sources[5]: ..."),
 * NB_ERR_NOMEM. */
nb_status nb_arrays_sources(const nb_arrays *arrays, const double position[3],
                            nb_source_list *out, nb_error *err);

/** Copy the matrix into m[9]. Errors: NB_ERR_INPUT ("matrix[5]: ..."; singular); m is unchanged
 * then. */
nb_status nb_arrays_matrix(const nb_arrays *arrays, double m[9], nb_error *err);

/** Copy the mask as an image of 0 and 1. *out is the caller's (nb_image_free), zero on error.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_arrays_mask(const nb_arrays *arrays, nb_image *out, nb_error *err);

#endif
