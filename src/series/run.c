/* SPDX-License-Identifier: MIT */
/* The state that the threads of a series share: its end and its progress. */
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
    if (!run->series->calls.progress)
        return 0;
    pthread_mutex_lock(&run->hook_lock);
    stop = run->series->calls.progress(run->series->calls.user, &run->progress);
    pthread_mutex_unlock(&run->hook_lock);
    return stop;
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

void nb_run_count(nb_run *run, const nb_slot *slot)
{
    nb_series_progress *p = &run->progress;
    const int frame = run->frames.first + slot->frame; /* in the whole series */
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
    if (from->most > to->most || (from->most == to->most && from->worst < to->worst)) {
        to->most = from->most;
        to->worst = from->worst;
    }
    to->pixels += from->pixels;
    to->frames += from->frames;
}
