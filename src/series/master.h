/* SPDX-License-Identifier: MIT */
/** The master file over the data files of a series. */
#ifndef NB_SERIES_MASTER_H
#define NB_SERIES_MASTER_H

#include "run.h"

/** Write the master of the frames of run->truths.pieces. Errors: NB_ERR_NOMEM, NB_ERR_IO. */
nb_status nb_master_write(nb_run *run, nb_error *err);

/** The crystals of the first frames, where a frame may have another number than one; zeroed before, freed by the caller, after
 * an error too.  Errors: NB_ERR_NOMEM, those of nb_frames_crystal. */
nb_status nb_master_crystals(const nb_run *run, int frames, nb_hdf5_crystals *all,
                             nb_error *err);
void nb_master_crystals_free(nb_hdf5_crystals *all);

#endif
