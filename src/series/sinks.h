/* SPDX-License-Identifier: MIT */
/** The finished frames of one HDF5 data file: they wait in a journal, which becomes the data file.
 * A thread of its own makes the file, while the frames of the next one are collected. */
#ifndef NB_SERIES_SINKS_H
#define NB_SERIES_SINKS_H

#include <pthread.h>

#include "../io/hdf5/hdf5_file.h"
#include "frame.h"
#include "journal.h"
#include "template.h"

typedef struct nb_block {
    int number; /* of the data file; -1: none */
    nb_journal journal;
    int64_t *offset; /* owned; [per_file], where the records are, 0: not there */
    size_t *bytes;   /* owned; of the records */
} nb_block;

/** What makes data files of blocks: at most one at a time. */
typedef struct nb_block_maker {
    nb_block block; /* this one; number -1: none */
    nb_hdf5_data data;
    char path[NB_PATH_MAX];
    pthread_t thread;
    enum { NB_MAKER_IDLE, NB_MAKER_THREAD, NB_MAKER_DONE } state;
    nb_status status; /* of the last one */
    nb_error error;
} nb_block_maker;

/** Wait for the last file.  Errors: its own, once. */
nb_status nb_block_maker_wait(nb_block_maker *m, nb_error *err);

/** The outputs of finished frames: numbered files, or HDF5. Many threads call `make`; only
 * one thread at a time calls the others. */

/** A finished frame that is not written yet. */
typedef struct nb_slot {
    int frame;
    nb_hdf5_frame truth;
    void *chunk; /* owned; the frame's record: record.h */
    size_t chunk_bytes, room;
    uint64_t hash;      /* of the record, as in nb_journal_data */
    uint64_t inputs;    /* nb_own_inputs of the frame */
    uint64_t file_hash; /* of the numbered file */
    int64_t file_bytes;
    int64_t file_clipped; /* pixels that its type could not hold; truth has HDF5's */
    int ready, kept;
} nb_slot;

/** The message to rank 0 about a finished frame. */
typedef struct nb_finished {
    int frame, kept;
    int64_t bytes;        /* written for it now */
    uint64_t file_hash;   /* of the numbered file */
    int64_t file_clipped; /* its clipped pixels; truth.facts has those of HDF5 */
    uint64_t inputs;      /* nb_own_inputs */
    nb_hdf5_frame truth;
} nb_finished;

/** Numbered files, and the record of finished ones, which rank 0 keeps. */
typedef struct nb_file_sink {
    nb_template name;
    nb_journal record;
    int frames;
    uint8_t *done;        /* owned; [frames], found finished by `resume` */
    nb_hdf5_facts *facts; /* owned; [frames], of those; NULL: nothing is to be resumed */
    uint64_t *inputs;     /* owned; [frames], of those: nb_own_inputs */
} nb_file_sink;

/** key NULL: without the record. */
nb_status nb_file_sink_open(nb_file_sink *s, const nb_series *series, int frames,
                            const nb_journal_key *key, nb_error *err);
nb_status nb_file_sink_make(const nb_file_sink *s, nb_frame *frame, int k, nb_slot *slot,
                            nb_error *err);
nb_status nb_file_sink_commit(nb_file_sink *s, const nb_finished *frame, nb_error *err);
/** The use of the records of finished frames at the end. */
typedef enum nb_end {
    NB_END_DONE,  /* the series is whole: they are no longer needed */
    NB_END_LATER, /* a later run continues with them */
    NB_END_UNUSED /* as LATER, but empty records of this run are removed */
} nb_end;
void nb_file_sink_close(nb_file_sink *s, nb_end end);
/** Close a journal, and remove it if it is not needed. */
void nb_journal_end(nb_journal *j, nb_end end);
/** Number of files with higher numbers from an earlier and longer series.
 * first[NB_PATH_MAX] gets the name of the lowest one. */
int nb_file_sink_stale(const nb_file_sink *s, char *first);
/** What the run to be resumed was begun with; 0 if there is none. */
int nb_file_sink_key(const nb_series *series, nb_journal_key *key);

/** HDF5: the frames of one data file are collected in a journal, which becomes the data file. */
typedef struct nb_hdf5_sink {
    char stem[NB_PATH_MAX]; /* of data file names */
    nb_hdf5_layout layout;
    nb_journal_key key;
    nb_journal series;      /* of the whole series; part 0 has it, against a second run */
    nb_journal_owner owner; /* of that record, for all parts; pid 0: it could not be read */
    int fresh;              /* no earlier run has left one */
    int frames, per_file, resume;
    int part, parts;      /* of several processes' sinks for the same files */
    nb_block block;       /* collects frames */
    nb_block_maker maker; /* makes the data file of the one before */
    nb_hdf5_list *lists;  /* owned; [frames], of those found finished; or NULL */
    nb_hdf5_facts *facts; /* owned; [frames], the same; NULL: nothing is to be resumed */
    uint8_t *done;        /* owned; [frames] */
    uint64_t *inputs;     /* owned; [frames], of finished ones: nb_own_inputs */
    int64_t written;      /* bytes of chunks */
} nb_hdf5_sink;

/** "folder/run_master.h5" -> "folder/run", the start of the names of the data files.
 * Errors: NB_ERR_INPUT, too long. */
nb_status nb_hdf5_sink_stem(const char *master, char stem[NB_PATH_MAX], nb_error *err);
/** The names of data file `block`, from 0, and of the record of its frames. */
void nb_hdf5_sink_data_path(const char *stem, int block, char path[NB_PATH_MAX]);
void nb_hdf5_sink_record_path(const char *stem, int block, char path[NB_PATH_MAX]);
/** The name of the record of the whole series. */
void nb_hdf5_sink_series_path(const char *stem, char path[NB_PATH_MAX]);

/** Begin or continue the record of the whole series. Part 0 calls it before any part opens
 * the sink, and gives the others its `fresh`. */
nb_status nb_hdf5_sink_begin(nb_hdf5_sink *s, const nb_series *series,
                             const nb_journal_key *key, nb_error *err);
/** part, parts and fresh are set: this sink reads every parts-th file of an earlier run.
 * The union of all parts' `done` is the result. */
nb_status nb_hdf5_sink_open(nb_hdf5_sink *s, const nb_series *series, int frames,
                            const nb_hdf5_layout *layout, const nb_journal_key *key,
                            nb_error *err);
/** Errors: also those of the data file before, which another thread makes. */
nb_status nb_hdf5_sink_commit(nb_hdf5_sink *s, int k, const nb_slot *slot, nb_error *err);
/** Check that the record of the series and the data files of the first frames are this run's.  Errors: NB_ERR_IO, one was
 * removed or replaced. */
nb_status nb_hdf5_sink_check(const nb_hdf5_sink *s, int frames, nb_error *err);
/** Wait for the data file that is being made.  *first: its first frame. */
nb_status nb_hdf5_sink_wait(nb_hdf5_sink *s, int *first, nb_error *err);
/** Fill the reflections and the image facts in the truth of a frame that was found finished. */
void nb_hdf5_sink_recall(const nb_hdf5_sink *s, int k, nb_hdf5_frame *truth);
/** Make a readable data file of the finished frames of the first one that is not there; its journal
 * stays.  *number: of that file.  Returns the number of its frames from the first on; 0: none. */
int nb_hdf5_sink_partial(const nb_hdf5_sink *s, int *number);
/** Of the first frames, those before the first data file that is missing: a lost process may not have
 * made it. */
int nb_hdf5_sink_there(const nb_hdf5_sink *s, int frames);
void nb_hdf5_sink_close(nb_hdf5_sink *s, nb_end end);
int nb_hdf5_sink_stale(const nb_hdf5_sink *s, char *first);
/** Name of data file n beside the master, for its links; user: the sink. */
void nb_hdf5_sink_link(void *user, int n, char *name);
/** What the run to be resumed was begun with; 0 if there is none. */
int nb_hdf5_sink_key(const nb_series *series, int frames, nb_journal_key *key);

#endif
