/* SPDX-License-Identifier: MIT */
/** MOSFLM orientation matrix (A matrix, `-mat`). */
#ifndef NB_IO_ARRAYS_H
#define NB_IO_ARRAYS_H

#include "../../nanobragg.h"
#include "hkl.h"
#include "sources.h"

/** Read the first nine numbers of n bytes of text into m[9], row by row: rows are lab x,
 * y, z; columns are a*, b*, c*, dimensionless, since MOSFLM multiplies them by lambda.
 * Later text (missets, cell) is ignored. Errors: NB_ERR_INPUT with the line: fewer than
 * nine numbers, a number not finite, a singular matrix; m is then unchanged. */
nb_status nb_matrix_parse(const char *data, size_t n, const char *name, double m[9],
                          nb_error *err);

/** Read two matrices, at the begin and the end of a frame, into ends[0] and ends[1].
 * Returns 0 unless the text has exactly eighteen numbers. */
int nb_matrix_two(const char *data, size_t n, double ends[2][9]);

/** Set m to the mean of ends[0] and ends[1], matrices at the begin and end of a frame,
 * and ends[k] to m^-1 ends[k]. Errors: NB_ERR_INPUT (singular) with name and line. */
nb_status nb_matrix_ends(double ends[2][9], const char *name, long line, double m[9],
                         nb_error *err);

/* --- Contents of input files from the arrays of a caller --- */

/** Get cfg->arrays if the file name `name` equals `memory` (NB_MEMORY_...), else NULL. */
const nb_arrays *nb_in_memory(const nb_config *cfg, const char *name, const char *memory);

/** Copy the reflections whose F is not NaN, with the checks of a file. Free *out with
 * nb_hkl_list_free; on error it is zero. Errors: NB_ERR_INPUT (an index or F is out of
 * range, "hkl[5]: ..."; all F are NaN), NB_ERR_NOMEM. */
nb_status nb_arrays_hkl(const nb_arrays *arrays, nb_hkl_list *out, nb_error *err);

/** Copy the sources, with the checks of a file. position: default position, m. Free
 * *out with nb_source_list_free; on error it is zero. Errors: NB_ERR_INPUT
 * ("sources[5]: ..."), NB_ERR_NOMEM. */
nb_status nb_arrays_sources(const nb_arrays *arrays, const double position[3],
                            nb_source_list *out, nb_error *err);

/** Copy the matrix into m[9]. Errors: NB_ERR_INPUT ("matrix[5]: ...", or singular); m is
 * then unchanged. */
nb_status nb_arrays_matrix(const nb_arrays *arrays, double m[9], nb_error *err);

/** Copy the mask as an image of 0 and 1. Free *out with nb_image_free; on error it is
 * zero. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (missing mask). */
nb_status nb_arrays_mask(const nb_arrays *arrays, nb_image *out, nb_error *err);

#endif
