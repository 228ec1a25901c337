/* SPDX-License-Identifier: MIT */
/** The files that a run will write. */
#ifndef NB_CLI_OUTPUTS_H
#define NB_CLI_OUTPUTS_H

#include "../nanobragg.h"

#define NB_OUTPUTS_MAX NB_FILES_MOST

/** Is this name of an output standard output ("-")? */
int nb_is_stdout(const char *path);

/** The same for a simulation, whose detector is known. */
int nb_outputs_of(const nb_sim *sim, const char **names);
/** Does one of them go to standard output? */
int nb_outputs_to_stdout(const nb_config *cfg);

/** Can this file be made?  NB_ERR_IO if not. */
nb_status nb_check_output(const char *path, nb_error *err);

/** Can each file be made? Checked before the rendering, so that a wrong folder is found at
 * once. NB_ERR_IO if not. */
nb_status nb_check_outputs(const nb_config *cfg, nb_error *err);
/** The same of a series, but for its frames. */
nb_status nb_check_series_outputs(const nb_config *cfg, nb_error *err);

#endif
