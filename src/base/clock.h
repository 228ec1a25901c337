/* SPDX-License-Identifier: MIT */
#ifndef NB_BASE_CLOCK_H
#define NB_BASE_CLOCK_H

/** Seconds of a monotonic clock. */
double nb_monotonic_seconds(void);

#endif
