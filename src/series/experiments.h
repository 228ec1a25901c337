/* SPDX-License-Identifier: MIT */
/** -exptout of a series of stills: its file is opened before the first frame, and written after the last. */
#ifndef NB_SERIES_EXPERIMENTS_H
#define NB_SERIES_EXPERIMENTS_H

#include "../base/outfile.h"
#include "../nanobragg.h"

struct nb_run;

typedef struct nb_experiments {
    int wanted; /* by this process */
    nb_outfile file;
    nb_detector_spec detector; /* owned; of the base */
} nb_experiments;

/** Rank 0: open the file.  Errors: NB_ERR_IO, those of nb_sim_detector_spec. */
nb_status nb_experiments_open(struct nb_run *run, nb_error *err);
/** Write it, whole, if it is open.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_experiments_write(struct nb_run *run, nb_error *err);
/** Zeroed, open or written; an older file of this name stays if it was not written. */
void nb_experiments_close(nb_experiments *e);

#endif
