/* SPDX-License-Identifier: MIT */
/* Many pictures: each thread refines whole ones. */
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/cminpack_lib.h"
#include "../base/error.h"
#include "crew.h"
#include "joint.h"
#include "../series/ranks.h"
#include "../sim/sim.h"
#include "lines.h"
#include "pages.h"

/** What all threads share. */
typedef struct shared {
    const nb_refine_frames *frames;
    nb_refine_options options;
    nb_crew crew;
    nb_lines lines;
} shared;

/** Tell what became of a picture.  Its line is made beside others. */
static void tell(shared *all, const nb_fit_told *told)
{
    const nb_refine_frames *frames = all->frames;
    const nb_refinement *result = told->result;
    nb_error err = {0};
    char *line;
    nb_status st = nb_fit_told_line(told, &line, &err);
#pragma omp critical(nb_refine_done)
    {
        int stop = frames->done(frames->user, told->number, result, told->why);
        if (st && !all->lines.status) {
            all->lines.status = st;
            all->lines.error = err;
        }
        if (nb_lines_put(&all->lines, told->number, line, !result || !result->converged) ||
            stop)
            atomic_store(&all->crew.stop, 1);
    }
}

/** An error of a picture is told, and stops nothing. */
static nb_status refine_picture(void *user, nb_sim *sim, int k, nb_error *unused)
{
    shared *all = user;
    const char *name = all->frames->images[k];
    nb_refine_options options = all->options;
    nb_refinement result = {0};
    nb_image picture = {0};
    nb_error err = {0};
    double start[3];
    char why[sizeof err.message + 200];
    nb_status st = nb_crew_begin(&all->crew, sim, k, &err);
    (void)unused;
    memcpy(start, sim->model.crystal.misset, sizeof start);
    options.keep_start = nb_fit_on_page(all->frames, sim, k);
    if (!st)
        st = nb_crew_read(&all->crew, sim, k, &picture, &err);
    if (!st)
        st = nb_refine(sim, &picture, &options, &result, &err);
    result.picture = name;
    snprintf(why, sizeof why, "%.150s: %s", name, err.message);
    tell(all, &(nb_fit_told){.frames = all->frames,
                             .number = k,
                             .sim = sim,
                             .misset = start,
                             .result = st ? NULL : &result,
                             .why = why});
    nb_refinement_free(&result);
    nb_image_free(&picture);
    return NB_OK;
}

static void exchange(void *user)
{
    shared *all = user;
#pragma omp critical(nb_refine_done)
    nb_lines_exchange(&all->lines);
}

/** The flags, before a picture is read. */
static nb_status check_flags(const shared *all, nb_error *err)
{
    nb_fit fit = {.sim = all->crew.base, .o = &all->options};
    nb_status st = nb_cminpack_need("nanobragg refine", err);
    if (!st)
        st = nb_fit_check_options(fit.sim, fit.o, err);
    return st ? st : nb_fit_name(&fit, err);
}

/** The last line of a page. */
static nb_status end_page(shared *all, nb_error *err)
{
    char *line = NULL;
    nb_status st;
    if (!nb_is_page(all->frames->report) || nb_ranks_rank(all->frames->ranks) > 0)
        return NB_OK;
    st = nb_fit_page_end(all->frames, all->crew.base, NULL, &line, err);
    if (!st)
        nb_lines_add(&all->lines, line);
    nb_free(line);
    return st;
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
        st = check_flags(&all, err);
    if (!st)
        st = nb_fit_pages_check(frames, all.crew.base, err);
    if (!st)
        st = nb_lines_open(&all.lines, frames->report, frames->count, frames->ranks, err);
    st = nb_ranks_agree(frames->ranks, st, err);
    if (!st) {
        st = nb_crew_each(&all.crew, &task, err);
        nb_lines_end(&all.lines);
        if (!st)
            st = end_page(&all, err);
    }
    if (frames->lost)
        *frames->lost = all.lines.lost;
    st = nb_lines_close(&all.lines, st, err);
    nb_crew_close(&all.crew);
    return nb_ranks_agree(frames->ranks, st, err);
}
