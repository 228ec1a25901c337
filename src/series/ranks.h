/* SPDX-License-Identifier: MIT */
/** The processes that mpirun started for a series. Every function takes
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
/** `bytes` of each rank into all[count][bytes], for all; it waits for them. */
void nb_ranks_gather(nb_ranks *ranks, const void *mine, size_t bytes, void *all);
/* nb_ranks_agree of nanobragg/series.h is one of them. */

/** This process has failed: nb_ranks_leave ends all, after the error has been printed. */
void nb_ranks_fail(nb_ranks *ranks);

#endif
