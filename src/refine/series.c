/* SPDX-License-Identifier: MIT */
/* Many images: each thread refines whole ones. */
#include <stdio.h>
#include <string.h>

#include "../api/sim.h"
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../series/orientations.h"

/** What all threads share. */
typedef struct shared {
    const nb_refine_frames *frames;
    nb_refine_options options;
    nb_sim *base;
    double (*missets)[3]; /* owned; NULL: the start's */
    int stop;
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
        all->stop |= stop;
    }
    nb_refinement_free(&result);
    nb_image_free(&picture);
}

static nb_status share_out(shared *all, const nb_hooks *hooks, nb_error *err)
{
    int threads = nb_threads_of(nb_sim_config(all->base)), count = all->frames->count;
    int workers = threads < count ? threads : count;
    nb_status status = NB_OK;
    if (all->base->backend->device) /* one device: images one after the other */
        workers = 1;
#ifdef _OPENMP
#pragma omp parallel num_threads(workers)
#endif
    {
        NB_IN_C_LOCALE;
        nb_sim *sim = NULL;
        nb_error why = {0};
        nb_status st =
            nb_sim_clone(all->base, hooks, workers > 1 ? 1 : threads, &sim, &why);
        if (st) {
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
            status = nb_fail(err, st, "%s", why.message);
        }
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (int k = 0; k < count; k++)
            if (sim && !all->stop)
                refine_frame(all, sim, k);
        nb_sim_free(sim);
    }
    return status;
}

nb_status nb_refine_series(const nb_config *cfg, const nb_refine_frames *frames,
                           const nb_refine_options *options, const nb_hooks *hooks,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && frames && frames->images && frames->done && options);
    shared all = {.frames = frames, .options = *options};
    nb_status st = nb_sim_create_for(cfg, frames->count, hooks, &all.base, err);
    int count = 0;
    all.options.stage = NULL;
    if (!st && frames->orientations)
        st = nb_orientations_load(frames->orientations, frames->count, &all.missets,
                                  &count, err);
    if (!st)
        st = share_out(&all, hooks, err);
    nb_free(all.missets);
    nb_sim_free(all.base);
    return st;
}
