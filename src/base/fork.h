/* SPDX-License-Identifier: MIT */
/** What a process that was made by fork lacks: its parent's threads and devices. */
#ifndef NB_BASE_FORK_H
#define NB_BASE_FORK_H

/** This process has begun to use a device. */
void nb_fork_uses_device(void);
/** Had the parent of this forked process begun to use one?  Then no device can be used here, its
 * threads are not here, and memory on it is not ours to free. */
int nb_fork_lost_device(void);
/** What to do about it, for messages. */
#define NB_FORK_CURE                                                                     \
    "devices do not survive fork: start processes with spawn or forkserver, or type "    \
    "-device cpu"

#endif
