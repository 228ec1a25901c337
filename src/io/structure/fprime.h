/* SPDX-License-Identifier: MIT */
/** f' and f'' of elements, as typed or from a table of measured curves. */
#ifndef NB_IO_FPRIME_H
#define NB_IO_FPRIME_H

#include <stddef.h>

#include "../../nanobragg.h"

typedef struct nb_fprime_row {
    char element[4];  /* symbol as written; may be unknown */
    long line;        /* line of the file */
    double energy_eV; /* above 0; 0 for typed values */
    double f1, f2;    /* electrons */
} nb_fprime_row;

typedef struct nb_fprime_list {
    nb_fprime_row *rows; /* owned; sorted by element and energy */
    size_t count;
} nb_fprime_list;

/** Read lines `element energy f' f''`, separated by blanks or commas; # starts a comment.
 * Free *out with nb_fprime_free; on error it is zero. Errors, with name and line:
 * NB_ERR_INPUT (no line, not four words, no number, an energy twice); NB_ERR_NOMEM. */
nb_status nb_fprime_parse(const char *data, size_t n, const char *name,
                          nb_fprime_list *out, nb_error *err);

/** Read the value of -fprime, El:f':f''[,...], in the same way. Each element may occur
 * only once. */
nb_status nb_fprime_words(const char *text, nb_fprime_list *out, nb_error *err);

void nb_fprime_free(nb_fprime_list *list);

/** Interpolate f' and f'' linearly in rows[0..n), which have one element and rising
 * energy. Returns 0 outside the range of energies. */
int nb_fprime_at(const nb_fprime_row *rows, size_t n, double energy_eV, double *f1,
                 double *f2);

#endif
