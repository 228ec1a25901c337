/* SPDX-License-Identifier: MIT */
/** Does a run belong to the frames of an earlier one?  Two numbers say so: the fingerprint of the
 * series, and for a frame with input files of its own what those contain. */
#ifndef NB_SERIES_EARLIER_H
#define NB_SERIES_EARLIER_H

#include "../nanobragg.h"
#include "frames.h"

/** The contents of the files that cfg names and base does not; 0: there are none. */
uint64_t nb_own_inputs(nb_store *store, const nb_config *cfg, const nb_config *base);

/** The names of those files, with commas, into names[size]. */
void nb_own_input_names(const nb_config *cfg, const nb_config *base, char *names,
                        size_t size);

/** The files of an earlier run of a series, and the check whether this run may continue it. */

struct nb_run;

/** The fingerprint of the series, that of rank 0 for all. earlier: that of the run to
 * resume, 0 for none. Every process calls it. NB_ERR_INPUT: the input files of a process
 * differ from those of rank 0, or the earlier run had another renderer. */
nb_status nb_earlier_fingerprint(struct nb_run *run, uint64_t earlier,
                                 uint64_t *fingerprint, nb_error *err);

/** Refuse to continue if files that only some finished frames read have changed
 * (NB_ERR_INPUT). */
nb_status nb_earlier_check_inputs(const struct nb_run *run, nb_error *err);

/** Print a note with the files that an earlier, longer series left beside those of this one. */
void nb_earlier_notice_stale(const struct nb_run *run);

#endif
