/* SPDX-License-Identifier: MIT */
#ifndef NB_BASE_CLOCK_H
#define NB_BASE_CLOCK_H

/** Seconds on a clock that only goes forward. */
double nb_monotonic_seconds(void);

#endif
