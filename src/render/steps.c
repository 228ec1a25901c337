/* SPDX-License-Identifier: MIT */
/* Code that the paths of a CPU share: render every step with the kernel of the
 * instruction set. */
#include <stdint.h>

#include "simd.h"
#include "request.h"
#include "vector_paths.h"

/* Seconds of a pixel's geometry on one core, measured (reports/cpu). */
#define PIXEL 1e-9

const char *nb_table_refuse(const nb_factor_table *sf)
{
    return (double)sf->nh * sf->nk * sf->nl >= (double)INT32_MAX
               ? "the structure-factor table has more than 2^31 entries"
               : NULL;
}

const char *nb_vectors_refuse(const nb_plan *plan)
{
    if (plan->engine.lacks)
        return plan->engine.lacks;
    if (!(plan->index < 2e9))
        return "Miller indices do not fit in 32 bits";
    return nb_table_refuse(&plan->scene->factors.table);
}

double nb_steps_seconds(const nb_plan *plan, double step)
{
    return (plan->rays * plan->steps * step + plan->pixels * PIXEL) / plan->engine.threads;
}

nb_status nb_steps_run(nb_render *r, nb_error *err)
{
    nb_dark_rows rows = {.kernel = r->kernels.row, .plans = r->plans};
    const nb_row_job job = {r->scene,    r->request, r->planes, &rows,
                            nb_dark_row, r->threads, r->hooks};
    nb_status st = r->plans ? nb_dark_rows_build(r->plan, &rows, err) : NB_OK;
    NB_TRY(nb_render_rows(&job, err));
    nb_dark_rows_free(&rows);
    return st;
}
