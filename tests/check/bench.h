/* SPDX-License-Identifier: MIT */
/** Times of every path of the vector renderer, as a table. */
#ifndef NB_TESTS_CHECK_BENCH_H
#define NB_TESTS_CHECK_BENCH_H

/** Prints ns per step of one core for each kind of scene, instruction set (isa: NULL for
 * all) and precision, and for the scalar reference. */
void check_bench(const char *isa);

#endif
