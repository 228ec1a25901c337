/* SPDX-License-Identifier: MIT */
/** The report of results.json: src/tools/report.py makes its tables and plots. */
#ifndef NB_BENCH_REPORT_H
#define NB_BENCH_REPORT_H

#include "folder.h"
#include "options.h"

/** Read the files of -peer-results, if there are any, and do nothing else.  Errors: NB_ERR_INPUT
 * (also a point whose image is wrong), NB_ERR_UNSUPPORTED (no python3). */
nb_status nb_bench_check_others(const nb_bench_folder *f, const nb_bench_options *o,
                                nb_error *err);
/** Make the report in f->part from its results.json, or from that of -from. *plain: python3 is
 * not there, and so only results.json is. A note says what is missing. */
nb_status nb_bench_report(const nb_bench_folder *f, const nb_bench_options *o, int *plain,
                          nb_error *err);

#endif
