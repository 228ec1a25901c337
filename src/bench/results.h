/* SPDX-License-Identifier: MIT */
/** results.json: the measurements (format: docs/bench.md). */
#ifndef NB_BENCH_RESULTS_H
#define NB_BENCH_RESULTS_H

#include <cjson/cJSON.h>

#include "bench.h"

#define NB_BENCH_FORMAT "nanobragg-bench-1"

/** The whole tree; free it with cJSON_Delete. NULL: no memory. */
cJSON *nb_bench_results(const nb_bench *b, const char *name);

/** An earlier results.json.  Errors: NB_ERR_INPUT, NB_ERR_IO. */
nb_status nb_bench_read_results(const char *path, cJSON **root, nb_error *err);

/** Check the files of -peer-results and add their points to the tree.  Errors: NB_ERR_INPUT,
 * NB_ERR_IO; a point whose image is wrong is an error too. */
nb_status nb_bench_check_peers(const nb_bench_options *o, nb_error *err);
nb_status nb_bench_add_peers(const nb_bench_options *o, cJSON *root, nb_error *err);

/** A file's JSON; flag is for the message.  Errors: NB_ERR_INPUT, NB_ERR_IO. */
nb_status nb_bench_read_json(const char *flag, const char *path, cJSON **root,
                             nb_error *err);

#endif
