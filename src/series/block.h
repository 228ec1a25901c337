/* SPDX-License-Identifier: MIT */
/** The finished frames of one HDF5 data file: they wait in a journal, which becomes the data file.
 * A thread of its own makes the file, while the frames of the next one are collected. */
#ifndef NB_SERIES_BLOCK_H
#define NB_SERIES_BLOCK_H

#include <pthread.h>

#include "../io/hdf5/hdf5_file.h"
#include "journal.h"

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

/** Memory for per_file frames. */
nb_status nb_block_init(nb_block *b, int per_file, nb_error *err);
void nb_block_free(nb_block *b);

/** Write the first data->frames frames of a block, described by `data`, to `path`; the journal stays. */
nb_status nb_block_write(const nb_block *b, const nb_hdf5_data *data, const char *path,
                         nb_error *err);

/** Wait for the last file, then begin to make this one; *b gets another block's memory, without
 * frames. The journal is removed when the file is there.  Errors: those of the last file. */
nb_status nb_block_maker_begin(nb_block_maker *m, nb_block *b, const nb_hdf5_data *data,
                               const char *path, nb_error *err);
/** Wait for the last file.  Errors: its own, once. */
nb_status nb_block_maker_wait(nb_block_maker *m, nb_error *err);

#endif
