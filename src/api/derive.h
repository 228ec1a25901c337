/* SPDX-License-Identifier: MIT */
/** What the calls of nanobragg/derivatives.h share. */
#ifndef NB_API_DERIVE_H
#define NB_API_DERIVE_H

#include "../derive/variables.h"
#include "sim.h"

/** The simulation as the engine sees it; valid until sim changes. */
nb_subject nb_sim_subject(const nb_sim *sim);

/** The central wavelength, A; of a list of sources their weighted mean. */
double nb_sim_mean_wavelength(const nb_sim *sim);

/** Names taken apart: each known, none twice.  *out: nb_free. */
nb_status nb_sim_names(const nb_sim *sim, const char *const *names, int count,
                       nb_variable_name **out, nb_error *err);

/** Before anything is rendered: are -derivatives and -pullback right?  Errors: NB_ERR_INPUT, _IO. */
nb_status nb_sim_check_derivatives(const nb_sim *sim, nb_error *err);

/** Write what the configuration of a single image asks for. */
nb_status nb_sim_write_derivatives(nb_sim *sim, nb_error *err);

/** Write the planes of -derivatives, under any name. */
nb_status nb_sim_write_slopes(nb_sim *sim, const char *path, nb_error *err);

#endif
