/* SPDX-License-Identifier: MIT */
#include "visits.h"

#include <string.h>

#include "../base/memory.h"

nb_status nb_visits_make(const void *things, size_t count, nb_extent_fn *extent,
                         int planes, nb_visits *out, nb_error *err)
{
    size_t n = (size_t)planes, *next;
    memset(out, 0, sizeof *out);
    /* next[p] runs through the visits of p and ends where those of p + 1 begin */
    out->first = nb_alloc(n + 2, sizeof *out->first, "planes of a grid", err);
    if (!out->first)
        return NB_ERR_NOMEM;
    next = out->first + 1;
    for (size_t i = 0; i < count; i++) {
        int from[2];
        extent(things, i, from);
        for (int u = from[0]; u <= from[1]; u++)
            next[nb_modulo(u, planes) + 1]++;
    }
    for (size_t p = 1; p <= n; p++)
        next[p] += next[p - 1];
    out->visit = nb_alloc_raw(next[n], sizeof *out->visit, "planes of a grid", err);
    if (!out->visit) {
        nb_visits_free(out);
        return NB_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int from[2];
        extent(things, i, from);
        for (int u = from[0]; u <= from[1]; u++)
            out->visit[next[nb_modulo(u, planes)]++] = (nb_visit){(int)i, u};
    }
    return NB_OK;
}

void nb_visits_free(nb_visits *visits)
{
    nb_free(visits->first);
    nb_free(visits->visit);
    memset(visits, 0, sizeof *visits);
}
