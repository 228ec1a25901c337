/* SPDX-License-Identifier: MIT */
/** The blocks of a series: which frames this process makes, and the files that hold them. A block is the frames of one
 * HDF5 data file, or one numbered file. Its borders follow from the flags. A process claims a block by its locked
 * temporary file, so threads of any number of processes share a series. */
#ifndef NB_SERIES_WORK_H
#define NB_SERIES_WORK_H

#include "../io/hdf5/hdf5_file.h"
#include "begun.h"
#include "template.h"

/** A claimed block. */
typedef struct nb_block {
    int number;     /* -1: none */
    int piece;      /* of the data file that is written: 0, 1 for "b", ... */
    int first;      /* frames from here on lack in HDF5 */
    int next, last; /* the next frame to make, and the last one */
    int start,
        written;  /* first frame of the open data file, and the last one that is in it */
    int to_hdf5;  /* data files lack frames */
    int lost;     /* another process has claimed the rest */
    double since; /* s, of the first frame in the open file; 0: none */
    nb_outfile claim;     /* without an HDF5 file */
    nb_hdf5_writer *file; /* owned, or NULL */
} nb_block;

/** A frame that is made, and not written yet. */
typedef struct nb_slot {
    int frame;
    nb_block *block;      /* NULL: the frame is whole, and counts for -sumfile alone */
    int to_hdf5, to_file; /* the outputs that lack the frame */
    nb_hdf5_frame truth;
    nb_reflections list; /* owned; with reflections */
    void *chunk;         /* owned, [nb_hdf5_chunk_bound] */
    size_t chunk_bytes;
    int64_t file_bytes,
        file_clipped; /* of the numbered file; pixels its type could not hold */
    int ready;
} nb_slot;

/** The data files of the first frames. */
typedef struct nb_pieces {
    struct nb_piece {
        int block, piece, first; /* first: its first frame */
    } * all;                     /* owned, [n + 1]; all[n].first: number of frames */
    int n, room;
} nb_pieces;

typedef struct nb_work {
    int frames, per_block, count; /* count: of blocks */
    int numbered;                 /* there are numbered files, of this name */
    nb_template name;
    char stem[NB_PATH_MAX]; /* of data files; "": none */
    nb_hdf5_data data;      /* what all of them have */
    nb_block *open;         /* owned, [room] */
    int room;
    nb_block *dealing; /* gives the next frames, or NULL */
    nb_block *writing; /* has frames in its open data file, or NULL */
    int at;            /* the block to look at next */
    uint8_t *whole;    /* owned, [count] */
    int *kept; /* owned, [count]; with -sumfile: whole frames of each block before this run */
    int again;                  /* the one to render next for the sum */
    int rank, ranks;            /* which of them this process renders */
    char unlocked[NB_PATH_MAX]; /* a claim in a file system without locks, or "" */
} nb_work;

/** "folder/run_master.h5" -> "folder/run", the start of the names of the data files.
 * Errors: NB_ERR_INPUT, too long. */
nb_status nb_work_stem(const char *master, char stem[NB_PATH_MAX], nb_error *err);
/** The name of data file `piece` of a block, both from 0. */
void nb_work_data_path(const char *stem, int block, int piece, char path[NB_PATH_MAX]);
/** The name of the small file of the series. */
nb_status nb_work_begun_path(const nb_series *series, char path[NB_PATH_MAX],
                             nb_error *err);
/** Frames of a block. */
int nb_work_size(const nb_series *series, int frames);
/** What the run to be resumed was begun with; 0 if there is none. */
int nb_work_key(const nb_series *series, int frames, nb_series_key *key);

/** At most `room` blocks are claimed at a time.  Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_work_open(nb_work *s, const nb_series *series, int frames, int room,
                       nb_error *err);
/** Close claims, and free. */
void nb_work_free(nb_work *s);

/** Remove the numbered files, or the data files, of the blocks. */
void nb_work_remove_numbered(const nb_work *s);
void nb_work_remove_data(const nb_work *s);

/** Count the frames that all outputs have, in each block from its first on, and set `whole`. kept: [count], or NULL.
 * Errors: NB_ERR_INPUT, a data file is of another series. */
nb_status nb_work_count(nb_work *s, int *kept, int *frames, nb_error *err);

/** The next frame for this process, into frame, block, to_hdf5 and to_file of the slot; frame -1: none is left. One
 * thread at a time.  Errors: those of nb_outfile_claim, nb_hdf5_data_open and nb_work_count. */
nb_status nb_work_take(nb_work *s, nb_slot *slot, nb_error *err);

/** Write a frame into its data file, in the order of nb_work_take, while other threads take.  *full: its block is whole and
 * must be closed, or NULL. */
nb_status nb_work_add(nb_work *s, nb_slot *slot, nb_block **full, nb_error *err);
/** End the file of a block.  The block then still has its number. */
nb_status nb_block_end(nb_block *b, nb_error *err);
/** After five minutes write the frames of a data file as a shorter one, and go on in another. */
nb_status nb_work_end_old(nb_work *s, nb_error *err);

/** Errors: NB_ERR_NOMEM, NB_ERR_INPUT: a data file is of another series. */
nb_status nb_work_pieces(const nb_work *s, nb_pieces *out, nb_error *err);
void nb_pieces_free(nb_pieces *p); /* zeroed is fine */

/** Note the files that an earlier, longer series left. */
void nb_work_notice_longer(const nb_work *s, const nb_hooks *hooks);

#endif
