/* SPDX-License-Identifier: MIT */
/** The distribution of frames to processes. Rank 0 gives blocks of consecutive frames,
 * those of one HDF5 data file, to the processes that ask. Each process makes the frames of
 * its blocks in order. Rank 0 gets a message for every finished frame. A single process is
 * rank 0. */
#ifndef NB_SERIES_SHARE_H
#define NB_SERIES_SHARE_H

#include "../io/hdf5_file.h"
#include "ranks.h"
#include "sinks.h"

struct nb_run;

/** The state of another process, at rank 0. */
typedef struct nb_peer {
    double silence;     /* seconds */
    int ended;          /* or lost */
    int block, partial; /* the last data file, and its frames if some are missing */
} nb_peer;

typedef struct nb_share {
    int per_block, blocks;
    int first, left; /* frames of the present block that no thread has taken */
    int asked, over; /* a block was requested; no block is left */
    struct nb_post *first_post, *last_post; /* owned; for the others, from any thread */
    double beat, silence;                   /* of rank 0 */
    double patience; /* seconds without a message after which a process is lost */
    int told;        /* the others know that we stop */
    int orphan;      /* rank 0 is lost */
    int has_result;
    nb_status result; /* of rank 0 */
    /* rank 0 */
    int next_block;
    uint8_t *finished; /* owned; [frames] */
    nb_peer *peers;    /* owned; [ranks] */
} nb_share;

/** Distribute blocks of per_block frames. */
nb_status nb_share_open(struct nb_run *run, int per_block, nb_error *err);
void nb_share_close(struct nb_run *run);

/** The next frame for this process, or -1: none now. With the lock held. */
int nb_share_take(struct nb_run *run);

/** A frame is written: tell rank 0.  Without the lock. */
nb_status nb_share_finished(struct nb_run *run, const nb_finished *frame, nb_error *err);

/** Exchange messages with the others while the threads of this process work. Main thread,
 * as below. */
void nb_share_talk(struct nb_run *run);

/** This process has ended. Rank 0: wait for all. Others: report it, with the number of
 * readable frames of an incomplete data file. */
void nb_share_end(struct nb_run *run, int block, int partial);

/** Rank 0's result for all. The other ranks print no message; rank 0 does. */
nb_status nb_share_result(struct nb_run *run, nb_status status, nb_error *err);

/** Rank 0: the number of frames from the first on that a master can show. */
int nb_share_readable(const struct nb_run *run);

#endif
