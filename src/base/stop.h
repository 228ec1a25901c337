/* SPDX-License-Identifier: MIT */
/** Long work that has no hooks of its own asks those of its caller whether it shall stop. */
#ifndef NB_BASE_STOP_H
#define NB_BASE_STOP_H

#include <stdatomic.h>

#include "../nanobragg.h"

/** Who is asked. */
typedef struct nb_asking {
    const nb_hooks *hooks;
    double fraction;          /* that hooks->progress is told */
    atomic_int stop;          /* the answer, for all threads */
    double last;              /* s; when it was asked */
    struct nb_asking *before; /* of this thread */
} nb_asking;

void nb_asking_enter(nb_asking *asking);
void nb_asking_leave(nb_asking *asking);

/** Work of this thread asks these hooks, to the end of the block. */
#define NB_ASKS(who, done)                                                               \
    __attribute__((cleanup(nb_asking_leave)))                                            \
    nb_asking nb_asking_guard = {.hooks = (who), .fraction = (done)};                    \
    nb_asking_enter(&nb_asking_guard)

/** Who is asked in this thread, for nb_stop_asked in others; NULL: nobody. */
nb_asking *nb_asking_now(void);
/** Shall the work stop?  The thread of NB_ASKS asks; others see its answer. */
int nb_stop_asked(nb_asking *asking);
/** Behind work that may have stopped.  Errors: NB_ERR_CANCELLED. */
nb_status nb_stop_status(const nb_asking *asking, nb_error *err);
/** Ask, in work of one thread. */
nb_status nb_stop_check(nb_error *err);

#endif
