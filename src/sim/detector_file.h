/* SPDX-License-Identifier: MIT */
/** A detector from a file, in a simulation. */
#ifndef NB_API_DETECTOR_FILE_H
#define NB_API_DETECTOR_FILE_H

#include "sim.h"

/** Read the file that cfg names, or copy the detector that it holds; complete cfg from it, and refuse or
 * switch off files of one panel where there are several. */
nb_status nb_load_detector(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                           nb_error *err);

/** The mask of the stack: of the file, of -panel and of -mask. */
nb_status nb_load_panel_mask(const nb_config *cfg, nb_files *files, nb_error *err);

/** The crystal of the detector's file, where no other is typed. */
void nb_load_file_crystal(const nb_config *cfg, nb_matrix *matrix);

/** Places of the panels in the canvas of this run; place[n_panels] may be NULL. */
nb_panel_canvas nb_sim_canvas(const nb_sim *sim, int (*place)[2]);

/** The detector of any simulation as a file describes one.  Free *out.  Errors: NB_ERR_INPUT for a
 * curved detector or a mirrored frame, NB_ERR_NOMEM. */
nb_status nb_sim_detector_spec(const nb_sim *sim, nb_detector_spec *out, nb_error *err);

#endif
