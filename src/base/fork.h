/* SPDX-License-Identifier: MIT */
/** Forked processes, which lack the threads and devices of their parent. */
#ifndef NB_BASE_FORK_H
#define NB_BASE_FORK_H

/** Note that this process has begun to use a device. */
void nb_fork_uses_device(void);
/** Had the parent of this forked process begun to use a device? Then this process can use no
 * device, and must not free memory on it. */
int nb_fork_lost_device(void);
/** Advice for messages about this. */
#define NB_FORK_CURE                                                                     \
    "devices do not survive fork: start processes with spawn or forkserver, or type "    \
    "-device cpu"

#endif
