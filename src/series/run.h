/* SPDX-License-Identifier: MIT */
/** A running series: what its threads share.  threads.c makes frames, talk.c speaks with other
 * processes; both use run.c, which uses neither. */
#ifndef NB_SERIES_RUN_H
#define NB_SERIES_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "talk.h"
#include "experiments.h"
#include "frames.h"
#include "given.h"
#include "pool.h"
#include "sinks.h"
#include "spool.h"

typedef struct nb_run {
    const nb_series *series;
    nb_hooks hooks;  /* the caller's */
    nb_ranks *ranks; /* the caller's; NULL: this process is alone */
    nb_sim *base;    /* owned; loaded files, configuration of the whole */
    nb_frames frames;
    nb_given *given; /* owned; images instead of rendered ones, or NULL */
    nb_pool pool;
    nb_hdf5_layout layout;
    nb_file_sink files; /* when series->output */
    nb_hdf5_sink hdf5;  /* when series->hdf5_file */
    nb_spool truth;     /* for the master, and -exptout */
    nb_sum sum;         /* of -sumfile */
    nb_experiments experiments;
    int threads, threads_each;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved; /* a frame was written, new frames can be made, or stop */
    nb_dealer dealer;
    nb_talk talk;
    uint8_t *finished; /* owned; [frames], of all processes in rank 0 */
    nb_slot *slots;    /* owned; the nth frame that this process makes is in n % window */
    int window, next, written, draining;
    nb_series_progress progress;
    double start;
    nb_status status;
    nb_error error;
    int error_frame;

    atomic_int stop;      /* begin no more frames */
    atomic_int cancel;    /* the caller wants to stop: leave frames unfinished */
    atomic_int committed; /* frames that are finished */
    atomic_int parts; /* NB_RUN_PARTS each: of frames in work, and of made ones that wait for their turn */
    atomic_int working;        /* threads that make frames */
    pthread_mutex_t hook_lock; /* one call of the caller's hooks at a time */
    pthread_mutex_t book_lock; /* of the record of files, and of truth */
} nb_run;

#define NB_RUN_PARTS 1024

/** The result of the series, after all processes have ended. */
nb_status nb_run_outcome(const nb_run *run, nb_error *err);

/** Begin no more frames because of this error. Of several errors that of the first frame is
 * kept. With the lock held. */
void nb_run_stop_with(nb_run *run, int frame, nb_status st, const nb_error *err);
/** Begin no more frames, and leave the begun ones unfinished. */
void nb_run_cancel(nb_run *run);

/** Call the caller's hooks, which may request a stop. nb_run_ask: from any thread; does
 * nothing while another thread asks. nb_run_report: reports progress, with the lock held. */
int nb_run_ask(nb_run *run);
int nb_run_report(nb_run *run);

/** Rank 0's record of a finished frame, on disk.  Without the lock. */
nb_status nb_run_record(nb_run *run, const nb_finished *frame, nb_error *err);
/** Count a finished frame into the progress.  With the lock held. */
void nb_run_count(nb_run *run, const nb_finished *frame);

#endif
