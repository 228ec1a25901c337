/* SPDX-License-Identifier: MIT */
/** Times of every path of the vector renderer, as a table. */
#ifndef NB_TESTS_CHECK_BENCH_H
#define NB_TESTS_CHECK_BENCH_H

/** Print ns per step of one core for each kind of scene, set (isa: NULL for all) and
 * precision, the scalar reference's beside them. */
void check_bench(const char *isa);

#endif
