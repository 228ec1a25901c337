/* SPDX-License-Identifier: MIT */
/** Times of pictures from reflections. */
#ifndef NB_TESTS_CHECK_SPOTS_BENCH_H
#define NB_TESTS_CHECK_SPOTS_BENCH_H

/** Print a table of processor seconds on one thread. */
void check_spots_bench(int first);

#endif
