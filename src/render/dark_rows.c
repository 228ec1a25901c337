/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../base/memory.h"
#include "simd.h"

enum { SOME = 32 }; /* number of spans that are cut at once */

nb_status nb_dark_rows_build(const nb_plan *plan, nb_dark_rows *rows, nb_error *err)
{
    const nb_scene *sc = plan->scene;
    const nb_lit_cone cone = nb_lit_cone_of(plan);
    if (cone.all)
        return NB_OK;
    rows->lit = nb_alloc((size_t)sc->n_panels, sizeof *rows->lit, "panels", err);
    for (int k = 0; k < sc->n_panels && rows->lit; k++)
        rows->lit[k] =
            nb_lit_panel_of(&cone, &sc->panels[k], &sc->sensors[sc->panels[k].sensor]);
    return rows->lit ? NB_OK : NB_ERR_NOMEM;
}

void nb_dark_rows_free(nb_dark_rows *rows)
{
    nb_free(rows->lit);
}

/** Copy the parts of spans[*next], ... in columns first..last to cuts[SOME]; returns the
 * number of cuts. */
static int cut(const nb_span *spans, size_t n, size_t *next, int first, int last,
               nb_span *cuts)
{
    int count = 0;
    for (; *next < n && count < SOME; (*next)++) {
        nb_span s = spans[*next];
        int end = s.fast + s.n < last + 1 ? s.fast + s.n : last + 1;
        int off = s.fast < first ? first - s.fast : 0;
        s.fast += off;
        s.at += (size_t)off;
        s.n = end - s.fast;
        if (s.n > 0)
            cuts[count++] = s;
    }
    return count;
}

void nb_dark_row(void *context, const nb_span *spans, size_t n, float *row)
{
    const nb_dark_rows *rows = context;
    const nb_vector_plan *plan = &rows->plans[spans->panel];
    const nb_lit_panel *lit = rows->lit ? &rows->lit[spans->panel] : NULL;
    const nb_span *end = spans + n - 1;
    nb_span cuts[SOME];
    size_t next = 0;
    int first, last, count;
    if (!lit || lit->all) {
        rows->kernel(plan, spans, n, row);
        return;
    }
    memset(row, 0, (size_t)(end->fast + end->n - spans->fast) * sizeof *row);
    nb_lit_columns(lit, spans->slow, &first, &last);
    while ((count = cut(spans, n, &next, first, last, cuts)) > 0)
        rows->kernel(plan, cuts, (size_t)count, row + (cuts->fast - spans->fast));
}
