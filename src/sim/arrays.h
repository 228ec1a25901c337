/* SPDX-License-Identifier: MIT */
/** A simulation's copies of the arrays that it is given in place of files. */
#ifndef NB_API_ARRAYS_H
#define NB_API_ARRAYS_H

#include "../nanobragg.h"

/** The arrays one by one. */
typedef enum nb_array_kind {
    NB_ARRAY_HKL = 1,
    NB_ARRAY_MASK = 2,
    NB_ARRAY_SOURCES = 4,
    NB_ARRAY_MATRIX = 8
} nb_array_kind;
#define NB_ARRAYS_ALL 15

/** Those that a configuration uses: a sum of nb_array_kind. */
unsigned nb_arrays_of(const nb_config *cfg);

/** Those that cfg uses with other pointers than `own`. */
unsigned nb_arrays_changed(const nb_config *cfg, const nb_arrays *own);

/** Copy these kinds into *to, which has none of them.  Errors: NB_ERR_NOMEM; *to has none of them then. */
nb_status nb_arrays_copy(const nb_arrays *from, unsigned kinds, nb_arrays *to,
                         nb_error *err);

/** Free these kinds of copies. */
void nb_arrays_free(nb_arrays *arrays, unsigned kinds);

#endif
