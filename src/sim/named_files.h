/* SPDX-License-Identifier: MIT */
/** Files that input files name in their turn. */
#ifndef NB_API_NAMED_FILES_H
#define NB_API_NAMED_FILES_H

#include "../nanobragg.h"

typedef struct nb_named_files {
    nb_file_use *uses; /* owned: those that were given, then the named ones, all read */
    int n;
    char **paths; /* owned, of the named ones */
    int named;
} nb_named_files;

/** The uses and the existing files that their inputs name: texts of -jobs, mask files of a .geom,
 * the data files of HDF5 (by their names in its bytes: no library trusts them). nb_named_files_free
 * ends it, after an error too. Errors: NB_ERR_NOMEM. */
nb_status nb_named_files_find(nb_named_files *f, const nb_file_use *uses, int n,
                              nb_error *err);
void nb_named_files_free(nb_named_files *f);

#endif
