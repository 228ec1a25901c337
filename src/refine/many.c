/* SPDX-License-Identifier: MIT */
/* Many pictures: each thread refines whole ones. */
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "crew.h"
#include "joint.h"
#include "lines.h"

/** What all threads share. */
typedef struct shared {
    const nb_refine_frames *frames;
    nb_refine_options options;
    nb_crew crew;
    nb_lines lines;
} shared;

/** Tell what became of a picture; one call at a time. */
static void tell(shared *all, int picture, const nb_refinement *result, const char *why)
{
    const nb_refine_frames *frames = all->frames;
    char *line = NULL;
    int stop = frames->done(frames->user, picture, result, why);
    if (result && frames->report && !all->lines.status)
        all->lines.status = nb_refinement_json(result, &line, &all->lines.error);
    if (nb_lines_put(&all->lines, picture, line, !result || !result->converged) || stop)
        atomic_store(&all->crew.stop, 1);
}

/** An error of a picture is told, and stops nothing. */
static nb_status refine_picture(void *user, nb_sim *sim, int k, nb_error *unused)
{
    shared *all = user;
    const char *name = all->frames->images[k];
    nb_refinement result = {0};
    nb_image picture = {0};
    nb_error err = {0};
    char why[sizeof err.message + 200];
    nb_status st = nb_crew_begin(&all->crew, sim, k, &err);
    (void)unused;
    if (!st)
        st = nb_crew_read(&all->crew, sim, k, &picture, &err);
    if (!st)
        st = nb_refine(sim, &picture, &all->options, &result, &err);
    result.picture = name;
    snprintf(why, sizeof why, "%.150s: %s", name, err.message);
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
    tell(all, k, st ? NULL : &result, why);
    nb_refinement_free(&result);
    nb_image_free(&picture);
    return NB_OK;
}

static void exchange(void *user)
{
    shared *all = user;
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
    nb_lines_exchange(&all->lines);
}

nb_status nb_refine_series(const nb_config *cfg, const nb_refine_frames *frames,
                           const nb_refine_options *options, const nb_hooks *hooks,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && frames && frames->images && frames->done && options);
    if (options->joint)
        return nb_refine_joint(cfg, frames, options, hooks, err);
    shared all = {.frames = frames, .options = *options};
    const nb_crew_task task = {&all, refine_picture, exchange};
    nb_status st = nb_crew_open(&all.crew, cfg, frames, hooks, err);
    all.options.stage = NULL;
    if (!st)
        st = nb_lines_open(&all.lines, frames->report, frames->count, frames->ranks, err);
    st = nb_ranks_agree(frames->ranks, st, err);
    if (!st) {
        st = nb_crew_each(&all.crew, &task, err);
        nb_lines_end(&all.lines);
    }
    if (frames->lost)
        *frames->lost = all.lines.lost;
    st = nb_lines_close(&all.lines, st, err);
    nb_crew_close(&all.crew);
    return nb_ranks_agree(frames->ranks, st, err);
}
