/* SPDX-License-Identifier: MIT */
/** The files that a simulation writes. */
#ifndef NB_SIM_WRITE_H
#define NB_SIM_WRITE_H

#include "../nanobragg.h"
#include "load.h"

/* --- -geomout and -exptout --- */

/** Write the files that sim->cfg names.  hdf5: the master of the series, or NULL. */
nb_status nb_sim_write_detector(const nb_sim *sim, const char *hdf5, nb_error *err);

/** Experiments of DIALS: detector, beam, goniometer, scan, crystal. */
nb_status nb_expt_write(const nb_sim *sim, const nb_detector_spec *detector,
                        nb_error *err);

/* --- files that input files name in their turn --- */

typedef struct nb_named_files {
    nb_file_use *uses; /* owned: those that were given, then the named ones, all read */
    int n;
    char **paths; /* owned, of the named ones */
    int named;
} nb_named_files;

/** The uses and the existing files that their inputs name: texts of -jobs, mask files of a .geom,
 * the data files of HDF5 (by their names in its bytes: no library trusts them). nb_named_files_free
 * ends it, after an error too. Errors: NB_ERR_NOMEM. */
nb_status nb_named_files_find(nb_named_files *f, const nb_file_use *uses, int n,
                              nb_error *err);
void nb_named_files_free(nb_named_files *f);

#endif
