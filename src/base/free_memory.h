/* SPDX-License-Identifier: MIT */
/** Memory that the machine has left. */
#ifndef NB_BASE_FREE_MEMORY_H
#define NB_BASE_FREE_MEMORY_H

/** Memory that is free without swapping, bytes; INFINITY if /proc/meminfo cannot be read. */
double nb_free_memory(void);

#endif
