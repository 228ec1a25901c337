/* SPDX-License-Identifier: MIT */
#include "path.h"

int nb_path_choose(const nb_path *paths, int n, const nb_plan *plan, const char **why)
{
    double least = 0;
    int best = -1, i;
    *why = "";
    for (i = 0; i < n; i++) {
        const char *reason = "";
        double seconds = paths[i].seconds(plan);
        if (best >= 0 && !(seconds < least))
            continue;
        if (paths[i].applies(plan, &reason)) {
            best = i;
            least = seconds;
        } else if (i == 0) {
            *why = reason;
        }
    }
    return best;
}
