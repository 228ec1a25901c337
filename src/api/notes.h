/* SPDX-License-Identifier: MIT */
/** Notices are kept for the report as they pass to the caller. */
#ifndef NB_API_NOTES_H
#define NB_API_NOTES_H

#include "sim.h"

/** Take the caller's hooks (may be NULL); with a report file, keep a copy of each notice. */
void nb_sim_hear(nb_sim *sim, const nb_hooks *hooks);
/** Free the copies. */
void nb_sim_forget(nb_sim *sim);

#endif
