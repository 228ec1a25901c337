/* SPDX-License-Identifier: MIT */
/** MOSFLM orientation matrix (A matrix, `-mat`). */
#ifndef NB_IO_MATRIX_H
#define NB_IO_MATRIX_H

#include "../../nanobragg.h"

/** Read the first nine numbers of n bytes of text, row by row, into m[9] (row-major):
 * rows are lab x, y, z, columns a*, b*, c*, dimensionless (multiplied by lambda, as
 * MOSFLM writes it). What follows (missets, cell) is ignored.  Errors: NB_ERR_INPUT with
 * the line: fewer than nine numbers, something else than a finite number, a singular
 * matrix.  m is unchanged then. */
nb_status nb_matrix_parse(const char *data, size_t n, const char *name, double m[9],
                          nb_error *err);

/** Nine finite numbers in memory into m, unless they are singular.  Errors as nb_matrix_parse. */
nb_status nb_matrix_take(const double v[9], const char *name, double m[9], nb_error *err);

#endif
