/* SPDX-License-Identifier: MIT */
/** A running series: what its threads share. */
#ifndef NB_SERIES_RUN_H
#define NB_SERIES_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "work.h"
#include "experiments.h"
#include "frames.h"
#include "given.h"
#include "pool.h"
#include "ranks.h"
#include "sum.h"
#include "truths.h"

typedef struct nb_run {
    const nb_series *series;
    nb_hooks hooks;  /* the caller's */
    nb_ranks *ranks; /* the caller's; NULL: this process is alone */
    nb_sim *base;    /* owned; loaded files, configuration of the whole */
    nb_frames frames;
    nb_given *given; /* owned; images instead of rendered ones, or NULL */
    nb_pool pool;
    nb_hdf5_layout layout;
    nb_begun begun;   /* of rank 0 */
    nb_work work;     /* under the lock while threads take frames */
    nb_truths truths; /* of all frames, after the last one */
    nb_sum sum;       /* of -sumfile */
    nb_experiments experiments;
    int threads, threads_each;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved; /* a frame was written, or stop */
    pthread_cond_t ended; /* the last thread has ended */
    int working;          /* threads that make frames */
    nb_slot *slots; /* owned; the nth frame that this process makes is in n % window */
    int window, next, written, draining;
    int unwritable; /* a frame could not be written */
    nb_series_progress progress;
    double start;
    nb_status status;
    nb_error error;
    int error_frame;

    atomic_int stop;      /* begin no more frames */
    atomic_int cancel;    /* the caller wants to stop: leave frames unfinished */
    atomic_int late;      /* -time_limit does */
    atomic_int committed; /* frames that are finished */
    atomic_int parts; /* NB_RUN_PARTS each: of frames in work, and of made ones that wait for their turn */
    pthread_mutex_t hook_lock; /* one call of the caller's hooks at a time */
} nb_run;

#define NB_RUN_PARTS 1024

/** Begin no more frames because of this error. Of several errors that of the first frame is
 * kept. With the lock held. */
void nb_run_stop_with(nb_run *run, int frame, nb_status st, const nb_error *err);
/** Begin no more frames, and leave the begun ones unfinished. */
void nb_run_cancel(nb_run *run);

/** Call the caller's hooks, which may request a stop. nb_run_ask: from any thread; does
 * nothing while another thread asks. nb_run_report: reports progress, with the lock held. */
int nb_run_ask(nb_run *run);
int nb_run_report(nb_run *run);

/** Count a written frame into the progress.  With the lock held. */
void nb_run_count(nb_run *run, const nb_slot *slot);
/** Count what the HDF5 file of a frame says; frame: in this run. */
void nb_run_add_facts(nb_series_progress *p, int frame, const nb_hdf5_facts *facts);
/** Add the progress of another process, but for its frames. */
void nb_run_add_progress(nb_series_progress *p, const nb_series_progress *other);

#endif
