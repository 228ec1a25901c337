/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include <pthread.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../io/hdf5/hdf5_read.h"
#include "../render/choose.h"
#include "../series/orientations.h"
#include "../series/pool.h"
#include "../series/ranks.h"
#include "../sim/load.h"
#include "../sim/picture.h"
#include "../sim/sim.h"

enum { DEVICE_WORKERS = 8 }; /* of one device */

/** How many pictures this process has. */
static int share_of(const nb_crew *crew)
{
    const int ranks = nb_ranks_count(crew->ranks), rank = nb_ranks_rank(crew->ranks);
    return (crew->frames->count + ranks - 1 - rank) / ranks;
}

/** Threads of this process: the processes of a host divide its processors, unless a number was typed. */
static int threads_of(const nb_crew *crew)
{
    const int here = nb_ranks_local_count(crew->ranks);
    const int all = nb_threads_of(nb_sim_config(crew->base));
    if (nb_sim_config(crew->base)->threads > 0 || here < 2)
        return all;
    return all > here ? all / here : 1;
}

/** The accelerators of this process; count 0: it calculates on the CPU. */
static nb_pool_devices devices_of(const nb_crew *crew)
{
    const nb_backend *backend = crew->base->engine.backend;
    nb_device asked;
    if (!backend->device)
        return (nb_pool_devices){-1, 0, 0};
    (void)nb_backend_of(crew->base->cfg.device, &asked);
    return nb_pool_devices_of(&asked, backend->device->count(),
                              nb_ranks_local_rank(crew->ranks),
                              nb_ranks_local_count(crew->ranks));
}

/** Of so many pictures at a time.  On a device several of them share it: what one calculates there hides what others do
 * on the host. */
static void choose_workers(nb_crew *crew, int devices)
{
    const int all = threads_of(crew), count = share_of(crew);
    const int most = devices ? DEVICE_WORKERS * devices : all;
    crew->workers = all < most ? all : most;
    crew->workers = crew->workers < count ? crew->workers : count;
    crew->workers = crew->workers > 1 ? crew->workers : 1;
    /* not in a parallel region: threads of nested ones start again each time */
    crew->threads = crew->workers == 1 ? all : 1;
}

static nb_status clone_all(nb_crew *crew, const nb_hooks *hooks, nb_error *err)
{
    const nb_pool_devices devices = devices_of(crew);
    nb_status st = NB_OK;
    choose_workers(crew, devices.count);
    crew->sims = nb_alloc((size_t)crew->workers, sizeof(nb_sim *), "simulations", err);
    if (!crew->sims)
        return NB_ERR_NOMEM;
    for (int i = 0; i < crew->workers && !st; i++) {
        st = nb_sim_clone(crew->base, hooks, crew->threads, &crew->sims[i], err);
        if (!st && devices.count) /* neighbours are on different devices */
            crew->sims[i]->engine.options.device_index =
                devices.first + i % devices.count * devices.step;
    }
    return st;
}

/** All pictures have an experiment, which gives them what one simulation can have. */
static nb_status check_starts(const nb_crew *crew, const char *file, nb_error *err)
{
    const nb_expt_start *all = crew->starts;
    for (int k = 0; k < crew->frames->count; k++) {
        const char *name = crew->frames->images[k];
        if (all[k].number < 0)
            return nb_fail(err, NB_ERR_INPUT,
                           "-expt %.200s: no experiment has the image %.200s, but others "
                           "have theirs; type -expt_number for one start of all",
                           file, name);
        if (all[k].number != all[0].number && (all[k].varies || all[0].varies))
            return nb_fail(err, NB_ERR_INPUT,
                           "-expt %.200s: the crystal of experiment %d changes along its "
                           "scan, and %.200s is of another one; refine each by itself",
                           file, all[all[k].varies ? k : 0].number, name);
    }
    return NB_OK;
}

/** Experiments of the pictures, by the names of their images.  *cfg then has that of the first picture. */
static nb_status load_starts(nb_crew *crew, nb_config *cfg, const nb_hooks *hooks,
                             nb_error *err)
{
    const nb_refine_frames *frames = crew->frames;
    const nb_expt_names names = {frames->images, frames->count};
    int found = 0;
    nb_status st;
    if (!cfg->expt_file[0] || cfg->expt_number >= 0 || cfg->expt_image[0] ||
        frames->orientations)
        return NB_OK;
    crew->starts =
        nb_alloc((size_t)frames->count, sizeof *crew->starts, "experiments", err);
    st = crew->starts ? nb_read_starts(cfg, &names, crew->starts, err) : NB_ERR_NOMEM;
    for (int k = 0; k < frames->count && !st; k++)
        found += crew->starts[k].number >= 0;
    if (st || !found) {
        nb_free(crew->starts);
        crew->starts = NULL;
        return st;
    }
    if ((st = check_starts(crew, cfg->expt_file, err)))
        return st;
    cfg->expt_number = crew->starts[0].number;
    nb_notice(
        hooks,
        "%s: each picture begins with crystal, beam and angle of the experiment that "
        "has its image; the detector is that of the first",
        cfg->expt_file);
    return NB_OK;
}

static nb_status open_base(nb_crew *crew, const nb_config *typed, const nb_hooks *hooks,
                           nb_error *err)
{
    nb_status st;
    if (!(crew->typed = nb_alloc_raw(1, sizeof *crew->typed, "configuration", err)))
        return NB_ERR_NOMEM;
    *crew->typed = *typed;
    st = load_starts(crew, crew->typed, hooks, err);
    return st ? st
              : nb_sim_create_for(crew->typed, crew->frames->count, hooks, &crew->base,
                                  err);
}

nb_status nb_crew_open(nb_crew *crew, const nb_config *cfg, const nb_refine_frames *frames,
                       const nb_hooks *hooks, nb_error *err)
{
    nb_status st;
    memset(crew, 0, sizeof *crew);
    crew->frames = frames;
    crew->ranks = frames->ranks;
    crew->reader = nb_alloc(1, sizeof *crew->reader, "reader of HDF5", err);
    st = crew->reader ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        st = open_base(crew, cfg, hooks, err);
    if (!st && frames->orientations)
        st = nb_orientations_load(frames->orientations, frames->count, &crew->missets,
                                  NULL, err);
    return st ? st : clone_all(crew, hooks, err);
}

void nb_crew_close(nb_crew *crew)
{
    for (int i = 0; crew->sims && i < crew->workers; i++)
        nb_sim_free(crew->sims[i]);
    nb_free(crew->sims);
    nb_free(crew->missets);
    nb_free(crew->starts);
    nb_free(crew->typed);
    nb_hdf5_reader_free(crew->reader);
    nb_sim_free(crew->base);
    memset(crew, 0, sizeof *crew);
}

nb_status nb_crew_begin(const nb_crew *crew, nb_sim *sim, int picture, nb_error *err)
{
    nb_matrix matrix = {0};
    nb_frame_extra extra = {0};
    int own = 0;
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "configuration", err);
    nb_status st;
    if (!cfg)
        return NB_ERR_NOMEM;
    *cfg = *nb_sim_record(crew->base);
    if (crew->missets) {
        cfg->misset_mode = NB_MISSET_FIXED;
        memcpy(cfg->misset_deg, crew->missets[picture], sizeof cfg->misset_deg);
    }
    if (crew->starts)
        own = nb_use_start(crew->typed, &crew->starts[picture], cfg, &matrix);
    extra.matrix = own ? &matrix : NULL;
    st = nb_sim_frame(sim, cfg, &extra, err);
    nb_free(cfg);
    return st;
}

nb_status nb_crew_read(const nb_crew *crew, const nb_sim *sim, int picture, nb_image *out,
                       nb_error *err)
{
    const double most_MB = nb_sim_config(crew->base)->max_read_MB;
    char name[NB_PATH_MAX];
    nb_hdf5_wanted frame = {name, 0, 1, most_MB, NULL, crew->reader};
    nb_config typed;
    int fast, slow;
    if (nb_hdf5_frame_of(crew->frames->images[picture], name, &frame.frame))
        return nb_hdf5_read_image(&frame, out, err);
    nb_config_defaults(&typed);
    typed.max_read_MB = most_MB;
    nb_sim_size(sim, &fast, &slow);
    return nb_image_read(crew->frames->images[picture], fast, slow, &typed, out, err);
}

/** What the threads of one round share. */
typedef struct round_of {
    nb_crew *crew;
    const nb_crew_task *task;
    pthread_t caller;
    atomic_int threads; /* so far */
    atomic_int next;    /* of this process' pictures */
    int failed;         /* the picture of the error */
    nb_status status;
    nb_error *err;
} round_of;

static void note_error(round_of *r, int picture, nb_status st, const nb_error *err)
{
    atomic_store(&r->crew->stop, 1);
#pragma omp critical(nb_crew_error)
    if (!r->status || picture < r->failed) {
        r->status = st;
        r->failed = picture;
        if (r->err)
            *r->err = *err;
    }
}

/** One thread: the pictures that no other has taken. */
static void work_on(round_of *r)
{
    NB_IN_C_LOCALE;
    const int worker = atomic_fetch_add(&r->threads, 1);
    const int calls = pthread_equal(pthread_self(), r->caller);
    const nb_crew *crew = r->crew;
    const int ranks = nb_ranks_count(crew->ranks), count = share_of(crew);
    int k;
    while (!atomic_load(&crew->stop) && (k = atomic_fetch_add(&r->next, 1)) < count) {
        const int picture = k * ranks + nb_ranks_rank(crew->ranks);
        nb_error err = {0};
        nb_status st = r->task->work(r->task->user, crew->sims[worker], picture, &err);
        if (st)
            note_error(r, picture, st, &err);
        if (calls && r->task->between)
            r->task->between(r->task->user);
    }
}

nb_status nb_crew_each(nb_crew *crew, const nb_crew_task *task, nb_error *err)
{
    round_of r = {.crew = crew, .task = task, .caller = pthread_self(), .err = err};
    if (crew->workers == 1) {
        work_on(&r);
        return r.status;
    }
#pragma omp parallel num_threads(crew->workers)
    work_on(&r);
    return r.status;
}
