/* SPDX-License-Identifier: MIT */
/** results.json: the measurements (format: docs/bench.md). */
#ifndef NB_BENCH_RESULTS_H
#define NB_BENCH_RESULTS_H

#include "bench.h"

/** Write results.json.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_bench_write_results(const nb_bench *b, nb_error *err);
/** The times on standard output, a line for each measurement. */
void nb_bench_print_plain(const nb_bench *b);

#endif
