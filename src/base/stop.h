/* SPDX-License-Identifier: MIT */
/** Long functions that get no hooks ask the hooks of their caller whether to stop. */
#ifndef NB_BASE_STOP_H
#define NB_BASE_STOP_H

#include <stdatomic.h>

#include "../nanobragg.h"

/** Hooks that are asked whether to stop, and their answer. */
typedef struct nb_asking {
    const nb_hooks *hooks;
    double fraction;          /* argument of hooks->progress */
    atomic_int stop;          /* the answer, for all threads */
    double last;              /* s; time of the last question */
    struct nb_asking *before; /* nb_asking of the outer block of this thread, or NULL */
} nb_asking;

void nb_asking_enter(nb_asking *asking);
void nb_asking_leave(nb_asking *asking);

/** Make the work of this thread ask these hooks until the end of the block. */
#define NB_ASKS(who, done)                                                               \
    __attribute__((cleanup(nb_asking_leave)))                                            \
    nb_asking nb_asking_guard = {.hooks = (who), .fraction = (done)};                    \
    nb_asking_enter(&nb_asking_guard)

/** Innermost nb_asking of this thread, for nb_stop_asked in other threads; or NULL. */
nb_asking *nb_asking_now(void);
/** True if the work must stop. Only the thread of NB_ASKS asks; other threads read the
 * answer. */
int nb_stop_asked(nb_asking *asking);
/** Status of work that may have been stopped. Errors: NB_ERR_CANCELLED. */
nb_status nb_stop_status(const nb_asking *asking, nb_error *err);
/** Ask the hooks; for work in one thread. Errors: NB_ERR_CANCELLED (stop the work). */
nb_status nb_stop_check(nb_error *err);

/* --- Forked processes, which do not have the threads and devices of their parent --- */

/** Note that this process has begun to use a device. */
void nb_fork_uses_device(void);
/** True if the parent of this forked process had begun to use a device. This process can
 * then use no device, and must not free memory on one. */
int nb_fork_lost_device(void);
/** Text for messages about forks: what the user can do. */
#define NB_FORK_CURE                                                                     \
    "devices do not survive fork: start processes with spawn or forkserver, or type "    \
    "-device cpu"

#endif
