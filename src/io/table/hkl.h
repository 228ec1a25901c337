/* SPDX-License-Identifier: MIT */
/** Structure factors as text: one reflection per line, `h k l F [sigma [phase]]`. */
#ifndef NB_IO_HKL_H
#define NB_IO_HKL_H

#include "../../nanobragg.h"
#include "factor_file.h"

/** One line of a file. */
typedef struct nb_hkl_row {
    double F;         /* electrons, with the sign */
    int16_t index[3]; /* h, k, l; 16 bits keep a row at 16 bytes, since files are long */
} nb_hkl_row;

/** The rows of a file, unchanged. */
typedef struct nb_hkl_list {
    nb_hkl_row *rows; /* owned */
    size_t count;
    const char *name; /* the file, for messages; not owned */
} nb_hkl_list;

/** True for a reflection file of XDS (XDS_ASCII.HKL, INTEGRATE.HKL). Such a file is
 * refused, since its fourth column is an intensity. */
int nb_hkl_is_xds(const char *data, size_t n);
#define NB_HKL_XDS "a reflection file of XDS, which is not read"
#define NB_HKL_XDS_MEND "convert it to MTZ (pointless, or gemmi xds2mtz) for -mtz"

/** Parse n bytes of text into at least one row, in the order of the file.
 *
 * Columns are separated by blanks; `#` and `!` start a comment; blank lines, CR LF and a last
 * line without newline are allowed. Miller indices are whole numbers (1.0 is one) up to
 * +-NB_SF_MAX_INDEX; F in electrons is finite and its sign is kept; columns 5 and 6 are not
 * interpreted; a seventh column, or 0 0 0 0 0 at the end (a SHELX list), is an error. The
 * list is P1: no symmetry mates are added.
 * name: the file, for messages.  Free *out with nb_hkl_list_free; on error it is zero.
 * Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM.  Source: docs/formats.md. */
nb_status nb_hkl_list_parse(const char *data, size_t n, const char *name,
                            nb_hkl_list *out, nb_error *err);
void nb_hkl_list_free(nb_hkl_list *list);

/** Fill the smallest box around a list. Duplicates get the last F, other h k l default_F.
 * Free *out with nb_factor_file_free. Errors: NB_ERR_INPUT (too large), NB_ERR_NOMEM. */
nb_status nb_hkl_box(const nb_hkl_list *list, double default_F, nb_factor_file *out,
                     nb_error *err);

/* Format of a notice: name of the list, and number (size_t) of rows replaced by a later
 * row of the same reflection. */
#define NB_REPLACED_F                                                                    \
    "%s: %zu reflections have another value further on, which differs by more than 1 "   \
    "%%; "                                                                               \
    "the last one is used"

/** Print a note if duplicates in a list without space group differ in F, and a note if no
 * reflection has its Friedel mate. hooks may be NULL. */
void nb_hkl_say(const nb_hkl_list *list, const nb_factor_file *box, double default_F,
                const nb_hooks *hooks);

/* --- The list of reflections (-truth spots) as text --- */

/** Write a comment line with the photons outside the list, a line of column names, and a
 * line for each reflection, separated by tabs. The file is complete or absent. Errors:
 * NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_reflections_write(const char *path, const nb_reflections *list,
                               nb_error *err);

/** Parse bytes in memory as nb_read_page_spots reads a file; path: for messages. */
nb_status nb_page_spots_parse(const char *data, size_t bytes, const char *path,
                              nb_reflection **spots, int *n, nb_error *err);
/** Compare reflections for qsort: the brightest comes first. */
int nb_reflections_by_photons(const void *a, const void *b);

#endif
