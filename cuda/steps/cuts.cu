/* SPDX-License-Identifier: MIT */
/* Divide a render into launches. */
#include <math.h>

#include "../backend/render_job.h"

/* Limit of the seconds of a launch, for display watchdogs, progress and SIGINT. */
static const double launch_seconds = 0.3;

/** Steps per second of the kernel of the job's path. */
static double rate_of(const nb_cuda_job *job)
{
    const nb_path_kernel *kernel = nb_cuda_kernel_of(job->state);
    return kernel ? kernel->rate(&job->plan) : nb_cuda_double_rate(&job->plan);
}

nb_cuda_cut nb_cuda_cut_panel(const nb_cuda_job *job, int k)
{
    const nb_plan *plan = &job->plan;
    const int quantum = 4;
    const nb_region r = nb_panel_region(plan->scene, &job->scene->panels[k]);
    double width = r.fmax - r.fmin + 1, height = r.smax - r.smin + 1;
    double rows = launch_seconds * rate_of(job) / (width * plan->terms);
    nb_cuda_cut cut = {quantum, 0, 1};
    if (nb_region_pixels(r) == 0)
        return cut;
    if (rows >= height)
        cut.rows = (int)height;
    else if (rows > quantum)
        cut.rows = (int)(rows / quantum) * quantum;
    else
        cut.parts = (int)fmin(ceil(quantum / rows), (double)job->max_parts);
    cut.bands = (int)ceil(height / cut.rows);
    return cut;
}

int nb_cuda_end_of_launch(const nb_cuda_job *job, int k)
{
    const nb_scene *sc = job->scene;
    const nb_panel *first = &sc->panels[k];
    double pixels = 0, limit = launch_seconds * rate_of(job) / job->plan.terms;
    int end = k;
    for (; job->kept && end < sc->n_panels; end++) {
        const nb_panel *panel = &sc->panels[end];
        pixels += nb_region_pixels(nb_panel_region(sc, panel));
        if (panel->sensor != first->sensor || panel->point_pixel != first->point_pixel ||
            pixels > limit)
            break;
    }
    return end > k ? end : k + 1;
}

int nb_cuda_count_launches(const nb_cuda_job *job)
{
    int n = 0;
    for (int k = 0, end; k < job->scene->n_panels; k = end) {
        end = nb_cuda_end_of_launch(job, k);
        nb_cuda_cut cut = nb_cuda_cut_panel(job, k);
        n += end - k > 1 ? 1 : cut.bands * cut.parts;
    }
    return n;
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
    return {(int)(n * part / parts), (int)(n * (part + 1) / parts), part > 0};
}
