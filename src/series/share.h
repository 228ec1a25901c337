/* SPDX-License-Identifier: MIT */
/** Who makes which frames.  They are dealt in blocks of consecutive ones, the frames of one HDF5
 * data file, by rank 0, to whoever asks; each process makes those of its blocks in order.  Rank
 * 0 also hears of every frame that is finished.  A process alone is rank 0. */
#ifndef NB_SERIES_SHARE_H
#define NB_SERIES_SHARE_H

#include "../io/hdf5_file.h"
#include "ranks.h"
#include "sinks.h"

struct nb_run;

/** What rank 0 knows of another process. */
typedef struct nb_peer {
    double silence;     /* seconds */
    int ended;          /* or lost */
    int block, partial; /* the last data file, and its frames if some are missing */
} nb_peer;

typedef struct nb_share {
    int per_block, blocks;
    int first, left; /* frames of the block in hand that no thread has taken */
    int asked, over; /* a block is on its way; there is none left */
    struct nb_post *first_post, *last_post; /* owned; for the others, from any thread */
    double beat, silence;                   /* of rank 0 */
    double patience; /* seconds without a word after which a process is lost */
    int told;        /* the others know that we stop */
    int orphan;      /* rank 0 is lost */
    int has_result;
    nb_status result; /* of rank 0 */
    /* rank 0 */
    int next_block;
    uint8_t *finished; /* owned; [frames] */
    nb_peer *peers;    /* owned; [ranks] */
} nb_share;

/** Deal blocks of per_block frames. */
nb_status nb_share_open(struct nb_run *run, int per_block, nb_error *err);
void nb_share_close(struct nb_run *run);

/** The next frame for this process, or -1: none in hand now.  With the lock held. */
int nb_share_take(struct nb_run *run);

/** A frame is written: tell rank 0.  Without the lock. */
nb_status nb_share_finished(struct nb_run *run, const nb_finished *frame, nb_error *err);

/** Talk with the others as long as this process' threads work.  Main thread, as below. */
void nb_share_talk(struct nb_run *run);

/** This process has ended.  Rank 0: wait until all have.  Others: tell it, with the frames that
 * can be read of a data file that is not whole. */
void nb_share_end(struct nb_run *run, int block, int partial);

/** Rank 0's result for all.  Ranks that hear it have no message of their own: rank 0 speaks. */
nb_status nb_share_result(struct nb_run *run, nb_status status, nb_error *err);

/** Rank 0: how many frames from the first on can be read through a master file. */
int nb_share_readable(const struct nb_run *run);

#endif
