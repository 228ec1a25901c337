/* SPDX-License-Identifier: MIT */
/** Memory that the machine has left. */
#ifndef NB_BASE_FREE_MEMORY_H
#define NB_BASE_FREE_MEMORY_H

/** Bytes that can be used without swapping; INFINITY where the system does not say it. */
double nb_free_memory(void);

#endif
