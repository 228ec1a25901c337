/* SPDX-License-Identifier: MIT */
/** The folder of a report: it is complete or absent. */
#ifndef NB_BENCH_FOLDER_H
#define NB_BENCH_FOLDER_H

#include "../../nanobragg.h"

typedef struct nb_bench_folder {
    char path[NB_PATH_MAX]; /* the report's */
    char part[NB_PATH_MAX]; /* what is made, beside it */
    char scratch[NB_PATH_MAX]; /* where programs run, whole path; in memory if there is room */
} nb_bench_folder;

/** Make part and scratch; folders above are made too.  Errors: NB_ERR_INPUT (path is there
 * already), NB_ERR_IO.  Then one of the two below must be called. */
nb_status nb_bench_folder_open(nb_bench_folder *f, const char *path, nb_error *err);
/** Give part its name.  Errors: NB_ERR_IO; part is removed then. */
nb_status nb_bench_folder_commit(nb_bench_folder *f, nb_error *err);
/** Remove what was made. */
void nb_bench_folder_abort(nb_bench_folder *f);

/** Write FOLDER/NAME into path[NB_PATH_MAX]. If it is too long it is cut, and opening it
 * fails. */
void nb_bench_path(const char *folder, const char *name, char *path);
/** Make an empty folder of that name in scratch; an older one is removed. */
nb_status nb_bench_scratch(const nb_bench_folder *f, const char *name, char *path,
                           nb_error *err);
nb_status nb_bench_write_text(const nb_bench_folder *f, const char *name,
                              const char *text, nb_error *err);

#endif
