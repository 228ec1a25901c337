/* SPDX-License-Identifier: MIT */
/** Structure factors as text: one reflection per line, `h k l F [sigma [phase]]`. */
#ifndef NB_IO_HKL_H
#define NB_IO_HKL_H

#include "factor_file.h"

/** Parse n bytes of text into the smallest box that holds every reflection.
 *
 * Columns are separated by blanks; `#` and `!` start a comment; blank lines, CR LF and a
 * last line without newline are fine.  Miller indices are whole numbers (1.0 counts) up
 * to +-NB_SF_MAX_INDEX; F in electrons is finite and its sign is kept; columns 5 and 6
 * are not interpreted; a seventh column is an error.  P1 as written: no symmetry mates
 * are made.  Of duplicates the last wins.  default_F fills the voxels without a line.
 *
 * name: the file, for messages.  *out is the caller's (nb_factor_file_free), zero on error.
 * Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM.  Source: docs/formats.md. */
nb_status nb_hkl_parse(const char *data, size_t n, const char *name, double default_F,
                       nb_factor_file *out, nb_error *err);

#endif
