/* SPDX-License-Identifier: MIT */
/** Tables of F against sin(theta)/lambda, 4 sin(theta)/lambda or Q (`-stol`, `-4stol`, `-Q`), and the
 * materials whose tables are built in (`-background`). */
#ifndef NB_IO_STOL_H
#define NB_IO_STOL_H

#include "../../model/amorphous.h"
#include "../../nanobragg.h"

enum { NB_STOL_MOST = 1000000, NB_STOL_FILE_BYTES = 256 << 20 };

/** A table in the order of its file. */
typedef struct nb_stol_table {
    nb_stol_point *points; /* owned */
    int n;
} nb_stol_table;

/** Parse n bytes of text.  Two columns, or more, of which two are used, with blanks, tabs or commas
 * between them; `#` starts a comment; blank lines, CR LF and a last line without newline are fine.
 * The first column times `factor` is sin(theta)/lambda in 1/A, >= 0 and increasing.  name: the file, for
 * messages.  *out is the caller's (nb_stol_free), zero on error.  Errors: NB_ERR_INPUT with the line (no
 * finite number, one column, not increasing, no point, more than NB_STOL_MOST); NB_ERR_NOMEM. */
nb_status nb_stol_parse(const char *data, size_t n, const char *name, double factor,
                        nb_stol_table *out, nb_error *err);
void nb_stol_free(nb_stol_table *table); /* NULL is fine */

/** A material with a built-in table. */
typedef struct nb_named_material {
    const char *name;
    double density;   /* g/cm3 */
    double mass;      /* of a molecule, g/mol */
    const char *text; /* its table, as nb_stol_parse reads it */
} nb_named_material;

/** By its name; NULL: there is none. */
const nb_named_material *nb_named_material_find(const char *name, size_t length);
#endif
