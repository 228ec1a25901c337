/* SPDX-License-Identifier: MIT */
/** List of X-ray sources (`-sourcefile`): one per line, `X Y Z I lambda`. */
#ifndef NB_IO_SOURCES_H
#define NB_IO_SOURCES_H

#include "../../model/beam.h"
#include "../../nanobragg.h"

/** The values for missing columns; the intensity is 1. */
typedef struct nb_source_defaults {
    double position[3]; /* -10 times the unit beam vector, m */
    double lambda;      /* m */
} nb_source_defaults;

/** The rows in file order; the owner of the struct owns them. */
typedef struct nb_source_list {
    nb_source_line *rows;
    int count;
} nb_source_list;

/** Parse n bytes of text.  Delimiters: space, tab and , ; : ! ; `#` starts a comment;
 * blank lines, CR LF and a last line without newline are fine; columns after the fifth
 * are ignored. *out is the caller's (nb_source_list_free), zero on error.
 * Errors: NB_ERR_INPUT with the line (not a finite number, no direction, lambda not in
 * 0..1e-6 m, negative intensity, all intensities zero, no source); NB_ERR_NOMEM. */
nb_status nb_sources_parse(const char *data, size_t n, const char *name,
                           const nb_source_defaults *defaults, nb_source_list *out,
                           nb_error *err);
/** One row: a direction, an intensity and a wavelength that a file may have.  name, line: for messages
 * (line 0: none).  Errors: NB_ERR_INPUT. */
nb_status nb_source_line_check(const nb_source_line *row, const char *name, long line,
                               nb_error *err);
/** All rows: is there one, and do the intensities have a mean?  Errors: NB_ERR_INPUT. */
nb_status nb_source_list_check(const nb_source_list *list, const char *name, long line,
                               nb_error *err);
void nb_source_list_free(nb_source_list *list); /* NULL is fine */

#endif
