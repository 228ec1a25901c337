/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <math.h>
#include <string.h>

const nb_path *nb_path_choose(const nb_plan *plan, const char **why)
{
    const nb_path *best = NULL;
    double least = 0;
    *why = "";
    for (const nb_path *const *p = plan->paths; *p; p++) {
        const char *reason = "";
        const double seconds = (*p)->seconds(plan);
        if ((best && !(seconds < least)) || (plan->sums && !(*p)->sums))
            continue;
        if ((*p)->applies(plan, &reason)) {
            best = *p;
            least = seconds;
        } else if (p == plan->paths) {
            *why = reason;
        }
    }
    return best;
}

int nb_path_is_forced(const nb_plan *plan, const char *name)
{
    return plan->forced && strcmp(plan->forced, name) == 0;
}

double nb_path_every_step(const nb_plan *plan)
{
    double least = INFINITY;
    const char *unused;
    for (const nb_path *const *p = plan->paths; *p; p++) {
        const double seconds = (*p)->skips ? INFINITY : (*p)->seconds(plan);
        /* applies() is called last, because it is slow */
        if (seconds < least && (*p)->applies(plan, &unused))
            least = seconds;
    }
    return least;
}

const char *nb_path_refuses_tolerance(const nb_plan *plan)
{
    const char *why = "every step is calculated";
    for (const nb_path *const *p = plan->paths; *p; p++)
        if ((*p)->skips && (*p)->skips(plan->scene))
            return (*p)->applies(plan, &why) ? NULL : why;
    return why;
}
