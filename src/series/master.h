/* SPDX-License-Identifier: MIT */
/** The master file over the data files of a series. */
#ifndef NB_SERIES_MASTER_H
#define NB_SERIES_MASTER_H

#include "run.h"

/** Write the master of the first `frames` frames, whose data files are there. Errors: NB_ERR_NOMEM,
 * NB_ERR_IO. */
nb_status nb_master_write(nb_run *run, int frames, nb_error *err);

#endif
