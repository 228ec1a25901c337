/* SPDX-License-Identifier: MIT */
/** The processes that mpirun started to share a series, and what they say to each other.  Every
 * function takes NULL for a process alone: rank 0 of 1.  All calls from one thread, that which
 * joined. */
#ifndef NB_SERIES_RANKS_H
#define NB_SERIES_RANKS_H

#include "../nanobragg.h"

int nb_ranks_count(const nb_ranks *ranks);
int nb_ranks_rank(const nb_ranks *ranks);
/** The same among the processes of this host. */
int nb_ranks_local_count(const nb_ranks *ranks);
int nb_ranks_local_rank(const nb_ranks *ranks);

/* --- all processes call these, in the same order --- */

/** Rank 0's bytes for all. */
void nb_ranks_share(nb_ranks *ranks, void *data, size_t bytes);
/** The largest of all ranks' flags for all. */
void nb_ranks_merge(nb_ranks *ranks, uint8_t *flags, size_t count);
/* nb_ranks_agree of nanobragg/series.h is one of them. */

/* --- messages --- */

/** Send a copy of the data; does not wait.  Memory that runs out is a message lost. */
void nb_ranks_send(nb_ranks *ranks, int to, const void *data, size_t bytes);
/** The next message that has come, into data[bytes]; 0 if there is none. */
int nb_ranks_receive(nb_ranks *ranks, void *data, size_t bytes, int *from);
/** Messages that are not delivered yet. */
int nb_ranks_pending(nb_ranks *ranks);

/** A process was lost: nobody can wait for it on leaving.  The first that is left ends the others,
 * when it has told of it. */
void nb_ranks_broken(nb_ranks *ranks, int lost);
/** The lost one, -1: none. */
int nb_ranks_lost(const nb_ranks *ranks);

#endif
