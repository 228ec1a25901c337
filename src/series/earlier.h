/* SPDX-License-Identifier: MIT */
/** What an earlier run of a series left, and whether this one may go on with it. */
#ifndef NB_SERIES_EARLIER_H
#define NB_SERIES_EARLIER_H

#include "../nanobragg.h"

struct nb_run;

/** The fingerprint of the series, rank 0's for all.  earlier: that of the run to be resumed, 0 for none.
 * Every process calls it.  NB_ERR_INPUT: a process reads other files than rank 0 and would make other
 * frames, or the earlier run had another renderer. */
nb_status nb_earlier_agree(struct nb_run *run, uint64_t earlier, uint64_t *fingerprint,
                           nb_error *err);

/** Refuse to go on when files that only some finished frames read are not as they were
 * (NB_ERR_INPUT). */
nb_status nb_earlier_check_inputs(const struct nb_run *run, nb_error *err);

/** Name what an earlier, longer series left beside the files of this one. */
void nb_earlier_notice_stale(const struct nb_run *run);

#endif
