/* SPDX-License-Identifier: MIT */
/* Many images: each thread refines whole ones. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../sim/sim.h"
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../series/orientations.h"

enum { DEVICE_WORKERS = 8 };

/** What all threads share. */
typedef struct shared {
    const nb_refine_frames *frames;
    nb_refine_options options;
    nb_sim *base;
    double (*missets)[3]; /* owned; NULL: the start's */
    nb_outfile report;
    int lines;           /* in the report */
    nb_status lost;      /* why the report cannot be written, */
    nb_error lost_error; /* and what is said of it */
    atomic_int stop;
} shared;

/** The start of a frame. */
static nb_status begin(const shared *all, nb_sim *sim, int frame, nb_error *err)
{
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "configuration", err);
    nb_status st;
    if (!cfg)
        return NB_ERR_NOMEM;
    *cfg = *nb_sim_config(all->base);
    if (all->missets) {
        cfg->misset_mode = NB_MISSET_FIXED;
        memcpy(cfg->misset_deg, all->missets[frame], sizeof cfg->misset_deg);
    }
    st = nb_sim_rebuild(sim, cfg, err);
    nb_free(cfg);
    return st;
}

/** A line of the report; one call at a time. */
static void report_frame(shared *all, const nb_refinement *result)
{
    char *json = NULL;
    nb_status st;
    if (!all->frames->report || all->lost)
        return;
    st = nb_refinement_json(result, &json, &all->lost_error);
    if (!st)
        st = nb_outfile_write(&all->report, json, strlen(json), &all->lost_error);
    if (!st)
        st = nb_outfile_write(&all->report, "\n", 1, &all->lost_error);
    nb_free(json);
    all->lines += !st;
    all->lost = st;
}

/** What was refined is kept after a stop or an error, too. */
static nb_status end_report(shared *all, nb_status st, nb_error *err)
{
    if (all->lost && !st)
        st = nb_fail(err, all->lost, "%s", all->lost_error.message);
    if (all->frames->report && !all->lost && (all->lines || !st)) {
        nb_error *said = st ? NULL : err; /* the first error counts */
        nb_status end = nb_outfile_commit(&all->report, said);
        st = st ? st : end;
    }
    nb_outfile_abort(&all->report);
    return st;
}

static void refine_frame(shared *all, nb_sim *sim, int frame)
{
    const char *name = all->frames->images[frame];
    nb_refinement result = {0};
    nb_image picture = {0};
    nb_config typed;
    nb_error err = {0};
    char why[sizeof err.message + 200];
    int fast, slow, stop;
    nb_status st = begin(all, sim, frame, &err);
    nb_config_defaults(&typed);
    typed.max_read_MB = nb_sim_config(all->base)->max_read_MB;
    nb_sim_size(sim, &fast, &slow);
    if (!st)
        st = nb_image_read(name, fast, slow, &typed, &picture, &err);
    if (!st)
        st = nb_refine(sim, &picture, &all->options, &result, &err);
    snprintf(why, sizeof why, "%.150s: %s", name, err.message);
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
    {
        stop = all->frames->done(all->frames->user, frame, st ? NULL : &result, why);
        if (!st)
            report_frame(all, &result);
        if (stop || all->lost)
            atomic_store(&all->stop, 1);
    }
    nb_refinement_free(&result);
    nb_image_free(&picture);
}

/** Of so many images at a time.  On a device all of them share it: what one calculates there hides what others do on the
 * host. */
static int workers_of(const shared *all)
{
    int threads = nb_threads_of(nb_sim_config(all->base)), count = all->frames->count;
    if (all->base->engine.backend->device && threads > DEVICE_WORKERS)
        threads = DEVICE_WORKERS;
    return threads < count ? threads : count;
}

/** One thread: the images that no other has taken. */
static nb_status refine_frames(shared *all, int threads, const nb_hooks *hooks,
                               atomic_int *next, nb_error *err)
{
    NB_IN_C_LOCALE;
    nb_sim *sim = NULL;
    nb_status st = nb_sim_clone(all->base, hooks, threads, &sim, err);
    int k;
    while (!st && !atomic_load(&all->stop) &&
           (k = atomic_fetch_add(next, 1)) < all->frames->count)
        refine_frame(all, sim, k);
    nb_sim_free(sim);
    return st;
}

static nb_status share_out(shared *all, const nb_hooks *hooks, nb_error *err)
{
    const int workers = workers_of(all);
    nb_status status = NB_OK;
    atomic_int next = 0;
    if (workers ==
        1) /* not in a parallel region: threads of nested ones start anew each time */
        return refine_frames(all, nb_threads_of(nb_sim_config(all->base)), hooks, &next,
                             err);
#ifdef _OPENMP
#pragma omp parallel num_threads(workers)
#endif
    {
        nb_error why = {0};
        nb_status st = refine_frames(all, 1, hooks, &next, &why);
        if (st) {
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
            status = nb_fail(err, st, "%s", why.message);
        }
    }
    return status;
}

nb_status nb_refine_series(const nb_config *cfg, const nb_refine_frames *frames,
                           const nb_refine_options *options, const nb_hooks *hooks,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && frames && frames->images && frames->done && options);
    shared all = {.frames = frames, .options = *options, .report = {.fd = -1}};
    nb_status st = nb_sim_create_for(cfg, frames->count, hooks, &all.base, err);
    int count = 0;
    all.options.stage = NULL;
    if (!st && frames->orientations)
        st = nb_orientations_load(frames->orientations, frames->count, &all.missets,
                                  &count, err);
    if (!st && frames->report)
        st = nb_outfile_open(&all.report, frames->report, err);
    if (!st)
        st = share_out(&all, hooks, err);
    st = end_report(&all, st, err);
    nb_free(all.missets);
    nb_sim_free(all.base);
    return st;
}
