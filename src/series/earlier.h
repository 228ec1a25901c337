/* SPDX-License-Identifier: MIT */
/** Does a run belong to the frames of an earlier one? */
#ifndef NB_SERIES_EARLIER_H
#define NB_SERIES_EARLIER_H

#include "../nanobragg.h"

struct nb_run;

/** The fingerprint of the series, that of rank 0 for all. earlier: that of the run to
 * resume, 0 for none. Every process calls it. NB_ERR_INPUT: the input files of a process
 * differ from those of rank 0, or the earlier run had another renderer. */
nb_status nb_earlier_fingerprint(struct nb_run *run, uint64_t earlier,
                                 uint64_t *fingerprint, nb_error *err);

#endif
