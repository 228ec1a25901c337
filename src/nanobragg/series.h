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

/** Clipped pixels of a series: pixels too large for the type of an output. */
typedef struct nb_clipped {
    int64_t pixels;
    int frames; /* frames with clipped pixels */
    /* number in the whole series, from 0, of the frame with the largest number of clipped
     * pixels */
    int worst;
    int64_t max;    /* number of clipped pixels of this frame */
    double largest; /* value of clipped pixels, ADU: nb_sim_noise_largest of `file` */
    nb_noise_file file;
} nb_clipped;

/** Progress of a running series. */
typedef struct nb_series_progress {
    int frames; /* number of frames */
    /* number of finished frames, including `kept`; while the series runs, only those of
     * this process */
    int done;
    int kept;      /* number of finished frames from an earlier run */
    int64_t bytes; /* bytes that this run has written */
    double seconds;
    int64_t seed; /* seed of the series */
    char backend[256];
    /* over the frames that are done */
    double max; /* photons in the brightest pixel, before noise */
    /* frame of `max`, numbered from 0 in the whole series, and its pixel */
    int max_frame, max_fast, max_slow;
    nb_clipped clipped_output, clipped_hdf5;
    nb_times times; /* times of this process, summed over its threads */
} nb_series_progress;

/** The processes that mpirun started for a series (MPI). */
typedef struct nb_ranks nb_ranks;

/** Join the processes of mpirun before nb_series_run. The caller frees *ranks, which is
 * NULL for a single process, with nb_ranks_leave. Starts MPI if needed. Make all calls
 * with `ranks` from this thread. Errors: NB_ERR_UNSUPPORTED if mpirun started several
 * processes but MPI does not find them: each would write the same files. */
nb_status nb_ranks_join(nb_ranks **ranks, nb_error *err);
void nb_ranks_leave(nb_ranks *ranks); /* NULL is allowed */
/** NB_OK if all processes call it with NB_OK, else the status of the first process with
 * an error. Rank 0 gets the message of that process, the others an empty one. */
nb_status nb_ranks_agree(nb_ranks *ranks, nb_status status, nb_error *err);
/** Number of processes that mpirun started, from the environment only; *rank (may be
 * NULL): number of this process, from 0. Without mpirun 1 and 0. */
int nb_ranks_launched(int *rank);

/** Many images from one configuration; docs/series.md. nb_series_set sets a value. */
typedef struct nb_series nb_series;

/** Additions of a caller to a series. The caller owns all pointers. */
typedef struct nb_series_calls {
    void *user;
    /* processes that share the frames. NULL: this process makes all frames; under mpirun
     * a notice states this */
    nb_ranks *ranks;
    /* n_also files of the caller that nb_check_files also checks */
    const nb_file_use *also;
    int n_also;
    /** Called once, before the first frame, in rank 0. base: the simulation of the
     * configuration before the changes of single frames. May be NULL. */
    void (*begin)(void *user, const nb_sim *base);
    /** May change the configuration of a frame; may be NULL. Called from several
     * threads. */
    nb_status (*override)(void *user, int frame, nb_config *cfg, nb_error *err);
    /** Location of the changes of a frame for messages ("-jobs runs.jsonl:3"), into
     * text[size]; may be NULL. Called from several threads. */
    void (*override_place)(void *user, int frame, char *text, size_t size);
    const char *override_text; /* changes, a line per frame, for the master; or NULL */
    /** Called after every frame, one call at a time. Returns non-zero to stop. May be
     * NULL. */
    int (*progress)(void *user, const nb_series_progress *progress);
} nb_series_calls;

/** Make a series of unset values, without calls. NB_ERR_NOMEM: *series is NULL. */
nb_status nb_series_create(nb_series **series, nb_error *err);
void nb_series_free(nb_series *series); /* NULL is allowed */
/** Set a parameter of a series, as nb_config_set. */
nb_status nb_series_set(nb_series *series, const char *name, const char *text,
                        nb_error *err);
void nb_series_set_calls(nb_series *series, const nb_series_calls *calls);

/** Render and write a series; the single-image outputs of cfg are not written.
 * hooks->notice is called from this thread. hooks->progress (with a fraction of the
 * series) is called from any thread, one call at a time. With several processes all call
 * this function and end together. After an error of the series, all processes except rank
 * 0 get the status and an empty message. Frame k has the pixels of a single image of the
 * same configuration with the frame's phi (orientation, ...) and seed. *result (may be
 * NULL) is also filled on errors: finished frames are kept on disk for `resume`.
 *
 * With series->input no crystal is rendered: the photons of frame k are those of image k
 * of the input, plus the water and the materials of cfg. The input is a file that
 * nb_image_read reads (all frames of an HDF5 file, or "file.h5:k"), or numbered files
 * ("in_%05d.bin", from 0 or 1 on). The input gives the number of frames. The header of
 * each image completes cfg, as -img does; a file of several panels gives the detector.
 * After an error no master is written, and no frame is kept. Further errors: NB_ERR_INPUT
 * for a crystal, a damaged or short input, a pixel that is not finite, or a background
 * without geometry or fluence. */
nb_status nb_series_run(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_series_progress *result, nb_error *err);

/** Make the configurations of a single image with the pixels of frame k, one for each
 * crystal: for -only_frame, or for -vary without frames with k = 0. nb_sim_set_crystals
 * gives the second and further crystals to a simulation. *out is written whole. Errors:
 * as nb_sim_create, NB_ERR_INPUT (k is too large, -spectra). */
nb_status nb_series_crystals(const nb_config *cfg, const nb_series *series, int k,
                             const nb_hooks *hooks, nb_crystals *out, nb_error *err);
/* Free the configurations; *all is zero or filled. */
void nb_crystals_free(nb_crystals *all);

/** Write cfg->draws_file: names, then a row per frame with number, crystal, seed and
 * draws of series->vary, between tabs. Errors: as nb_series_crystals, NB_ERR_IO. */
nb_status nb_series_draws(const nb_config *cfg, const nb_series *series,
                          const nb_hooks *hooks, nb_error *err);

/** Seed of a frame in a series with this seed; frame 0 has the seed of the series. */
int64_t nb_series_seed(int64_t seed, int frame);

#ifdef __cplusplus
}
#endif
#endif
