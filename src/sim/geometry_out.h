/* SPDX-License-Identifier: MIT */
/** -geomout and -exptout. */
#ifndef NB_API_GEOMETRY_OUT_H
#define NB_API_GEOMETRY_OUT_H

#include "detector_file.h"

/** Write the files that sim->cfg names.  hdf5: the master of the series, or NULL. */
nb_status nb_sim_write_detector(const nb_sim *sim, const char *hdf5, nb_error *err);

/** Experiments of DIALS: detector, beam, goniometer, scan, crystal. */
nb_status nb_expt_write(const nb_sim *sim, const nb_detector_spec *detector,
                        nb_error *err);

#endif
