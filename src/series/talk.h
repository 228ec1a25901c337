/* SPDX-License-Identifier: MIT */
/** Which frames a process makes.  Rank 0 deals blocks of consecutive frames, those of one HDF5 data
 * file, to the processes that ask; each process makes the frames of its blocks in order. */
#ifndef NB_SERIES_TALK_H
#define NB_SERIES_TALK_H

#include "ranks.h"
#include "sinks.h"

typedef struct nb_dealer {
    int frames, per_block;
    int next_block;  /* of rank 0: the first that nobody has */
    int first, left; /* frames of the present block that no thread has taken */
    int over;        /* there are no more blocks */
} nb_dealer;

/** What the processes of a series say to each other.  Each asks rank 0 for blocks of frames, and
 * tells it of every frame that is finished.  A process alone is rank 0. */

struct nb_run;

/** The state of another process, at rank 0. */
typedef struct nb_peer {
    double silence;     /* seconds */
    int ended;          /* or lost */
    int block, partial; /* the last data file, and its frames if some are missing */
} nb_peer;

typedef struct nb_talk {
    int asked;                              /* a block is on its way */
    struct nb_post *first_post, *last_post; /* owned; messages to send, from any thread */
    double last_tick, beat, silence;        /* s; the last is of rank 0 */
    double patience; /* s without a message after which a process is lost */
    int told;        /* the others know that we stop */
    int orphan;      /* rank 0 is lost */
    int has_result;
    nb_status result; /* of rank 0 */
    nb_peer *peers;   /* owned; [ranks], for rank 0 */
} nb_talk;

nb_status nb_talk_open(struct nb_run *run, nb_error *err);
void nb_talk_close(struct nb_run *run);

/** The next frame for this process, or -1: none now. With the lock held. */
int nb_talk_take(struct nb_run *run);

/** A frame is written: tell rank 0.  Without the lock. */
nb_status nb_talk_finished(struct nb_run *run, const nb_finished *frame, nb_error *err);

/** Exchange messages with the others while the threads of this process work. Main thread,
 * as below. */
void nb_talk_while_working(struct nb_run *run);

/** This process has ended. Rank 0: wait for all. Others: report it, with the number of
 * readable frames of an incomplete data file. */
void nb_talk_end(struct nb_run *run, int block, int partial);

/** Rank 0's result for all.  The others get no message: rank 0 prints it. */
nb_status nb_talk_result(struct nb_run *run, nb_status status, nb_error *err);

/** Rank 0: the number of frames from the first on that a master can show. */
int nb_talk_readable(const struct nb_run *run);

#endif
