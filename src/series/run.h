/* SPDX-License-Identifier: MIT */
/** A running series: threads that make frames, and what they share. */
#ifndef NB_SERIES_RUN_H
#define NB_SERIES_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "frames.h"
#include "lanes.h"
#include "sinks.h"

typedef struct nb_run {
    const nb_series *series;
    nb_hooks hooks; /* the caller's */
    nb_sim *base;   /* owned; loaded files, configuration of the whole */
    nb_frames frames;
    nb_lanes lanes;
    nb_hdf5_layout layout;
    nb_file_sink files;   /* when series->output */
    nb_hdf5_sink hdf5;    /* when series->hdf5_file */
    nb_hdf5_frame *truth; /* owned; [frames] */
    int threads, threads_each;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved; /* a frame was written, or stop */
    nb_slot *slots;       /* owned; frame k is in k % window */
    int window, next, written, draining;
    nb_series_progress progress;
    double start;
    nb_status status;
    nb_error error;
    int error_frame;

    atomic_int stop;           /* begin no more frames */
    atomic_int cancel;         /* the caller wants to stop: leave frames unfinished */
    atomic_int committed;      /* as written */
    pthread_mutex_t hook_lock; /* one call of the caller's hooks at a time */
} nb_run;

/** Make and write every frame; returns the first error.  Everything but the threads' own is
 * set up. */
nb_status nb_run_frames(nb_run *run, nb_error *err);

#endif
