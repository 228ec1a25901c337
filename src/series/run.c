/* SPDX-License-Identifier: MIT */
/* The state that threads and processes of a series share: its end, its books, its progress. */
#include "run.h"

#include "../base/error.h"

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

void nb_run_cancel(nb_run *run)
{
    atomic_store(&run->cancel, 1);
    atomic_store(&run->stop, 1);
}

/** Of all frames, with what is rendered of those that are being made. */
static double fraction_of(nb_run *run)
{
    const double parts = (double)atomic_load(&run->parts) / NB_RUN_PARTS;
    const double done = (atomic_load(&run->committed) + parts) / run->frames.count;
    return done < 1 ? done : 1;
}

int nb_run_ask(nb_run *run)
{
    int stop = atomic_load(&run->cancel);
    if (stop || !run->hooks.progress || pthread_mutex_trylock(&run->hook_lock) != 0)
        return stop;
    stop = run->hooks.progress(run->hooks.user, fraction_of(run));
    if (stop)
        nb_run_cancel(run);
    pthread_mutex_unlock(&run->hook_lock);
    return stop;
}

int nb_run_report(nb_run *run)
{
    int stop = 0;
    if (!run->series->progress)
        return 0;
    pthread_mutex_lock(&run->hook_lock);
    stop = run->series->progress(run->series->user, &run->progress);
    pthread_mutex_unlock(&run->hook_lock);
    return stop;
}

nb_status nb_run_record(nb_run *run, const nb_finished *f, nb_error *err)
{
    nb_status st = NB_OK;
    pthread_mutex_lock(&run->book_lock);
    if (run->files.done)
        st = nb_file_sink_commit(&run->files, f, err);
    if (!st && run->truth.fd >= 0)
        st = nb_spool_put(&run->truth, f->frame, &f->truth, err);
    pthread_mutex_unlock(&run->book_lock);
    return st;
}

/** frame: in the whole series. */
static void add_clipped(nb_clipped *c, int frame, int64_t pixels)
{
    c->pixels += pixels;
    c->frames += pixels > 0;
    if (pixels > c->most || (pixels > 0 && pixels == c->most && frame < c->worst)) {
        c->most = pixels;
        c->worst = frame;
    }
}

/** Facts of the frames, in any order. */
static void add_facts(nb_run *run, const nb_finished *f)
{
    nb_series_progress *p = &run->progress;
    const nb_hdf5_facts *facts = &f->truth.facts;
    const int frame = run->frames.first + f->frame; /* in the whole series */
    add_clipped(&p->clipped_output, frame, f->file_clipped);
    add_clipped(&p->clipped_hdf5, frame, (int64_t)facts->clipped);
    if (facts->max < p->max || (facts->max == p->max && frame > p->max_frame))
        return;
    p->max = facts->max;
    p->max_frame = frame;
    p->max_fast = (int)facts->max_fast;
    p->max_slow = (int)facts->max_slow;
}

void nb_run_count(nb_run *run, const nb_finished *f)
{
    add_facts(run, f);
    run->finished[f->frame] = 1;
    run->progress.done++;
    run->progress.kept += f->kept;
    run->progress.bytes += f->bytes;
    run->progress.seconds = nb_monotonic_seconds() - run->start;
    atomic_store(&run->committed, run->progress.done);
}

nb_status nb_run_outcome(const nb_run *run, nb_error *err)
{
    if (run->status && err)
        *err = run->error;
    if (run->status && run->status != NB_ERR_CANCELLED)
        return run->status;
    if (nb_ranks_rank(run->ranks) == 0 ? run->progress.done < run->frames.count
                                       : atomic_load(&run->stop))
        return nb_fail(err, NB_ERR_CANCELLED,
                       run->given
                           ? "interrupted after %d of %d frames; no HDF5 is written"
                           : "interrupted: %d of %d frames are finished; type the "
                             "same flags and -resume to continue",
                       run->progress.done, run->frames.count);
    return NB_OK;
}
