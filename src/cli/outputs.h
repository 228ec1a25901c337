/* SPDX-License-Identifier: MIT */
/** The files that a run will write. */
#ifndef NB_CLI_OUTPUTS_H
#define NB_CLI_OUTPUTS_H

#include "../nanobragg.h"

#define NB_OUTPUTS_MAX 8

/** Names of the files that cfg asks for, into names[NB_OUTPUTS_MAX] (most point into cfg);
 * returns how many. */
int nb_outputs(const nb_config *cfg, const char **names);

/** Can each be made?  Asked before the rendering, so that a wrong folder costs no hours and
 * leaves no half of the files.  NB_ERR_IO if not. */
nb_status nb_check_outputs(const nb_config *cfg, nb_error *err);

#endif
