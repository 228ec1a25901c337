/* SPDX-License-Identifier: MIT */
/** How parameters move the scene (docs/derivatives.md): the tangents of a job. */
#ifndef NB_DERIVE_TANGENTS_H
#define NB_DERIVE_TANGENTS_H

#include "../render/sums.h"
#include "variables.h"

/** The job of these parameters; of->model must outlive it.  Free it with nb_slope_job_free, after an
 * error too.  Errors: NB_ERR_INPUT (nb_variable_check), NB_ERR_NOMEM. */
nb_status nb_slope_job_build(const nb_subject *of, const nb_variable_name *names,
                             int count, nb_slope_job *job, nb_error *err);
void nb_slope_job_free(nb_slope_job *job); /* zeroed is fine */

/** Can the parameter move a pixel?  0: why[160] says why not. */
int nb_variable_moves(const nb_subject *of, const nb_variable_name *v, char why[160]);

/** The crystal's part of a tangent. */
void nb_crystal_tangent(const nb_subject *of, const nb_variable_name *v, nb_tangent *t);

/** The part of a tangent that moves panel k. */
nb_panel_slope nb_panel_tangent(const nb_subject *of, const nb_variable_name *v, int k);
/** Does it move a panel or its sensor? */
int nb_moves_panels(nb_variable_kind kind);

#endif
