/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../render/choose.h"
#include "../sim/crystals.h"
#include "../sim/derive.h"
#include "earlier.h"
#include "pool.h"
#include "record.h"
#include "run.h"

nb_pool_devices nb_pool_devices_of(const nb_device *asked, int there, int n, int processes)
{
    nb_pool_devices d = {asked->index, 0, 1};
    if (asked->index >= 0)
        return d;
    if (asked->all && n < there) {
        d.first = n;
        d.step = processes;
        d.count = (there - 1 - n) / processes + 1;
    } else if (processes > 1 && there > 0) {
        d.first = n % there;
    }
    return d;
}

int nb_pool_renderers(const nb_sim *base, int threads)
{
    const int fit = nb_backend_renderers(base->engine.backend, &base->model.scene,
                                         &base->engine.options);
    if (base->cfg.psf > NB_PSF_GAUSS) /* Fourier transforms of larger images */
        return 1;
    return fit < threads ? fit : threads;
}

nb_status nb_pool_open(nb_pool *pool, const nb_backend *backend, nb_pool_devices devices,
                       int each, nb_error *err)
{
    memset(pool, 0, sizeof *pool);
    pool->all = nb_alloc((size_t)devices.count * (size_t)each, sizeof *pool->all,
                         "renderers", err);
    if (!pool->all)
        return NB_ERR_NOMEM;
    pool->count = devices.count * each;
    pool->backend = backend;
    for (int i = 0; i < pool->count; i++) /* neighbours are on different devices */
        pool->all[i].device = devices.first + i % devices.count * devices.step;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->freed, NULL);
    return NB_OK;
}

void nb_pool_close(nb_pool *pool)
{
    if (!pool->all)
        return;
    for (int i = 0; i < pool->count; i++)
        pool->backend->close(pool->all[i].state);
    pthread_cond_destroy(&pool->freed);
    pthread_mutex_destroy(&pool->lock);
    nb_free(pool->all);
    pool->all = NULL;
}

static nb_renderer *take_renderer(nb_pool *pool)
{
    nb_renderer *found = NULL;
    pthread_mutex_lock(&pool->lock);
    while (!found) {
        for (int i = 0; i < pool->count && !found; i++)
            if (!pool->all[i].busy && !pool->all[i].closed)
                found = &pool->all[i];
        if (!found)
            pthread_cond_wait(&pool->freed, &pool->lock);
    }
    found->busy = 1;
    pthread_mutex_unlock(&pool->lock);
    return found;
}

static void give_back(nb_pool *pool, nb_renderer *r)
{
    pthread_mutex_lock(&pool->lock);
    r->busy = 0;
    pthread_cond_signal(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

/** Close a renderer that failed, if its device has another one. */
static int retire(nb_pool *pool, nb_renderer *r)
{
    int others = 0;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->count; i++)
        others += &pool->all[i] != r && pool->all[i].device == r->device &&
                  !pool->all[i].closed;
    r->closed = others > 0;
    pthread_mutex_unlock(&pool->lock);
    if (!r->closed)
        return 0;
    pool->backend->close(r->state);
    r->state = NULL;
    return 1;
}

static nb_status render_with(nb_renderer *r, nb_sim *sim, const nb_rendering *wanted,
                             nb_error *err)
{
    nb_status st;
    sim->engine.options.device_index = r->device;
    sim->engine.state = r->state;
    st = nb_sim_make(sim, wanted, err);
    r->state = sim->engine.state;
    sim->engine.state = NULL;
    nb_photons_forget(&sim->engine.photons); /* the renderer's device has the next frame's */
    return st;
}

nb_status nb_pool_render(nb_pool *pool, nb_sim *sim, const nb_rendering *wanted,
                         nb_error *err)
{
    nb_renderer *r = take_renderer(pool);
    nb_status st = render_with(r, sim, wanted, err);
    while (st == NB_ERR_DEVICE && retire(pool, r)) {
        r = take_renderer(pool);
        st = render_with(r, sim, wanted, err);
    }
    give_back(pool, r);
    return st;
}

/* Each thread makes whole frames: render, noise, compression. The thread that finishes the
 * next frame in order writes it and the following finished ones, while the others continue.
 * At most `window` frames are between the first unwritten and the last begun one, so memory
 * does not grow. */

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct worker {
    nb_run *run;
    nb_frame frame;
    int parts; /* of its frame, in run->parts */
    pthread_t thread;
    int started;
} worker;

/** So much of the frame is made; a second pass over its pixels does not count down. */
static void show_part(worker *w, double fraction)
{
    const int parts = fraction < 1 ? (int)(NB_RUN_PARTS * fraction) : NB_RUN_PARTS;
    if (parts <= w->parts)
        return;
    atomic_fetch_add(&w->run->parts, parts - w->parts);
    w->parts = parts;
}

/** The renderer asks whether to continue. After an error the begun frames are finished. */
static int on_render(void *user, double fraction)
{
    worker *w = user;
    show_part(w, fraction);
    return nb_run_ask(w->run);
}

/** A slot for the next frame to make; NULL: there is none. */
static nb_slot *take(nb_run *run)
{
    nb_slot *slot = NULL;
    pthread_mutex_lock(&run->lock);
    while (!slot && !atomic_load(&run->stop)) {
        int k = run->next < run->written + run->window ? nb_talk_take(run) : -1;
        if (k >= 0) {
            slot = &run->slots[run->next++ % run->window];
            slot->frame = k;
        } else if (run->dealer.over && !run->dealer.left) {
            break;
        } else {
            pthread_cond_wait(&run->moved, &run->lock);
        }
    }
    pthread_mutex_unlock(&run->lock);
    return slot;
}

static int finished_before(const nb_run *run, int k)
{
    return (!run->files.done || run->files.done[k]) &&
           (!run->hdf5.done || run->hdf5.done[k]);
}

/** Give the thread's simulation the record of frame k. */
static nb_status prepare(worker *w, int k, const nb_config *cfg, nb_error *err)
{
    nb_run *run = w->run;
    nb_frame *f = &w->frame;
    const nb_frames *frames = &run->frames;
    const nb_hooks hooks = {w, NULL, on_render};
    nb_status st = NB_OK;
    if (!f->sim)
        st = nb_sim_clone(run->base, &hooks, run->threads_each, &f->sim, err);
    f->inputs = nb_own_inputs(run->base->in.store, cfg, &frames->base);
    if (!st)
        st = nb_frames_give(frames, k, cfg, f->sim, err);
    return st ? st : nb_frames_check(frames, &f->sim->model.geometry, &f->sim->cfg, err);
}

/** The derivatives of the frame whose file has this number, if they are asked for. */
static nb_status write_slopes(nb_sim *sim, int number, nb_error *err)
{
    nb_template name;
    char path[NB_PATH_MAX];
    nb_status st;
    if (!sim->cfg.derivatives[0] || !sim->cfg.deriv_file[0])
        return NB_OK;
    st = nb_template_read(sim->cfg.deriv_file, "-derivfile", &name, err);
    if (!st)
        st = nb_template_name(&name, number, path, err);
    return st ? st : nb_sim_write_slopes(sim, path, err);
}

/** The frame's image of the input. */
static nb_status take_given(const nb_run *run, nb_frame *f, int k, nb_error *err)
{
    nb_status st = nb_given_frame(run->given, k, f->sim, f->image, err);
    return st ? st : nb_sim_statistics(f->sim, f->image, &f->stats, err);
}

static nb_status render(nb_run *run, nb_frame *f, int k, nb_error *err)
{
    nb_frame_wants wants = {0};
    nb_rendering rendering;
    size_t pixels = run->base->model.scene.raster.pixels;
    nb_status st;
    const int sum = run->sum.pixel != NULL;
    if (run->files.done && (sum || !run->files.done[k]))
        nb_frame_want_file(f, run->files.name.format, &wants);
    if (run->hdf5.done && (sum || !run->hdf5.done[k])) {
        nb_frame_want_hdf5(f, run->layout.type, &wants);
        wants.photons |= run->layout.reflections;
    }
    wants.photons |= run->given != NULL;
    st = nb_frame_prepare(f, &wants, pixels, &rendering, err);
    if (!st && run->given)
        return take_given(run, f, k, err);
    if (!st) {
        const nb_times before = f->sim->times;
        st = nb_pool_render(&run->pool, f->sim, &rendering, err);
        f->spent.start += f->sim->times.start - before.start;
        f->spent.render += f->sim->times.render - before.render;
        f->spent.statistics += f->sim->times.statistics - before.statistics;
    }
    return st ? st : write_slopes(f->sim, run->frames.first + k + 1, err);
}

/** The facts of the frame from an earlier run. */
static void recall(const nb_run *run, int k, nb_slot *slot)
{
    int in_hdf5 = run->hdf5.facts && run->hdf5.done[k];
    nb_hdf5_sink_recall(&run->hdf5, k, &slot->truth);
    slot->file_clipped = 0;
    if (!run->files.facts || !run->files.done[k])
        return;
    slot->file_clipped = (int64_t)run->files.facts[k].clipped;
    if (!in_hdf5) {
        slot->truth.facts = run->files.facts[k];
        slot->truth.facts.clipped = 0;
    }
}

/** The facts of the rendered image. */
static void look_at(const nb_stats *stats, nb_hdf5_facts *facts)
{
    facts->max = stats->max;
    facts->max_fast = stats->max_fast;
    facts->max_slow = stats->max_slow;
    facts->sum = stats->sum;
}

/** The frame for HDF5: its pixels, and its reflections on request. */
static nb_status encode(nb_run *run, nb_frame *f, nb_slot *slot, nb_error *err)
{
    nb_reflections list = {0};
    double start;
    nb_status st = nb_frame_encode(f, &run->layout, slot->chunk, &slot->chunk_bytes, err);
    start = nb_monotonic_seconds();
    slot->truth.facts.clipped = (double)f->overloads;
    if (!st && run->layout.reflections)
        st = nb_sim_reflections(f->sim, f->image, &list, err);
    if (run->layout.reflections)
        f->spent.truth += nb_monotonic_seconds() - start;
    for (size_t i = 0; i < list.count; i++)
        list.list[i].frame = slot->frame;
    if (!st)
        st = nb_record_add(slot, &list, err);
    nb_reflections_free(&list);
    return st;
}

/** The frame for the outputs that lack it. */
static nb_status make_outputs(nb_run *run, nb_frame *f, nb_slot *slot, nb_error *err)
{
    const double start = nb_monotonic_seconds(), before = f->spent.noise + f->spent.truth;
    const int k = slot->frame;
    nb_status st = NB_OK;
    if (run->files.done && !run->files.done[k])
        st = nb_file_sink_make(&run->files, f, k, slot, err);
    if (!st && run->hdf5.done && !run->hdf5.done[k])
        st = encode(run, f, slot, err);
    f->spent.write +=
        nb_monotonic_seconds() - start - (f->spent.noise + f->spent.truth - before);
    return st;
}

static nb_status make(worker *w, nb_slot *slot, nb_error *err)
{
    nb_run *run = w->run;
    nb_frame *f = &w->frame;
    const double start = nb_monotonic_seconds();
    nb_config cfg;
    int k = slot->frame;
    nb_status st = nb_frames_config(&run->frames, k, &cfg, err);
    slot->kept = finished_before(run, k);
    if (st || (st = prepare(w, k, &cfg, err)))
        return nb_frames_at(&run->frames, k, st, err);
    f->spent.scene += nb_monotonic_seconds() - start;
    slot->inputs = f->inputs;
    slot->truth = nb_frame_truth(f);
    if (run->given)
        nb_frame_forget_crystal(&slot->truth); /* of a given image */
    recall(run, k, slot);
    if (slot->kept && !run->sum.pixel)
        return NB_OK;
    st = render(run, f, k, err);
    if (!slot->kept)
        look_at(&f->stats, &slot->truth.facts);
    if (!st && !slot->kept)
        st = make_outputs(run, f, slot, err);
    if (!st && run->sum.pixel)
        st = nb_frame_sum(f, run->hdf5.done ? NULL : run->files.name.format,
                          run->layout.type, &run->sum, err);
    if (!st)
        show_part(w, 1);
    w->parts = 0; /* run->parts keeps those of the frame until it is written */
    return st;
}

/** Book the times of a frame.  With the lock held. */
static void add_times(nb_times *to, nb_times *spent)
{
    to->scene += spent->scene;
    to->start += spent->start;
    to->render += spent->render;
    to->statistics += spent->statistics;
    to->noise += spent->noise;
    to->write += spent->write;
    to->truth += spent->truth;
    *spent = (nb_times){0};
}

static nb_status commit(nb_run *run, nb_slot *slot, nb_error *err)
{
    nb_finished f = {slot->frame,        slot->kept,   0,          slot->file_hash,
                     slot->file_clipped, slot->inputs, slot->truth};
    nb_status st = NB_OK;
    if (!slot->kept)
        f.bytes = (int64_t)slot->chunk_bytes + slot->file_bytes;
    if (run->hdf5.done)
        st = nb_hdf5_sink_commit(&run->hdf5, slot->frame, slot, err);
    return st ? st : nb_talk_finished(run, &f, err);
}

/** Write what is ready, in order.  Called and left with the lock held. */
static void drain(nb_run *run)
{
    nb_slot *slot = &run->slots[run->written % run->window];
    run->draining = 1;
    while (slot->ready) {
        nb_error err = {0};
        nb_status st;
        double start;
        pthread_mutex_unlock(&run->lock);
        start = nb_monotonic_seconds();
        st = commit(run, slot, &err);
        start = nb_monotonic_seconds() - start;
        if (!slot->kept)
            atomic_fetch_sub(&run->parts, NB_RUN_PARTS);
        pthread_mutex_lock(&run->lock);
        run->progress.times.write += start;
        if (st) {
            nb_run_stop_with(run, slot->frame, st, &err);
            break;
        }
        slot->ready = 0;
        slot = &run->slots[++run->written % run->window];
        pthread_cond_broadcast(&run->moved);
        if (nb_run_report(run)) {
            nb_run_cancel(run);
            pthread_cond_broadcast(&run->moved);
        }
    }
    run->draining = 0;
}

static void *work(void *user)
{
    worker *w = user;
    nb_run *run = w->run;
    nb_slot *slot;
    NB_IN_C_LOCALE;
#ifdef _OPENMP
    omp_set_num_threads(run->threads_each); /* of this thread's loops */
#endif
    while ((slot = take(run)) != NULL) {
        nb_error err = {0};
        nb_status st = make(w, slot, &err);
        pthread_mutex_lock(&run->lock);
        add_times(&run->progress.times, &w->frame.spent);
        if (st)
            nb_run_stop_with(run, slot->frame, st, &err);
        else
            slot->ready = 1;
        if (!run->draining)
            drain(run);
        pthread_mutex_unlock(&run->lock);
    }
    nb_frame_free(&w->frame);
    atomic_fetch_sub(&run->working, 1);
    return NULL;
}

nb_status nb_threads_run(nb_run *run, nb_error *err)
{
    worker *workers = nb_alloc((size_t)run->threads, sizeof *workers, "threads", err);
    int started = 0;
    if (!workers)
        return NB_ERR_NOMEM;
    for (int i = 0; i < run->threads; i++) {
        workers[i].run = run;
        atomic_fetch_add(&run->working, 1);
        workers[i].started = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        started += workers[i].started;
        if (!workers[i].started)
            atomic_fetch_sub(&run->working, 1);
    }
    nb_talk_while_working(run);
    for (int i = 0; i < run->threads; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    nb_free(workers);
    return started ? NB_OK : nb_fail(err, NB_ERR_NOMEM, "no thread could be started");
}
