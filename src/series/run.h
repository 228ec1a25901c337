/* SPDX-License-Identifier: MIT */
/** A running series. */
#ifndef NB_SERIES_RUN_H
#define NB_SERIES_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "../base/outfile.h"
#include "../nanobragg.h"
#include "../sim/pool.h"
#include "../sim/sim.h"
#include "frame.h"
#include "frames.h"
#include "work.h"

/* --- the processes that mpirun started for a series --- */
/* Every function takes NULL for a single process: rank 0 of 1.  All calls are from the thread that joined. */

/** Which process this is, of how many; the same on this host. */
typedef struct nb_place {
    int rank, count, local_rank, local_count;
} nb_place;
nb_place nb_ranks_place(const nb_ranks *ranks);

/* --- all processes call these, in the same order --- */

/** Rank 0's bytes for all. */
void nb_ranks_share(nb_ranks *ranks, void *data, size_t bytes);
/** `bytes` of each rank into all[count][bytes], for all; it waits for them. */
void nb_ranks_gather(nb_ranks *ranks, const void *mine, size_t bytes, void *all);
/* nb_ranks_agree of nanobragg/series.h is one of them. */

/** This process has failed: nb_ranks_leave ends all, after the error has been printed. */
void nb_ranks_fail(nb_ranks *ranks);

/* --- images that are given in the place of rendered ones: nb_series.input --- */

typedef struct nb_given {
    int hdf5; /* frames of an HDF5 file; else the files of numbers 0 on, or one */
    nb_template files; /* their names */
    int first;         /* frame in the HDF5 file */
    int frames;        /* at least 1 */
    int size[2];       /* of headerless images, fast and slow */
    nb_series series;  /* the caller's, with the number of frames */
    nb_config cfg; /* owned; the caller's, completed; without crystal, in double precision */
    nb_image image;  /* owned; a single one, read with its header; else none */
    nb_config plain; /* for readers, whose header nobody wants */
    struct nb_hdf5_reader *reader; /* owned; of an input in HDF5 */
    float *background; /* owned; [pixels of the stack], photons; may be NULL */
} nb_given;

/** Look at series->input: how many frames, and the geometry of the first.  Notes go to hooks.  Free *given
 * with nb_given_free, on errors too.  Errors: as nb_series_run says. */
nb_status nb_given_open(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_given **given, nb_error *err);

/** Mask the pixels that the first image leaves out, and render the background of cfg once.  base: the simulation
 * of given->cfg. */
nb_status nb_given_prepare(nb_given *given, nb_sim *base, nb_error *err);

/** The photons of frame k with the background, into image[pixels of the stack]; 0 in pixels that sim does
 * not render.  From any thread.  Errors: NB_ERR_INPUT (damaged, another size, a pixel that is not
 * finite), NB_ERR_NOMEM. */
nb_status nb_given_frame(const nb_given *given, int k, const nb_sim *sim, float *image,
                         nb_error *err);

void nb_given_free(nb_given *given); /* NULL is fine */

/* --- what the threads share --- */

typedef struct nb_experiments {
    int wanted; /* by this process */
    nb_outfile file;
    nb_detector_spec detector; /* owned; of the base */
} nb_experiments;

typedef struct nb_truths {
    nb_pieces pieces;    /* owned; of HDF5 */
    nb_sim *sim;         /* owned; to calculate without HDF5 */
    nb_hdf5_frame *rows; /* owned, [n] of [room]: the window */
    int first, n, room;
} nb_truths;

typedef struct nb_run {
    const nb_series *series;
    nb_hooks hooks;  /* the caller's */
    nb_ranks *ranks; /* the caller's; NULL: this process is alone */
    nb_place place;  /* of this process */
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

enum { NB_RUN_PARTS = 1024 };

/** Begin no more frames because of this error. Of several errors that of the first frame is
 * kept. With the lock held while threads run. */
void nb_run_stop_with(nb_run *run, int frame, nb_status st, const nb_error *err);
/** Count what the HDF5 file of a frame says; frame: in this run. */
void nb_run_add_facts(nb_series_progress *p, int frame, const nb_hdf5_facts *facts);
/** Add the progress of another process, but for its frames. */
void nb_run_add_progress(nb_series_progress *p, const nb_series_progress *other);

/** Make and write the frames of this process. Everything except the threads' own data must
 * be set up. Errors: NB_ERR_NOMEM if no thread could be started; errors of frames are in
 * run->status. */
nb_status nb_threads_run(nb_run *run, nb_error *err);

/** The fingerprint of the series, that of rank 0 for all. earlier: that of the run to
 * resume, 0 for none. Every process calls it. NB_ERR_INPUT: the input files of a process
 * differ from those of rank 0, or the earlier run had another renderer. */
nb_status nb_earlier_fingerprint(nb_run *run, uint64_t earlier, uint64_t *fingerprint,
                                 nb_error *err);

/* --- the true values of all frames, for the master and -exptout --- */

/** Read frames first..first+count-1; user: the nb_run. Errors: NB_ERR_NOMEM, NB_ERR_IO, NB_ERR_INPUT (a data file). */
nb_status nb_truths_get(void *user, int first, int count, nb_hdf5_frame *out,
                        nb_error *err);
void nb_truths_free(nb_truths *t); /* zeroed is fine */

/* --- -exptout of a series of stills --- */

/** Rank 0: open the file.  Errors: NB_ERR_IO, those of nb_sim_detector_spec. */
nb_status nb_experiments_open(nb_run *run, nb_error *err);
/** Write it, whole, if it is open.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_experiments_write(nb_run *run, nb_error *err);
/** Zeroed, open or written; an older file of this name stays if it was not written. */
void nb_experiments_close(nb_experiments *e);

/* --- the master file over the data files --- */

/** Write the master of the frames of run->truths.pieces. Errors: NB_ERR_NOMEM, NB_ERR_IO. */
nb_status nb_master_write(nb_run *run, nb_error *err);

/** The crystals of the first frames, where a frame may have another number than one; zeroed before, freed by the caller, after
 * an error too.  Errors: NB_ERR_NOMEM, those of nb_frames_crystal. */
nb_status nb_master_crystals(const nb_run *run, int frames, nb_hdf5_crystals *all,
                             nb_error *err);
void nb_master_crystals_free(nb_hdf5_crystals *all);

/* --- -streamout: a chunk for each frame --- */

/** Before the first frame: can the frames be a stream's?  Errors: NB_ERR_INPUT (a rotation, a crystal whose files are not
 * loaded here), those of nb_master_crystals. */
nb_status nb_run_stream_check(const nb_run *run, nb_error *err);

/** Write the stream of all frames, from the data files and the crystals' rows, if it is named.  Errors: NB_ERR_IO,
 * NB_ERR_NOMEM. */
nb_status nb_run_stream_write(nb_run *run, nb_error *err);

#endif
