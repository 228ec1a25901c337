/* SPDX-License-Identifier: MIT */
/** Helper functions for programs that were run. */
#ifndef NB_BENCH_PROCESS_H
#define NB_BENCH_PROCESS_H

#include <stddef.h>

#include "../child.h"

/** Do both files hold the same bytes? 0 when one cannot be read. */
int nb_bench_same_file(const char *a, const char *b);
/** The last line of a file that is not empty; "" without one. */
void nb_bench_last_line(const char *path, char *line, size_t size);
/** An error unless the program ended with status 0. Errors: NB_ERR_INPUT (it could not be
 * started), NB_ERR_IO, NB_ERR_CANCELLED. */
nb_status nb_bench_ended_well(const char *name, const char *log, const nb_child_end *end,
                              nb_error *err);
/** The program's whole path, or its bare name to be looked up in PATH.  Errors: NB_ERR_INPUT. */
nb_status nb_bench_find_program(const char *flag, const char *name, char *path,
                                nb_error *err);

#endif
