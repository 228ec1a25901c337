/* SPDX-License-Identifier: MIT */
/* How a render is cut into launches. */
#include <math.h>

#include "render_job.h"

/** Launches of a third of a second at most: display watchdogs, progress and SIGINT. */
static nb_cuda_cut cut_bands(const nb_plan *plan, const nb_panel *panel,
                             nb_cuda_path path, int max_parts)
{
    const double seconds = 0.3;
    const int quantum = 4;
    const nb_region r = nb_panel_region(plan->scene, panel);
    double width = r.fmax - r.fmin + 1, height = r.smax - r.smin + 1;
    double rows = seconds * nb_cuda_step_rate(path, plan) / (width * plan->terms);
    nb_cuda_cut cut = {quantum, 0, 1};
    if (nb_region_pixels(r) == 0)
        return cut;
    if (rows >= height)
        cut.rows = (int)height;
    else if (rows > quantum)
        cut.rows = (int)(rows / quantum) * quantum;
    else
        cut.parts = (int)fmin(ceil(quantum / rows), (double)max_parts);
    cut.bands = (int)ceil(height / cut.rows);
    return cut;
}

nb_cuda_cut nb_cuda_cut_panel(const nb_cuda_job *job, int k)
{
    return cut_bands(&job->plan, &job->scene->panels[k], job->state->path, job->max_parts);
}

void nb_cuda_set_window(nb_cuda_job *job, int first_row, int rows)
{
    const nb_region *r = &job->region;
    nb_cuda_window *w = &job->launch.window;
    *w = {r->fmin, r->fmax + 1, r->smin + first_row, r->smin + first_row + rows};
    if (w->s1 > r->smax + 1)
        w->s1 = r->smax + 1;
}

void nb_cuda_turn(nb_cuda_job *job, int k)
{
    nb_cuda_set_panel(job->state, job->scene, k, job->lit, &job->launch);
    job->region = nb_panel_region(job->scene, &job->scene->panels[k]);
    job->cut = nb_cuda_cut_panel(job, k);
    nb_cuda_set_window(job, 0, job->scene->panels[k].rows);
}

nb_cuda_octets nb_cuda_octets_of(const nb_cuda_job *job, int part)
{
    int64_t n = job->terms.octets, parts = job->cut.parts;
    int degree = job->state->options.precision == NB_PRECISION_SINGLE ? 3 : 4;
    return {(int)(n * part / parts), (int)(n * (part + 1) / parts), part > 0, degree};
}
