/* SPDX-License-Identifier: MIT */
/** A running series. */
#ifndef NB_SERIES_RUN_H
#define NB_SERIES_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "../base/outfile.h"
#include "../image/sum.h"
#include "../inputs/load.h"
#include "../io/hdf5/hdf5_file.h"
#include "../io/image/writer.h"
#include "../nanobragg.h"
#include "../sim/sim.h"
#include "frames.h"
#include "work.h"

/* --- a frame of a series: its image in every form (frame.c) --- */

/** A frame with its image in each form that the outputs need. Each thread has one. */

typedef struct nb_frame {
    nb_sim *sim; /* owned; rebuilt for every frame */
    size_t pixels;
    float *image; /* owned; photons, or NULL if they stay on the device */
    /* product that was made last: integers; product.pixels is owned */
    nb_product product;
    size_t room;                   /* size of product.pixels, bytes */
    const nb_image_device *lender; /* device that lent product.pixels, or NULL */
    int made;                      /* 1: product has the pixels of this frame */
    int64_t overloads;             /* pixels that were too large for the last output */
    /* owned; image for HDF5 with panels at their positions in the canvas, or NULL */
    void *canvas;
    void *scratch;  /* owned; work space of the compression */
    nb_stats stats; /* statistics of the photons, without the solid angle */
    nb_times spent; /* times of this frame so far */
} nb_frame;

void nb_frame_free(nb_frame *frame); /* frees the members; a zero frame is fine */

/** Forms of the image that the outputs of a frame need. */
typedef struct nb_frame_wants {
    int photons;
    nb_product integers; /* integers; type ANY means no integers */
} nb_frame_wants;

/** Add to *wants the pixels of a file of this format, or of HDF5 if format is NULL. */
void nb_frame_want(const nb_frame *frame, const nb_format *format, nb_hdf5_type type,
                   nb_frame_wants *wants);

/** Kind of the pixels with noise in a numbered file, and in HDF5. */
nb_noise_file nb_frame_file_noise(const nb_writer *writer);
nb_noise_file nb_frame_hdf5_noise(nb_hdf5_type type);

/** Choose the result of the rendering: photons, or integers that the device makes of
 * photons. pixels: number of pixels of the image. Errors: NB_ERR_NOMEM. */
nb_status nb_frame_prepare(nb_frame *frame, const nb_frame_wants *wants, size_t pixels,
                           nb_rendering *rendering, nb_error *err);

/** Write the image in a single-image format, whole or not at all. */
nb_status nb_frame_write(nb_frame *frame, const nb_format *format, const char *path,
                         nb_error *err);

/** Add the pixels of the file of this format, or (format NULL) of HDF5, to a sum. */
nb_status nb_frame_sum(nb_frame *frame, const nb_format *format, nb_hdf5_type type,
                       nb_sum *sum, nb_error *err);

/** Compress the image for HDF5 into chunk[nb_hdf5_chunk_bound]; *bytes: its size. */
nb_status nb_frame_encode(nb_frame *frame, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err);

/* --- the processes that mpirun started for a series --- */
/* If ranks is NULL, the functions act as for rank 0 of a single process. Only the thread
 * that joined calls the functions. */

/** Number (rank) of this process, and count of processes; local_*: the same among the
 * processes of this host. */
typedef struct nb_place {
    int rank, count, local_rank, local_count;
} nb_place;
nb_place nb_ranks_place(const nb_ranks *ranks);

/* All processes call the next two functions and nb_ranks_agree, in the same order. */

/** Copy the bytes of rank 0 to all processes. */
void nb_ranks_share(nb_ranks *ranks, void *data, size_t bytes);
/** Copy mine[bytes] of each rank into all[count][bytes] of every rank, and wait for all
 * ranks. */
void nb_ranks_gather(nb_ranks *ranks, const void *mine, size_t bytes, void *all);

/** Note that this process failed: nb_ranks_leave then ends all processes. Print the error
 * before. */
void nb_ranks_fail(nb_ranks *ranks);

/* --- nb_stored_images: stored images (nb_series.input) that replace rendered images --- */

typedef struct nb_stored_images {
    int hdf5; /* 1: frames of an HDF5 file. 0: one file, or files numbered from 0 or 1 */
    nb_template files; /* names of the files */
    int first;         /* first frame in the HDF5 file */
    int frames;        /* number of frames, at least 1 */
    int size[2];       /* pixels along fast and slow of images without a header */
    nb_series series;  /* copy of the caller's series, with the number of frames */
    /* owned; completed configuration, with a crystal that scatters no photons and with
     * double precision */
    nb_config cfg;
    nb_image image;  /* owned; the image of a single file, else empty */
    nb_config plain; /* default values, for readers of images that ignore the header */
    struct nb_hdf5_reader *reader; /* owned; reads an HDF5 input */
    nb_config *rows; /* owned, [frames]: typed values and the header of each image */
    /* differ: 1 if the rows differ; moves: 1 if they differ in values on which a
     * background depends */
    int differ, moves;
    nb_hdf5_frame *truth; /* owned, [frames]: true values of the input, or NULL */
    int whole;            /* 1: the input is an HDF5 file with all its frames */
    float *background;    /* owned; [pixels of all panels], photons, or NULL */
} nb_stored_images;

/** Find the number of frames of series->input and the geometry of its first image. hooks
 * get notices. The caller frees *stored (nb_stored_free), after an error too. Errors: those
 * of nb_series_run. */
nb_status nb_stored_open(const nb_config *cfg, const nb_series *series,
                         const nb_hooks *hooks, nb_stored_images **stored, nb_error *err);

/** Give each frame of f the geometry in the header of its image. */
void nb_stored_vary(nb_stored_images *stored, nb_frames *f);

/** Mask the pixels that the first image marks as unused, and render the background of
 * stored->cfg once. base: the simulation of stored->cfg. */
nb_status nb_stored_prepare(nb_stored_images *stored, nb_sim *base, nb_error *err);

/** Put the photons of frame k and the background into image[pixels of all panels]; 0 in
 * pixels that sim, at frame k, does not render. Any thread may call it. Errors: NB_ERR_INPUT (a
 * damaged image, another size, a pixel that is not finite), NB_ERR_NOMEM. */
nb_status nb_stored_frame(const nb_stored_images *stored, int k, nb_sim *sim,
                          float *image, nb_error *err);

/** Continue the hash h with sizes and times of the stored images. */
uint64_t nb_stored_hash(const nb_stored_images *stored, uint64_t h);

/** True values of frame k: those of sim, and those of the stored image if `stored` is not
 * NULL. */
nb_hdf5_frame nb_stored_truth(const nb_stored_images *stored, int k, const nb_sim *sim);
void nb_stored_free(nb_stored_images *stored); /* NULL is allowed */

/* --- data that the threads share --- */

typedef struct nb_truths {
    nb_pieces pieces;    /* owned; the HDF5 data files */
    nb_sim *sim;         /* owned; calculates true values without HDF5 */
    nb_hdf5_frame *rows; /* owned, [room]; true values of n frames from `first` on */
    int first, n, room;
} nb_truths;

typedef struct nb_run {
    const nb_series *series;
    nb_hooks hooks;  /* hooks of the caller */
    nb_ranks *ranks; /* owned by the caller; NULL for a single process */
    nb_place place;  /* place of this process */
    nb_sim *base;    /* owned; base simulation: files and flags of the series */
    nb_frames frames;
    nb_stored_images *stored; /* owned; stored images that replace rendered ones, or NULL */
    nb_pool pool;
    nb_hdf5_layout layout;
    nb_begun begun;   /* resume file, open in rank 0 */
    nb_work work;     /* blocks of frames; `lock` guards it while threads take frames */
    nb_truths truths; /* true values of all frames, read after the last frame */
    nb_sum sum;       /* sum for -sumfile */
    int threads, threads_each;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t moved; /* a frame was written, or stop */
    pthread_cond_t ended; /* the last thread has ended */
    int working;          /* threads that make frames */
    nb_slot *slots;       /* owned; slot n % window has the nth frame of this process */
    /* number of slots; of frames taken; of frames written; draining: 1 while a thread
     * writes */
    int window, next, written, draining;
    int unwritable; /* a frame could not be written */
    nb_series_progress progress;
    double start;
    nb_status status;
    nb_error error;
    int error_frame;

    atomic_int stop;      /* 1: begin no more frames */
    atomic_int cancel;    /* 1: the caller wants to stop, so leave frames unfinished */
    atomic_int late;      /* 1: the seconds of -time_limit have passed */
    atomic_int committed; /* number of finished frames */
    atomic_int parts; /* sum over unwritten frames: finished fraction x NB_RUN_PARTS */
    pthread_mutex_t hook_lock; /* one call of the caller's hooks at a time */
} nb_run;

enum { NB_RUN_PARTS = 1024 };

/** Begin no more frames because of this error. *run keeps the error of the frame with the
 * lowest number. The caller holds the lock while threads run. */
void nb_run_stop_with(nb_run *run, int frame, nb_status st, const nb_error *err);
/** Add the brightest pixel and the clipped pixels of a frame. frame: number in the whole
 * series. */
void nb_run_add_facts(nb_series_progress *p, int frame, const nb_hdf5_facts *facts);
/** Add the progress of another process, except its number of finished frames. */
void nb_run_add_progress(nb_series_progress *p, const nb_series_progress *other);

/** Make and write the frames of this process; *run is set up. Errors: NB_ERR_NOMEM if no
 * thread could be started. run->status has the errors of frames. */
nb_status nb_threads_run(nb_run *run, nb_error *err);

/** Hash the flags and files of the series. All processes call this and get the hash of
 * rank 0. earlier: hash of the run to resume, or 0. NB_ERR_INPUT: input files differ from
 * those of rank 0, or the earlier run had another renderer. */
nb_status nb_earlier_fingerprint(nb_run *run, uint64_t earlier, uint64_t *fingerprint,
                                 nb_error *err);

/* --- the true values of all frames, for the master and -exptout --- */

/** Write true values of frames first to first + count - 1 to out[count]; user: the
 * nb_run. Errors: NB_ERR_NOMEM, NB_ERR_IO, NB_ERR_INPUT (a data file). */
nb_status nb_truths_get(void *user, int first, int count, nb_hdf5_frame *out,
                        nb_error *err);
void nb_truths_free(nb_truths *t); /* The true values may be all zero. */

/* --- -exptout of a series of stills --- */

/** Write the file in rank 0, if a flag names one. Errors: NB_ERR_IO, NB_ERR_NOMEM, those
 * of nb_sim_detector_spec. */
nb_status nb_experiments_write(nb_run *run, nb_error *err);

/* --- the master file over the data files --- */

/** Write the master with links to the files of run->truths. NB_ERR_NOMEM, NB_ERR_IO. */
nb_status nb_master_write(nb_run *run, nb_error *err);

/** Fill `all`, which is zero before, with the crystals of the first `frames` frames. The
 * caller frees it, after an error too. Errors: NB_ERR_NOMEM, those of
 * nb_frames_crystal. */
nb_status nb_master_crystals(const nb_run *run, int frames, nb_hdf5_crystals *all,
                             nb_error *err);
void nb_master_crystals_free(nb_hdf5_crystals *all);

/* --- -streamout: a chunk for each frame --- */

/** Check before the first frame that a stream can hold the frames. NB_ERR_INPUT: a
 * rotation, a crystal with unloaded files. Also the errors of nb_master_crystals. */
nb_status nb_run_stream_check(const nb_run *run, nb_error *err);

/** Write the stream of all frames from the data files and the rows of the crystals, if
 * -streamout names a file. Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_run_stream_write(nb_run *run, nb_error *err);

#endif
