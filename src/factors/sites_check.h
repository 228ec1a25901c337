/* SPDX-License-Identifier: MIT */
/** Which atoms count, and whether their numbers can be used. */
#ifndef NB_FACTORS_SITES_CHECK_H
#define NB_FACTORS_SITES_CHECK_H

#include "model.h"

/** The atom is of the chosen model, is no dropped hydrogen and has an occupancy. */
int nb_atom_counts(const nb_atom *atom, const nb_model_options *options);

/** Refuse what no sum can be made of, and say what was assumed.  Errors: NB_ERR_INPUT. */
nb_status nb_atoms_check(const nb_structure *structure, const nb_model_options *options,
                         const char *name, const nb_hooks *hooks, nb_error *err);

#endif
