/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../sim/derive.h"
#include "../outputs/write.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* --- stop and progress of the threads --- */

void nb_run_stop_with(nb_run *run, int frame, nb_status st, const nb_error *err)
{
    if (!run->status || frame < run->error_frame) {
        run->status = st;
        run->error = *err;
        run->error_frame = frame;
    }
    atomic_store(&run->stop, 1);
    pthread_cond_broadcast(&run->moved);
}

/** Begin no more frames, and leave the begun ones unfinished. */
static void cancel(nb_run *run)
{
    atomic_store(&run->cancel, 1);
    atomic_store(&run->stop, 1);
}

/** Finished fraction of all frames, including the finished parts of frames that are being
 * made. */
static double fraction_of(nb_run *run)
{
    const double parts = (double)atomic_load(&run->parts) / NB_RUN_PARTS;
    const double done = (atomic_load(&run->committed) + parts) / run->frames.count;
    return done < 1 ? done : 1;
}

/** Ask the caller's hooks whether to stop, unless another thread is asking. */
static int ask(nb_run *run)
{
    int stop = atomic_load(&run->cancel);
    if (stop || !run->hooks.progress || pthread_mutex_trylock(&run->hook_lock) != 0)
        return stop;
    stop = run->hooks.progress(run->hooks.user, fraction_of(run));
    if (stop)
        cancel(run);
    pthread_mutex_unlock(&run->hook_lock);
    return stop;
}

/** Report progress, with the lock held; the caller may ask for a stop. */
static int report(nb_run *run)
{
    int stop = 0;
    if (!run->series->calls.progress)
        return 0;
    pthread_mutex_lock(&run->hook_lock);
    stop = run->series->calls.progress(run->series->calls.user, &run->progress);
    pthread_mutex_unlock(&run->hook_lock);
    return stop;
}

/** Add clipped pixels of a frame; frame: number in the whole series. */
static void add_clipped(nb_clipped *c, int frame, int64_t pixels)
{
    c->pixels += pixels;
    c->frames += pixels > 0;
    if (pixels > c->max || (pixels > 0 && pixels == c->max && frame < c->worst)) {
        c->max = pixels;
        c->worst = frame;
    }
}

static void add_brightest(nb_series_progress *p, int frame, double max, int fast, int slow)
{
    if (max < p->max || (max == p->max && frame > p->max_frame))
        return;
    p->max = max;
    p->max_frame = frame;
    p->max_fast = fast;
    p->max_slow = slow;
}

void nb_run_add_facts(nb_series_progress *p, int frame, const nb_hdf5_facts *facts)
{
    add_clipped(&p->clipped_hdf5, frame, (int64_t)facts->clipped);
    add_brightest(p, frame, facts->max, (int)facts->max_fast, (int)facts->max_slow);
}

/** Count a written frame in the progress; the caller holds the lock. */
static void count(nb_run *run, const nb_slot *slot)
{
    nb_series_progress *p = &run->progress;
    const int frame = run->frames.first + slot->frame; /* number in the whole series */
    if (slot->block) {
        add_clipped(&p->clipped_output, frame, slot->file_clipped);
        p->done++;
        p->bytes += (int64_t)slot->chunk_bytes + slot->file_bytes;
    }
    nb_run_add_facts(p, frame, &slot->truth.facts);
    p->seconds = nb_monotonic_seconds() - run->start;
    atomic_store(&run->committed, p->done);
}

void nb_run_add_progress(nb_series_progress *p, const nb_series_progress *o)
{
    nb_clipped *to = &p->clipped_output;
    const nb_clipped *from = &o->clipped_output;
    p->bytes += o->bytes;
    add_brightest(p, o->max_frame, o->max, o->max_fast, o->max_slow);
    if (from->max > to->max || (from->max == to->max && from->worst < to->worst)) {
        to->max = from->max;
        to->worst = from->worst;
    }
    to->pixels += from->pixels;
    to->frames += from->frames;
}

/* --- frames --- */

/* Each thread makes whole frames: render, noise, compression. Frames are written in
 * order. The thread that finishes the next frame writes it and the finished frames after
 * it, while the other threads continue. From the first unwritten to the last begun frame
 * there are no more than `window` frames, so memory does not grow. */

typedef struct worker {
    nb_run *run;
    nb_frame frame;
    int parts; /* finished parts of the frame, included in run->parts */
    pthread_t thread;
    int started;
} worker;

/** Report the finished fraction of the frame. If the frame is rendered twice, the
 * fraction does not fall. */
static void show_part(worker *w, double fraction)
{
    const int parts = fraction < 1 ? (int)(NB_RUN_PARTS * fraction) : NB_RUN_PARTS;
    if (parts <= w->parts)
        return;
    atomic_fetch_add(&w->run->parts, parts - w->parts);
    w->parts = parts;
}

/** Report progress; 1 stops the renderer. After an error, begun frames are finished. */
static int on_render(void *user, double fraction)
{
    worker *w = user;
    show_part(w, fraction);
    return ask(w->run);
}

/** Take a slot for the next frame to make, or NULL if no frame is left. */
static nb_slot *take(nb_run *run)
{
    nb_error err = {0};
    nb_slot *slot = NULL;
    nb_status st = NB_OK;
    pthread_mutex_lock(&run->lock);
    while (!atomic_load(&run->stop) && run->next >= run->written + run->window)
        pthread_cond_wait(&run->moved, &run->lock);
    if (!atomic_load(&run->stop)) {
        slot = &run->slots[run->next % run->window];
        st = nb_work_take(&run->work, slot, &err);
        if (st)
            nb_run_stop_with(run, run->frames.count, st, &err);
        if (st || slot->frame < 0)
            slot = NULL;
        else
            run->next++;
    }
    pthread_mutex_unlock(&run->lock);
    return slot;
}

/** Set the simulation of the thread to frame k. */
static nb_status prepare(worker *w, int k, nb_error *err)
{
    nb_run *run = w->run;
    nb_frame *f = &w->frame;
    const nb_frames *frames = &run->frames;
    const nb_hooks hooks = {w, NULL, on_render};
    nb_status st = NB_OK;
    if (!f->sim)
        st = nb_sim_clone(run->base, &hooks, run->threads_each, &f->sim, err);
    NB_TRY(nb_frames_give(frames, k, f->sim, err));
    return st ? st : nb_frames_check(frames, &f->sim->model.geometry, &f->sim->cfg, err);
}

/** Write the derivatives of the frame with this file number, if a flag asks for them. */
static nb_status write_slopes(nb_sim *sim, int number, nb_error *err)
{
    nb_template name;
    char path[NB_PATH_MAX];
    nb_status st;
    if (!sim->cfg.derivatives[0] || !sim->cfg.deriv_file[0])
        return NB_OK;
    st = nb_template_read(sim->cfg.deriv_file, "-derivfile", &name, err);
    NB_TRY(nb_template_name(&name, number, path, err));
    return st ? st : nb_sim_write_slopes(sim, path, err);
}

/** Take the image of frame k from the input. */
static nb_status take_given(const nb_run *run, nb_frame *f, int k, nb_error *err)
{
    nb_status st = nb_stored_frame(run->stored, k, f->sim, f->image, err);
    return st ? st : nb_sim_statistics(f->sim, f->image, &f->stats, err);
}

static nb_status render(nb_run *run, nb_frame *f, const nb_slot *slot, nb_error *err)
{
    nb_frame_wants wants = {0};
    nb_rendering rendering;
    size_t pixels = run->base->model.scene.raster.pixels;
    nb_status st;
    const int sum = run->sum.pixel != NULL, k = slot->frame;
    if (slot->to_file || (sum && !run->work.stem[0]))
        nb_frame_want(f, run->work.name.format, 0, &wants);
    if (slot->to_hdf5 || (sum && run->work.stem[0])) {
        nb_frame_want(f, NULL, run->layout.type, &wants);
        wants.photons |= run->layout.reflections;
    }
    wants.photons |= run->stored != NULL;
    st = nb_frame_prepare(f, &wants, pixels, &rendering, err);
    if (!st && run->stored)
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

/** Make the frame for HDF5: pixels, and reflections if the layout has them. */
static nb_status encode(nb_run *run, nb_frame *f, nb_slot *slot, nb_error *err)
{
    nb_reflections *list = &slot->list;
    double start;
    nb_status st = nb_frame_encode(f, &run->layout, slot->chunk, &slot->chunk_bytes, err);
    start = nb_monotonic_seconds();
    slot->truth.facts.clipped = (double)f->overloads;
    if (st || !run->layout.reflections)
        return st;
    st = nb_sim_reflections(f->sim, f->image, list, err);
    for (size_t i = 0; i < list->count; i++)
        list->list[i].frame = slot->frame;
    slot->truth.list = (nb_hdf5_list){(int64_t)list->count, list->background,
                                      list->unassigned, list->diffuse, list->off_panels};
    f->spent.truth += nb_monotonic_seconds() - start;
    return st;
}

/** Write the numbered file. */
static nb_status write_file(const nb_run *run, nb_frame *f, nb_slot *slot, nb_error *err)
{
    const nb_template *t = &run->work.name;
    char name[NB_PATH_MAX];
    struct stat file;
    nb_status st = nb_template_name(t, slot->frame + 1, name, err);
    NB_TRY(nb_frame_write(f, t->format, name, err));
    slot->file_clipped = f->overloads;
    slot->file_bytes = !st && stat(name, &file) == 0 ? (int64_t)file.st_size : 0;
    return st;
}

/** Make the outputs that lack the frame. */
static nb_status make_outputs(nb_run *run, nb_frame *f, nb_slot *slot, nb_error *err)
{
    const double start = nb_monotonic_seconds(), before = f->spent.noise + f->spent.truth;
    nb_status st = NB_OK;
    if (slot->to_file)
        st = write_file(run, f, slot, err);
    if (!st && slot->to_hdf5)
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
    const int k = slot->frame;
    nb_status st;
    slot->file_bytes = slot->file_clipped = 0;
    slot->chunk_bytes = 0;
    if ((st = prepare(w, k, err)))
        return nb_frames_at(&run->frames, k, st, err);
    f->spent.scene += nb_monotonic_seconds() - start;
    slot->truth = nb_stored_truth(run->stored, k, f->sim);
    st = render(run, f, slot, err);
    slot->truth.facts = (nb_hdf5_facts){0, f->stats.max, f->stats.max_fast,
                                        f->stats.max_slow, f->stats.sum};
    NB_TRY(make_outputs(run, f, slot, err));
    if (!st && run->sum.pixel)
        st = nb_frame_sum(f, run->work.stem[0] ? NULL : run->work.name.format,
                          run->layout.type, &run->sum, err);
    if (!st)
        show_part(w, 1);
    w->parts = 0; /* run->parts keeps the parts of the frame until the frame is written */
    return st;
}

/** Add up the times of a frame; the caller holds the lock. */
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

/** Write the next frame. *full: the frame's block if it is now complete, or NULL. */
static nb_status commit(nb_run *run, nb_slot *slot, nb_block **full, nb_error *err)
{
    const nb_status st = nb_work_add(&run->work, slot, full, err);
    nb_reflections_free(&slot->list);
    return st ? st : nb_work_end_old(&run->work, err);
}

/** Write finished frames up to the end of a block. Returns the block if it is complete,
 * or NULL. The caller holds the lock. */
static nb_block *drain(nb_run *run)
{
    nb_slot *slot = &run->slots[run->written % run->window];
    nb_block *full = NULL;
    run->draining = 1;
    while (slot->ready && !full) {
        nb_error err = {0};
        nb_status st;
        double start;
        pthread_mutex_unlock(&run->lock);
        start = nb_monotonic_seconds();
        st = commit(run, slot, &full, &err);
        start = nb_monotonic_seconds() - start;
        atomic_fetch_sub(&run->parts, NB_RUN_PARTS);
        pthread_mutex_lock(&run->lock);
        run->progress.times.write += start;
        if (st) {
            run->unwritable = 1;
            nb_run_stop_with(run, slot->frame, st, &err);
            break;
        }
        count(run, slot);
        slot->ready = 0;
        slot = &run->slots[++run->written % run->window];
        pthread_cond_broadcast(&run->moved);
        if (report(run)) {
            cancel(run);
            pthread_cond_broadcast(&run->moved);
        }
    }
    run->draining = 0;
    return full;
}

/** Close the file of a complete block while other threads write. The caller holds the
 * lock. */
static void close_block(nb_run *run, nb_block *full)
{
    const double start = nb_monotonic_seconds();
    nb_error err = {0};
    nb_status st;
    pthread_mutex_unlock(&run->lock);
    st = nb_block_end(full, &err);
    pthread_mutex_lock(&run->lock);
    run->progress.times.write += nb_monotonic_seconds() - start;
    if (st)
        nb_run_stop_with(run, full->first, st, &err);
    else
        run->work.whole[full->number] = !full->lost;
    full->number = -1;
}

/** Write the finished frames, unless another thread does. The caller holds the lock. */
static void write_ready(nb_run *run)
{
    nb_block *full;
    while (!run->draining && !run->unwritable && (full = drain(run)))
        close_block(run, full);
}

static void *work(void *user)
{
    worker *w = user;
    nb_run *run = w->run;
    nb_slot *slot;
    NB_IN_C_LOCALE;
#ifdef _OPENMP
    /* number of threads for loops of this thread */
    omp_set_num_threads(run->threads_each);
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
        write_ready(run);
        pthread_mutex_unlock(&run->lock);
    }
    nb_frame_free(&w->frame);
    pthread_mutex_lock(&run->lock);
    if (--run->working == 0)
        pthread_cond_signal(&run->ended);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/** While threads work, watch -time_limit and data files that have been open for long. */
static void watch(nb_run *run)
{
    enum { TICK_NS = 100000000, SECOND_NS = 1000000000 };
    const double limit = run->series->time_limit_s;
    struct timespec next;
    nb_error err = {0};
    nb_status st;
    pthread_mutex_lock(&run->lock);
    while (run->working > 0) {
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec += (next.tv_nsec + TICK_NS) / SECOND_NS;
        next.tv_nsec = (next.tv_nsec + TICK_NS) % SECOND_NS;
        pthread_cond_timedwait(&run->ended, &run->lock, &next);
        if (limit > 0 && nb_monotonic_seconds() - run->start > limit &&
            !atomic_exchange(&run->late, 1)) {
            cancel(run);
            pthread_cond_broadcast(&run->moved);
        }
        if (run->draining || run->unwritable)
            continue;
        run->draining = 1;
        pthread_mutex_unlock(&run->lock);
        st = nb_work_end_old(&run->work, &err);
        pthread_mutex_lock(&run->lock);
        run->draining = 0;
        run->unwritable |= st != NB_OK;
        if (st)
            nb_run_stop_with(run, run->frames.count, st, &err);
        write_ready(run);
    }
    pthread_mutex_unlock(&run->lock);
}

nb_status nb_threads_run(nb_run *run, nb_error *err)
{
    worker *workers = nb_alloc((size_t)run->threads, sizeof *workers, "threads", err);
    int started = 0;
    if (!workers)
        return NB_ERR_NOMEM;
    for (int i = 0; i < run->threads; i++) {
        workers[i].run = run;
        workers[i].started = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        started += workers[i].started;
    }
    pthread_mutex_lock(&run->lock);
    run->working += started;
    pthread_mutex_unlock(&run->lock);
    watch(run);
    for (int i = 0; i < run->threads; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    nb_free(workers);
    return started ? NB_OK : nb_fail(err, NB_ERR_NOMEM, "no thread could be started");
}
