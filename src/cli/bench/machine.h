/* SPDX-License-Identifier: MIT */
/** The machine and the build of a benchmark. */
#ifndef NB_BENCH_MACHINE_H
#define NB_BENCH_MACHINE_H

#include <cjson/cJSON.h>

/** Cores that this process may use. */
int nb_bench_cores(void);

/** Adds "machine", "build" and "date" to root. */
void nb_bench_add_machine(cJSON *root);

/** Today, UTC, "2026-11-21"; SOURCE_DATE_EPOCH wins. */
void nb_bench_date(char text[16]);

#endif
