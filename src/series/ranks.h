/* SPDX-License-Identifier: MIT */
/** The processes that mpirun started for a series, and their messages. Every function takes
 * NULL for a single process: rank 0 of 1. All calls are from the thread that joined. */
#ifndef NB_SERIES_RANKS_H
#define NB_SERIES_RANKS_H

#include "../nanobragg.h"

int nb_ranks_count(const nb_ranks *ranks);
int nb_ranks_rank(const nb_ranks *ranks);
/** The same for the processes of this host. */
int nb_ranks_local_count(const nb_ranks *ranks);
int nb_ranks_local_rank(const nb_ranks *ranks);

/* --- all processes call these, in the same order --- */

/** Rank 0's bytes for all. */
void nb_ranks_share(nb_ranks *ranks, void *data, size_t bytes);
/** The bits that are set on any rank, for all: bytes that are 0 except on one rank, or flags. */
void nb_ranks_merge(nb_ranks *ranks, void *data, size_t bytes);
/* nb_ranks_agree of nanobragg/series.h is one of them. */

/* --- messages --- */

/** Send a copy of the data; does not wait. If memory is exhausted the message is lost. */
void nb_ranks_send(nb_ranks *ranks, int to, const void *data, size_t bytes);
/** The next received message, into data[bytes]; 0 if there is none. */
int nb_ranks_receive(nb_ranks *ranks, void *data, size_t bytes, int *from);
/** Messages that are not delivered yet. */
int nb_ranks_pending(nb_ranks *ranks);

/** A process is lost: no process can wait for it at the end. The first remaining process
 * ends the others after it has reported this. */
void nb_ranks_broken(nb_ranks *ranks, int lost);
/** The lost one, -1: none. */
int nb_ranks_lost(const nb_ranks *ranks);

#endif
