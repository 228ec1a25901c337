/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include "threads.h"
#include "error.h"

static _Thread_local nb_asking *now;

void nb_asking_enter(nb_asking *asking)
{
    asking->before = now;
    now = asking;
}

void nb_asking_leave(nb_asking *asking)
{
    now = asking->before;
}

nb_asking *nb_asking_now(void)
{
    return now;
}

/** Ask the hooks, but only after 20 ms or more: a hook in Python waits for the other
 * threads of Python. */
static void ask(nb_asking *asking)
{
    const nb_hooks *hooks = asking->hooks;
    const double time = nb_monotonic_seconds();
    if (!hooks || !hooks->progress || time - asking->last < 0.02)
        return;
    asking->last = time;
    if (hooks->progress(hooks->user, asking->fraction))
        atomic_store(&asking->stop, 1);
}

int nb_stop_asked(nb_asking *asking)
{
    if (asking && asking == now)
        ask(asking);
    return asking && atomic_load(&asking->stop);
}

nb_status nb_stop_status(const nb_asking *asking, nb_error *err)
{
    return asking && atomic_load(&asking->stop)
               ? nb_fail(err, NB_ERR_CANCELLED, "interrupted before the work was finished")
               : NB_OK;
}

nb_status nb_stop_check(nb_error *err)
{
    (void)nb_stop_asked(now);
    return nb_stop_status(now, err);
}
