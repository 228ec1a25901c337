/* SPDX-License-Identifier: MIT */
/** Memory of the machine. */
#ifndef NB_BASE_FREE_MEMORY_H
#define NB_BASE_FREE_MEMORY_H

/** Memory that is free without swapping, bytes; INFINITY if /proc/meminfo cannot be read. */
double nb_free_memory(void);
/** All memory of the machine, bytes; INFINITY if it is unknown. */
double nb_machine_memory(void);

#endif
