/* SPDX-License-Identifier: MIT */
/** A series: many images from one configuration, on many threads and processes (MPI). */
#ifndef NANOBRAGG_SERIES_H
#define NANOBRAGG_SERIES_H

#include "config.h"
#include "error.h"
#include "files.h"
#include "sim.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nb_hdf5_type {
    NB_HDF5_U16 = 0,
    NB_HDF5_I32,
    NB_HDF5_F32,
    NB_HDF5_I16
} nb_hdf5_type;
typedef enum nb_compression {
    NB_COMPRESS_GZIP = 0, /* shuffle and deflate */
    NB_COMPRESS_NONE,
    NB_COMPRESS_BSLZ4 /* bitshuffle and LZ4, HDF5 filter 32008 */
} nb_compression;

/** Clipped pixels of a series: too large for an output's type. */
typedef struct nb_clipped {
    int64_t pixels;
    int frames;     /* frames with clipped pixels */
    int worst;      /* the frame with most of them, from 0 in the whole series */
    int64_t most;   /* number of its clipped pixels */
    double largest; /* value of these pixels, ADU: nb_sim_noise_largest of `file` */
    nb_noise_file file;
} nb_clipped;

/** Progress of a running series. */
typedef struct nb_series_progress {
    int frames; /* number of frames */
    int done; /* finished frames, with those of an earlier run; while it runs, of this process */
    int kept;      /* of an earlier run */
    int64_t bytes; /* written by this run */
    double seconds;
    int64_t seed; /* of the series */
    char backend[256];
    /* over the frames that are done */
    double max; /* photons in the brightest pixel, before noise */
    int max_frame, max_fast,
        max_slow; /* its frame, from 0 in the whole series, and position */
    nb_clipped clipped_output, clipped_hdf5;
    nb_times times; /* of this process, summed over its threads */
} nb_series_progress;

/** The processes that mpirun started for a series (MPI). */
typedef struct nb_ranks nb_ranks;

/** Join them, before nb_series_run. Free *ranks with nb_ranks_leave; it is NULL for a
 * single process. Calls MPI_Init if this was not done. Make all calls with `ranks` from
 * this thread. Errors: NB_ERR_UNSUPPORTED if mpirun started several processes but this
 * build or this machine has no MPI that finds them: each would write the same files. */
nb_status nb_ranks_join(nb_ranks **ranks, nb_error *err);
void nb_ranks_leave(nb_ranks *ranks); /* NULL is fine */
/** NB_OK if all processes call it with NB_OK, else the status of the first process with
 * another status. Rank 0 gets its message, the others an empty one. */
nb_status nb_ranks_agree(nb_ranks *ranks, nb_status status, nb_error *err);
/** The number of processes that mpirun started, from the environment only, and the number
 * of this one (from 0; rank may be NULL); 1 and 0 without mpirun. */
int nb_ranks_launched(int *rank);

/** Many images from one configuration; docs/series.md.  nb_series_set of params.h sets a value. */
typedef struct nb_series nb_series;

/** What a caller adds to a series.  All pointers are the caller's. */
typedef struct nb_series_calls {
    void *user;
    nb_ranks *ranks; /* divide the frames among processes; NULL: this process makes all, and under
                        mpirun a notice says so */
    const nb_file_use *also; /* n_also files of the caller, for nb_check_files */
    int n_also;
    /** Called once, before the first frame, in rank 0: the simulation of the configuration
     * before the changes of single frames. May be NULL. */
    void (*begin)(void *user, const nb_sim *base);
    /** May change the configuration of a frame; may be NULL. Called from several threads. */
    nb_status (*override)(void *user, int frame, nb_config *cfg, nb_error *err);
    /** Location of the changes of a frame for messages ("-jobs runs.jsonl:3"), into text[size];
     * may be NULL. Called from several threads. */
    void (*override_place)(void *user, int frame, char *text, size_t size);
    uint64_t override_tag; /* different for different overrides: `resume` compares it */
    const char *override_text; /* its changes, a line per frame, for the master; may be NULL */
    /** Called after every frame, one call at a time; non-zero return: stop. May be NULL. */
    int (*progress)(void *user, const nb_series_progress *progress);
} nb_series_calls;

/** Make a series with every value unset and no calls.  Errors: NB_ERR_NOMEM; *series is NULL then. */
nb_status nb_series_create(nb_series **series, nb_error *err);
void nb_series_free(nb_series *series); /* NULL is fine */
/** nb_config_set of a parameter of a series. */
nb_status nb_series_set(nb_series *series, const char *name, const char *text,
                        nb_error *err);
void nb_series_set_calls(nb_series *series, const nb_series_calls *calls);

/** Render and write a series; the single-image outputs of cfg are not written.
 * hooks->notice is called from this thread. hooks->progress (with a fraction of the series)
 * is called from any thread, one call at a time. With several processes all call this
 * function and end together. After an error of the series all except rank 0 have the status
 * and an empty message. Frame k has the pixels of a single image of the same configuration
 * with its own phi (orientation, ...) and seed. *result (may be NULL) is also filled on
 * errors: finished frames are kept on disk for `resume`.
 *
 * With series->input no crystal is rendered: the photons of frame k are those of image k of the
 * input, plus the water and the materials of cfg. The input is a file that nb_image_read reads
 * (all frames of an HDF5 file, or "file.h5:k"), or numbered files ("in_%05d.bin", from 0 or 1
 * on). Frames and stills may be 0: the number is that of the input. The header of the first one
 * completes cfg, as -img does; a file of several panels gives the detector. After an error no
 * master is written, and no frame is kept. Errors besides: NB_ERR_INPUT for a crystal, a damaged
 * or short input, another number of frames, a pixel that is not finite, or a background without
 * geometry or fluence. */
nb_status nb_series_run(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_series_progress *result, nb_error *err);

/** The configuration of frame k, from 0, of a series, so that a single image of it has the frame's pixels: for -only_frame, and
 * (k 0 of a series without frames) for -vary with one image.  *out is written whole.  Errors: those of nb_sim_create,
 * NB_ERR_INPUT (k is not below the number of frames, -spectra). */
nb_status nb_series_single(const nb_config *cfg, const nb_series *series, int k,
                           const nb_hooks *hooks, nb_config *out, nb_error *err);

/** The same for all crystals of the frame; nb_sim_set_crystals gives those beside the first to the image's simulation.
 * *out is written whole. */
nb_status nb_series_crystals(const nb_config *cfg, const nb_series *series, int k,
                             const nb_hooks *hooks, nb_crystals *out, nb_error *err);
void nb_crystals_free(nb_crystals *all); /* zero or filled */

/** Write cfg->draws_file: a row for each frame with its number, its crystal, its seed and what series->vary draws, with
 * tabs between them and a line of names above.  Nothing is rendered.  Errors: those of nb_series_single, NB_ERR_IO. */
nb_status nb_series_draws(const nb_config *cfg, const nb_series *series,
                          const nb_hooks *hooks, nb_error *err);

/** Seed of frame k of a series of this seed; that of frame 0 is the seed itself. */
int64_t nb_series_seed(int64_t seed, int frame);

#ifdef __cplusplus
}
#endif
#endif
