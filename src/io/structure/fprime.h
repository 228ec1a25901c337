/* SPDX-License-Identifier: MIT */
/** f' and f'' of elements, as typed or from a table of measured curves. */
#ifndef NB_IO_FPRIME_H
#define NB_IO_FPRIME_H

#include <stddef.h>

#include "../../nanobragg.h"

typedef struct nb_fprime_row {
    char element[4];  /* symbol as written; nobody has looked whether it exists */
    long line;        /* of the file */
    double energy_eV; /* > 0; of typed values 0 */
    double f1, f2;    /* electrons */
} nb_fprime_row;

typedef struct nb_fprime_list {
    nb_fprime_row *rows; /* owned; sorted by element and energy */
    size_t count;
} nb_fprime_list;

/** Text of lines `element energy f' f''`, separated by blanks or commas; # starts a comment.  name:
 * the file, for messages.  *out is the caller's (nb_fprime_free), zero on error.  Errors: NB_ERR_INPUT
 * with the line (no line, not four words, no number, an energy twice), NB_ERR_NOMEM. */
nb_status nb_fprime_parse(const char *data, size_t n, const char *name,
                          nb_fprime_list *out, nb_error *err);

/** The value of -fprime: El:f':f''[,...].  As above; an element twice is an error. */
nb_status nb_fprime_words(const char *text, nb_fprime_list *out, nb_error *err);

void nb_fprime_free(nb_fprime_list *list);

/** f' and f'' of rows[0..n), of one element in order of energy, linear between the lines.  Returns 0
 * outside of them. */
int nb_fprime_at(const nb_fprime_row *rows, size_t n, double energy_eV, double *f1,
                 double *f2);

#endif
